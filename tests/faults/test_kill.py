"""The process is killed in the middle of a turn; another on the same database goes on (FAILURES B, C; promise 6)."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults.watching import LEASE_SECONDS, SCRIPT, Json, is_event, measured, since, watching
from tests.support.server import serving
from tests.support.visitor import visiting


def _acknowledged(frame: Json) -> bool:
    return frame["type"] == "result"


def _after_its_edit(frame: Json) -> bool:
    return is_event(frame, "document_changed")


def _while_its_last_words_stream(frame: Json) -> bool:
    return frame["type"] == "live" and "950" in frame["text"]


@pytest.fixture
def environment(server_environment: dict[str, str]) -> dict[str, str]:
    return {**server_environment, "ACCORD_MODEL": f"scripted:{SCRIPT}", "ACCORD_LEASE_SECONDS": LEASE_SECONDS}


@pytest.mark.parametrize("moment", [_acknowledged, _after_its_edit, _while_its_last_words_stream])
async def test_a_turn_whose_process_is_killed_is_carried_on_and_done_once(
    environment: dict[str, str], moment: Callable[[Json], bool], capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(environment) as server, visiting(server, "ana") as ana:
        thread = ana.thread()
        async with watching(ana, thread) as watch:
            await watch.send(type="command", id="m1", name="message_post", args={"text": "raise the budget"})
            await watch.until(moment)
            server.process.kill()
            server.process.wait()
    died = time.monotonic()
    with serving(environment) as server, visiting(server, "ana") as ana:
        listens = time.monotonic()
        async with watching(ana, thread) as watch:
            again = await watch.posts("m1", "raise the budget")
            await watch.ends()
        when = moment.__name__.strip("_").replace("_", " ")
        measured(capsys, f"killed {when}: answered {since(died)} later, {since(listens)} after the next one listens")
        assert again["type"] == "result"
        assert "no violation" in server.manage("audit")
    _assert_done_once(environment)


def _assert_done_once(environment: dict[str, str]) -> None:
    asked = _ask(environment, "SELECT content FROM collab_message WHERE turn_id IS NULL")
    assert asked == [("raise the budget",)]
    assert _ask(environment, "SELECT version FROM collab_document WHERE title = 'Launch plan'") == [(2,)]
    replies = _ask(environment, "SELECT content, interrupted FROM collab_message WHERE turn_id IS NOT NULL")
    assert [(interrupted, "950" in content) for content, interrupted in replies] == [(0, True)]
    turns = _ask(environment, "SELECT status, reason FROM agents_turn ORDER BY number")
    assert turns[-1] == ("completed", "")
    assert set(turns[:-1]) <= {("failed", "abandoned")}
    started = _ask(environment, "SELECT data FROM collab_event WHERE type = 'turn_started' ORDER BY seq")
    assert [len(json.loads(data)["took"]) for (data,) in started] == [1, *[0] * (len(started) - 1)]


def _ask(environment: dict[str, str], sql: str) -> list[Any]:
    with sqlite3.connect(Path(environment["ACCORD_DATA"]) / "accord.sqlite3") as database:
        return database.execute(sql).fetchall()
