"""``manage.py post``, ``tail``, ``propose`` and ``accept`` in processes of their own, which know the address of a
served API and a token, and no database (DESIGN 11)."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.issuing import issued
from tests.support.server import ROOT, Server, environment_for

THREAD, PLAN = "Launch dinner", "Launch plan"
NO_DATABASE = "postgres://nobody@127.0.0.1:1/none"


@dataclass(frozen=True, slots=True)
class Terminal:
    """Someone's terminal: what is set in it."""

    environment: Mapping[str, str]

    def run(self, *arguments: str, entered: str = "") -> tuple[int, str]:
        """Run a command; return how it exited and what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=ROOT, env=dict(self.environment), input=entered,
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout + done.stderr

    def objects(self, *arguments: str) -> list[Any]:
        """Run a command for a program; return what it printed."""
        code, printed = self.run(*arguments, "--json")
        assert code == 0, printed
        return [json.loads(line) for line in printed.splitlines()]


@pytest.fixture
def terminals(server: Server, tmp_path: Path) -> dict[str, Terminal]:
    """The terminals of Ana and Ben, each with the token of a client of theirs."""
    return {
        name: Terminal(
            environment_for(
                tmp_path / "none", DATABASE_URL=NO_DATABASE, ACCORD_URL=server.url, ACCORD_TOKEN=secret, COLUMNS="200"
            )
        )
        for name, secret in issued(server).items()
    }


def test_a_message_is_posted_and_its_turn_is_shown_until_it_ends(terminals):
    code, printed = terminals["ana"].run("post", THREAD, "add book the venue to the plan")
    assert code == 0, printed
    shown = [line for line in printed.splitlines() if line.strip()]
    assert shown[0].startswith("Desk of ana for Ana")
    assert "  add book the venue to the plan" in shown
    assert any(re.match(r"T\d+ Robin for Desk of ana for Ana works", line) for line in shown)
    assert "Robin for Desk of ana for Ana proposes to edit Launch plan: adds “book the venue”" in shown
    assert "    + - book the venue" in shown
    assert re.fullmatch(r"T\d+ completed", shown[-1])


def test_a_program_is_given_json_and_a_key_posts_once(terminals):
    ana = terminals["ana"]
    posted, *entries = ana.objects("post", THREAD, "help", "--key", "once")
    assert [entry["event"] for entry in entries][0 :: len(entries) - 1] == ["message_posted", "turn_ended"]
    (again,) = ana.objects("post", THREAD, "help", "--key", "once", "--no-wait")
    assert again == posted
    code, printed = ana.run("post", THREAD, "something else", "--key", "once", "--no-wait")
    assert code == 4, printed


def test_a_comment_waits_for_nobody_and_standard_input_is_read(terminals):
    code, printed = terminals["ana"].run("post", THREAD, "-", "--comment", entered="For the people: “yes”.\n")
    assert (code, printed.startswith("Posted a comment")) == (0, True), printed
    assert "  For the people: “yes”." in terminals["ben"].run("tail", THREAD, "--no-follow")[1]


def test_a_proposal_is_accepted_by_someone_else_alone(terminals, tmp_path):
    ana, ben = terminals["ana"], terminals["ben"]
    plan = tmp_path / "plan.md"
    plan.write_text("# Launch plan\n\nA dinner for twelve, on a boat.\n")
    (made,) = ana.objects("propose", PLAN, str(plan), "--thread", THREAD, "--because", "It is summer.")
    code, printed = ana.run("accept", made["id"])
    assert code == 4
    assert "refused (own_proposal)" in printed
    assert ana.run("accept", made["id"], "--look")[0] == 4
    code, printed = ben.run("accept", PLAN, "--thread", THREAD, "--look")
    assert code == 0, printed
    assert "    + A dinner for twelve, on a boat." in printed
    assert "It is summer." in printed
    assert ben.objects("accept", PLAN, "--thread", THREAD)[0]["version"] == 2
    code, printed = ben.run("accept", made["id"])
    assert code == 0, printed
    assert "There is no open proposal “Launch plan”; there are: none" in ben.run("accept", PLAN, "--thread", THREAD)[1]


def test_a_proposal_made_from_an_older_version_says_what_is_in_its_way(terminals):
    ana, ben = terminals["ana"], terminals["ben"]
    args = ("propose", PLAN, "-", "--thread", THREAD)
    assert ana.run(*args, entered="# One\n")[0] == 0
    assert ben.run("accept", PLAN, "--thread", THREAD)[0] == 0
    code, printed = ana.run(*args, "--base", "1", entered="# Two\n")
    assert code == 4
    assert "refused (" in printed


@pytest.fixture
def hears_interrupts():
    """Let programs begin as at a terminal, which hear interrupts; those of a shell's background do not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("hears_interrupts")
def test_a_thread_is_followed_until_it_is_interrupted(terminals):
    ana, ben = terminals["ana"], terminals["ben"]
    ben.run("post", THREAD, "Before", "--comment")
    with subprocess.Popen(
        [sys.executable, "-u", "manage.py", "tail", THREAD, "-n", "1", "--json"], cwd=ROOT, env=dict(ana.environment),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as following:  # fmt: skip
        try:
            # Where it goes on was read before the messages that it shows first, so nothing is missed after these.
            assert json.loads(following.stdout.readline())["text"] == "Before"
            ben.run("post", THREAD, "After", "--comment")
            assert json.loads(following.stdout.readline())["items"][0]["text"] == "After"
        finally:
            following.send_signal(signal.SIGINT)
            try:
                ended = following.wait(30)
            finally:
                following.kill()
        assert ended == 130
        assert "Traceback" not in following.stderr.read()


@pytest.mark.parametrize(
    ("variables", "code", "says"),
    [
        ({"ACCORD_TOKEN": ""}, 1, "Set ACCORD_TOKEN"),
        ({"ACCORD_TOKEN": "accord_nonsense"}, 4, "refused (unauthenticated): This token is not known."),
        ({"ACCORD_URL": "nowhere"}, 1, "nowhere is no address"),
    ],
    ids=["no token", "a bad token", "no address"],
)
def test_what_is_not_set_right_is_said(terminals, variables, code, says):
    found = Terminal({**terminals["ana"].environment, **variables}).run("tail", THREAD, "--no-follow")
    assert found[0] == code
    assert says in found[1]


def test_what_the_client_may_not_see_is_not_there(terminals):
    code, printed = terminals["ana"].run("tail", "01a22be9-749e-746e-b5e6-8872b871e662", "--no-follow")
    assert code == 4
    assert "refused (not_found)" in printed
