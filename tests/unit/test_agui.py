"""What an AG-UI front end is told of a turn: from entries of the log and live text alone."""

from __future__ import annotations

from typing import Any

import pytest
from ag_ui.core import BaseEvent

from agents.clients.agui.mapping import Run

ROBIN = {"kind": "agent", "name": "Robin"}
STARTED = "turn_started"


def entry(event: str, *items: dict[str, Any], of: str | None = "T", **data: Any) -> dict[str, Any]:
    return {"event": event, "turn": of, "actor": ROBIN, "data": data, "items": list(items)}


def live(offset: int, text: str, of: str = "T") -> dict[str, Any]:
    return {"turn": of, "offset": offset, "text": text}


def started(of: str = "T", *, took: tuple[str, ...] = ("M",), **more: str) -> dict[str, Any]:
    return entry(STARTED, of=of, took=list(took), **{"resumes": None, "continues": None, "restarts": None, **more})


def ended(status: str = "completed", because: str = "", reason: str = "", of: str = "T") -> dict[str, Any]:
    turn = {"item": "turn", "id": of, "because": because}
    return entry("turn_ended", turn, of=of, turn=of, status=status, reason=reason, message=None)


def posted(text: str) -> dict[str, Any]:
    return entry("message_posted", {"item": "message", "id": "R", "text": text}, message="R", kind="message")


def action() -> dict[str, Any]:
    item = {
        "item": "action", "id": "A", "number": 1, "text": "A1: Book a table?", "for": {"name": "Ana"},
        "expires_at": "2026-06-04T10:53:12+00:00", "state": "open",
    }  # fmt: skip
    return entry("action_asked", item, action="A")


def call(event: str, id: str = "C", **more: Any) -> dict[str, Any]:
    item = {"item": "call", "id": id, "args": '{"day":"Friday"}', "because": "", "result": "R1", **more}
    return entry(event, item, call=id, tool="reserve_table", outcome="done")


def told(run: Run, *frames: dict[str, Any]) -> list[dict[str, Any]]:
    """Tell a run of log entries and live text; return what it says, each as it is sent."""
    events: list[BaseEvent] = []
    for frame in frames:
        events += run.live(frame) if "offset" in frame else run.read(frame)
    return [event.model_dump(mode="json", by_alias=True) for event in events]


