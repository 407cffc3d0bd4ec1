"""The terminal's client of the API against answers written by hand, and what it shows of what others wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from agents.clients.terminal.api import ATTEMPTS, Api, Denied, Unanswered
from agents.clients.terminal.finding import open_proposal, thread_named
from agents.clients.terminal.show import lines_of, message, plain, proposal
from agents.clients.terminal.waiting import COMPLETED, ENDED, HELD, PASSED_OVER, PAUSED, Waiting

URL = "http://accord.example"
ROBIN = {"kind": "agent", "name": "Robin", "hue": 0, "for": None}
ANA = {"kind": "person", "name": "Ana", "hue": 1, "for": None}


class Answers:
    """A server that answers one request after another as it was told."""

    def __init__(self, *answers: httpx2.Response | Exception) -> None:
        self.answers: Iterator[httpx2.Response | Exception] = iter(answers)
        self.asked: list[httpx2.Request] = []
        self.told: list[str] = []
        self.pauses: list[float] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def api(self) -> Api:
        transport = httpx2.MockTransport(self)
        return Api(URL, "accord_x", notice=self.told.append, pause=self.pauses.append, transport=transport)


def says(status: int = 200, headers: dict[str, str] | None = None, **body: Any) -> httpx2.Response:
    return httpx2.Response(status, json=body, headers=headers)


def streams(*events: tuple[str, str, Any]) -> httpx2.Response:
    text = "".join(f"event: {name}\nid: {id}\ndata: {json.dumps(data)}\n\n" for name, id, data in events)
    return httpx2.Response(200, text=f"retry: 1000\n\n{text}", headers={"Content-Type": "text/event-stream"})


LOST = httpx2.ConnectError("refused")


def test_a_command_that_nobody_answered_is_sent_again_as_the_same_command():
    server = Answers(LOST, says(503, {"Retry-After": "5"}, detail="The database is away."), says(message="M"))
    assert server.api.command("message_post", thread="T", text="Hello.") == {"message": "M"}
    keys = {request.headers["Idempotency-Key"] for request in server.asked}
    assert (len(server.asked), len(keys)) == (3, 1)
    assert server.pauses == [1.0, 5.0]
    assert server.told[1] == "The database is away."


def test_two_commands_have_two_keys_and_a_script_may_choose_one():
    server = Answers(says(), says(), says())
    api = server.api
    api.command("message_post")
    api.command("message_post")
    api.command("message_post", "mine")
    first, second, third = (request.headers["Idempotency-Key"] for request in server.asked)
    assert first != second
    assert third == "mine"


def test_a_server_that_stays_away_is_given_up_on():
    server = Answers(*[LOST] * ATTEMPTS)
    with pytest.raises(Unanswered, match="does not answer"):
        server.api.read("/me")
    assert len(server.asked) == ATTEMPTS


def test_what_is_refused_is_refused_at_once_with_the_servers_code_and_sentence():
    server = Answers(says(403, code="refused", detail="Vera may only view Launch dinner."))
    with pytest.raises(Denied, match="Vera may only view") as refused:
        server.api.command("message_post")
    assert (refused.value.code, server.pauses) == ("refused", [])


@pytest.mark.parametrize("answer", [httpx2.Response(200, text="<html>"), httpx2.Response(200, json=[])])
def test_something_else_than_accord_is_said_to_be(answer):
    with pytest.raises(Unanswered, match="did not answer as this API does"):
        Answers(answer).api.read("/me")


@pytest.mark.parametrize(
    "url", ["http://a:b:c", "http://accord.example:99999999", "nowhere", "", "ftp://accord.example"]
)
def test_an_address_that_is_none_is_said_to_be(url):
    with pytest.raises(Unanswered, match="is no address"):
        Api(url, "accord_x", notice=print)


def test_a_stream_that_ends_or_breaks_goes_on_behind_what_was_read():
    server = Answers(
        streams(("ready", "c4", {"seq": 4}), ("event", "c5", {"seq": 5})), LOST, streams(("event", "c6", {"seq": 6}))
    )
    following = server.api.follow("T", "c4")
    assert [next(following).data["seq"] for _ in range(3)] == [4, 5, 6]
    assert [request.headers["Last-Event-ID"] for request in server.asked] == ["c4", "c5", "c5"]


def test_a_stream_that_may_not_be_followed_any_more_says_why():
    gone = {"code": "unauthenticated", "because": "This token is not good any more."}
    with pytest.raises(Denied, match="not good any more"):
        list(Answers(streams(("end", "c4", gone))).api.follow("T", "c4"))


@pytest.mark.parametrize(
    ("titles", "refusal"),
    [(["Dinner"], ""), (["Lunch"], "There is no thread “Dinner”; there are: “Lunch”"), (["Dinner"] * 2, "There are 2")],
    ids=["one", "none", "two"],
)
def test_a_title_names_exactly_one_thread(titles, refusal):
    threads = [{"id": f"T{number}", "title": title} for number, title in enumerate(titles)]
    api = Answers(says(workspaces=[{"id": "W"}]), says(threads=threads, next=None)).api
    if not refusal:
        assert thread_named(api, "Dinner") == "T0"
        return
    with pytest.raises(Denied, match=refusal):
        thread_named(api, "Dinner")


def test_a_proposal_is_named_by_its_id_where_several_have_a_title():
    ids = ["01a22ccf-a649-7196-9887-d46d08450637", "01a22cd5-0620-724d-816e-07def58911a6"]
    server = Answers(says(items=[{"id": id, "title": "Plan"} for id in ids], next=None))
    with pytest.raises(Denied, match=f"name one by its id: {ids[0]}"):
        open_proposal(server.api, "T", "Plan")
    assert open_proposal(server.api, "T", ids[0]) == ids[0]


def test_a_title_is_looked_for_on_every_page_of_a_list():
    first, last = ([{"id": title, "title": title}] for title in ("Lunch", "Dinner"))
    server = Answers(says(workspaces=[{"id": "W"}]), says(threads=first, next="c1"), says(threads=last, next=None))
    assert thread_named(server.api, "Dinner") == "Dinner"
    assert [request.url.params.get("before") for request in server.asked] == [None, None, "c1"]


@pytest.mark.parametrize("hidden", ["\x1b[2J", "\x9b31m", "\r", "\x07", "\u202e", "\u200b"])
def test_nothing_that_others_wrote_moves_the_cursor_or_hides(hidden):
    posted = {
        "item": "message", "id": "M", "seq": 1, "kind": "message", "author": {**ANA, "name": f"Ana{hidden}"},
        "text": f"one{hidden}\ntwo", "at": "2026-06-04T10:43:12+00:00",
    }  # fmt: skip
    shown = "\n".join(line.plain for line in message(posted))
    assert hidden not in shown
    assert "one" in shown
    assert "\n  two" in shown
    assert hidden not in plain(hidden)


def test_an_event_that_is_not_known_is_shown_by_its_name():
    frame = {"event": "moon_rose", "actor": ROBIN, "items": [], "data": {}}
    assert [line.plain for line in lines_of(frame)] == ["Robin moon rose"]


def test_a_changed_line_is_shown_as_it_was_and_as_it_would_be():
    diff = [{"op": "change", "spans": [["same", "food "], ["del", "900"], ["ins", "950"]], "skipped": 0}]
    item = {
        "item": "proposal", "id": "P", "proposer": ROBIN, "gist": "", "change": "edit", "title": "Plan",
        "state": "open", "rationale": "", "diff": diff,
    }  # fmt: skip
    assert [line.plain for line in proposal(item)][-2:] == ["    - food 900", "    + food 950"]


def entry(event: str, of: str | None = None, /, **data: Any) -> dict[str, Any]:
    return {"event": event, "turn": of, "data": data}


STARTED = entry("turn_started", "T", took=["M"])
OTHERS = (
    entry("turn_started", "O", took=["N"]),
    entry("turn_ended", "O", turn="O", status="completed"),
    entry("message_passed_over", message="N"),
    entry("action_asked", "O", action="A"),
)


@pytest.mark.parametrize(
    ("read", "end"),
    [
        ((STARTED, entry("turn_ended", "T", turn="T", status="completed")), COMPLETED),
        ((entry("message_taken", "T", messages=["M"]), entry("turn_paused", "T", questions=[])), PAUSED),
        ((STARTED, entry("turn_ended", "T", turn="T", status="failed")), ENDED),
        ((entry("message_passed_over", message="M"),), PASSED_OVER),
        ((entry("message_cancelled", message="M"),), PASSED_OVER),
        ((entry("message_held", message="M"),), HELD),
        ((STARTED,), ""),
        ((), ""),
    ],
    ids=["completed", "paused", "failed", "passed over", "cancelled", "held", "running", "waiting"],
)
def test_a_message_is_waited_for_until_its_own_turn_ends(read, end):
    waiting = Waiting("M")
    for frame in (*OTHERS, *read):
        waiting.read(frame)
    assert waiting.end == end
    assert waiting.actions == []