def names(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


@pytest.fixture
def run() -> Run:
    return Run("thread", "run", message="M")


def text_of(events: list[dict[str, Any]]) -> list[str]:
    """Return the text of each message, in the order in which they began."""
    texts: dict[str, str] = {}
    for event in events:
        if event["type"] == "TEXT_MESSAGE_CONTENT":
            texts[event["messageId"]] = texts.get(event["messageId"], "") + event["delta"]
    return list(texts.values())


def test_a_run_begins_with_the_protocol_that_it_speaks(run):
    (begun,) = [event.model_dump(mode="json", by_alias=True) for event in run.begun()]
    assert (begun["type"], begun["protocolVersion"]) == ("RUN_STARTED", "1.0")


def test_a_turn_is_told_as_it_streams_and_ends(run):
    events = told(run, started(), live(0, "The hall "), live(9, "is free."), posted("The hall is free."), ended())
    assert names(events) == [
        "CUSTOM", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ]  # fmt: skip
    assert text_of(events) == ["The hall is free."]
    assert events[-1]["outcome"] == {"type": "success"}
    assert run.over


def test_what_was_not_streamed_is_told_when_it_is_posted(run):
    assert text_of(told(run, started(), live(0, "The "), posted("The hall is free."))) == ["The hall is free."]


def test_text_that_was_streamed_twice_is_told_once(run):
    assert text_of(told(run, started(), live(0, "One. "), live(0, "One. Two."), posted("One. Two."))) == ["One. Two."]


def test_what_is_posted_stands_where_it_differs_from_what_was_streamed(run):
    assert text_of(told(run, started(), live(0, "It is done."), posted("It was refused."))) == [
        "It is done.", "It was refused.",
    ]  # fmt: skip


def test_nothing_of_another_turn_is_told(run):
    others = [
        started("O", took=("N",)), live(0, "Theirs", "O"), entry("message_passed_over", of=None, message="N"),
        entry("turn_ended", of="O", turn="O", status="completed", reason=""),
    ]  # fmt: skip
    assert told(run, *others) == []
    assert told(run, started(), *others)[1:] == []
    assert not run.over


def test_a_call_is_told_with_its_arguments_and_what_came_of_it(run):
    events = told(run, started(), live(0, "First."), call("call_started"), call("call_ended"))
    assert names(events)[3:] == [
        "TEXT_MESSAGE_END", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT",
    ]  # fmt: skip
    assert '"outcome": "done"' in events[-1]["content"]


def test_of_a_call_that_its_reader_may_not_read_the_arguments_are_not_told(run):
    events = told(run, started(), call("call_started"), call("call_ended", args=None, result=None))
    assert "TOOL_CALL_ARGS" not in names(events)


def test_a_question_interrupts_the_run_and_leaves_no_call_open(run):
    question = {"item": "question", "id": "Q", "text": "When?", "choices": ["Now", "Later"], "state": "open"}
    events = told(run, started(), call("call_started"), entry("turn_paused", question, questions=["Q"]))
    assert names(events)[-2:] == ["TOOL_CALL_END", "RUN_FINISHED"]
    (interrupt,) = events[-1]["outcome"]["interrupts"]
    assert (interrupt["id"], interrupt["message"]) == ("question:Q", "When?")
    assert (interrupt["reason"], interrupt["responseSchema"]["enum"]) == ("input_required", ["Now", "Later"])


def test_the_run_that_answers_is_shown_the_turn_that_goes_on():
    run = Run("thread", "run", resumes="T0")
    events = told(run, started(took=(), resumes="T0"), call("call_ended", "asked before"), ended())
    assert names(events) == ["CUSTOM", "TOOL_CALL_RESULT", "RUN_FINISHED"]


@pytest.mark.parametrize(
    ("status", "reason", "end"),
    [("failed", "forbidden", "RUN_ERROR"), ("stopped", "stopped", "RUN_FINISHED")],
)
def test_a_turn_that_ends_in_the_place_of_going_on_ends_the_run_that_answered(status, reason, end):
    run = Run("thread", "run", resumes="T0")
    assert names(told(run, ended(status, "Ana may not.", reason, of="T0"))) == [end]
    assert run.over


@pytest.mark.parametrize("reason", ["abandoned", "parked"])
def test_a_turn_that_its_process_left_goes_on_in_the_next_and_so_does_its_text(run, reason):
    left = [
        started(),
        live(0, "The hall "),
        ended("failed", "It went away.", reason),
        started("U", took=(), continues="T"),
    ]
    events = told(run, *left, live(0, "The hall is free.", "U"))
    events += told(run, entry("message_posted", {"item": "message", "text": "The hall is free."}, of="U"))
    events += told(run, ended(of="U"))
    assert text_of(events) == ["The hall is free."]
    assert [event["value"]["id"] for event in events if event["type"] == "CUSTOM"] == ["T", "U"]
    assert events[-1]["outcome"] == {"type": "success"}


def test_a_turn_that_starts_over_begins_its_text_anew(run):
    anew = [started(), live(0, "One."), ended("stopped", "", "restarted"), started("U", took=(), restarts="T")]
    events = told(run, *anew, live(0, "Two.", "U"), ended(of="U"))
    assert text_of(events) == ["One.", "Two."]
    assert events[-1]["outcome"] == {"type": "success"}


def test_a_turn_that_nothing_goes_on_with_ends_its_run(run):
    assert told(run, started(), ended("failed", "It went away.", "abandoned"))[1:] == []
    (end,) = (event.model_dump(mode="json") for event in run.nothing_follows())
    assert (end["type"], end["message"]) == ("RUN_ERROR", "It went away.")
    other = Run("thread", "run", message="M")
    last = told(other, started(), ended("failed", "It went away.", "abandoned"), started("O", took=("N",)))
    assert (last[-1]["type"], other.over) == ("RUN_ERROR", True)


def test_a_pending_action_interrupts_the_run_and_says_who_decides(run):
    (interrupt,) = told(run, started(), action(), ended())[-1]["outcome"]["interrupts"]
    assert (interrupt["id"], interrupt["reason"]) == ("action:A", "accord:approval")
    assert interrupt["expiresAt"] == "2026-06-04T10:53:12+00:00"
    assert "signed in" in interrupt["metadata"]["because"]


@pytest.mark.parametrize(
    ("frame", "end"),
    [
        (entry("message_passed_over", {"item": "message", "because": "Vera may not."}, of=None, message="M"),
         ("RUN_ERROR", "Vera may not.")),
        (entry("message_cancelled", of=None, message="M"), ("RUN_FINISHED", "cancelled")),
    ],
    ids=["passed over", "cancelled"],
)  # fmt: skip
def test_a_message_that_no_turn_takes_ends_its_run(run, frame, end):
    (event,) = told(run, frame)
    assert (event["type"], event.get("message") or event["outcome"]["type"]) == end
    assert run.over


@pytest.mark.parametrize(("status", "kind"), [("failed", "RUN_ERROR"), ("stopped", "RUN_FINISHED")])
def test_a_turn_that_did_not_complete_says_so(run, status, kind):
    last = told(run, started(), live(0, "Half"), ended(status, "It was stopped.", "limit"))[-2:]
    assert names(last) == ["TEXT_MESSAGE_END", kind]
    assert last[1].get("message") or last[1]["outcome"] == {"type": "cancelled"}
