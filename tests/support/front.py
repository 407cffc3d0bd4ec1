"""An AG-UI front end of a thread: it sends the protocol's types over a real socket, and reads what it is answered as
the protocol's types, in the order that the protocol allows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
from ag_ui.core import (
    PROTOCOL_VERSION,
    AssistantMessage,
    Event,
    Interrupt,
    ResumeEntry,
    RunAgentInput,
    TextPart,
    UserMessage,
)
from pydantic import TypeAdapter

from tests.support.visitor import Visitor

SCRIPT = Path(__file__).with_name("front.yaml")
EVENT: TypeAdapter[Any] = TypeAdapter(Event)
OPENS = {"TEXT_MESSAGE_START": "message_id", "TOOL_CALL_START": "tool_call_id"}
CLOSES = {"TEXT_MESSAGE_END": "message_id", "TOOL_CALL_END": "tool_call_id"}
ENDS = ("RUN_FINISHED", "RUN_ERROR")

IN_PERSON = "Only people approve or decline, and only themselves: nobody and nothing does it for them."


class Front:
    """A front end with a client's token, and a thread of its own."""

    def __init__(self, http: httpx.Client, secret: str) -> None:
        self.http = http
        self.header = {"Authorization": f"Bearer {secret}"}
        (place,) = self.read("/workspaces")["workspaces"]
        args = {"workspace": place["id"], "title": "Launch"}
        opened = http.post("/api/v1/commands/thread_create", json=args, headers=self.header)
        self.thread = opened.json()["thread"]

    def read(self, path: str) -> Any:
        """Read an address of the API."""
        return self.http.get(f"/api/v1{path}", headers=self.header).raise_for_status().json()

    def messages(self, *kinds: str) -> list[str]:
        """Return what was posted in the thread, by actors of some kinds or by all."""
        posted = self.read(f"/threads/{self.thread}/messages")["items"]
        return [item["text"] for item in posted if not kinds or item["author"]["kind"] in kinds]

    def sends(self, id: str, said: str | Sequence[Any], resume: Sequence[ResumeEntry] = ()) -> httpx.Response:
        """Send a run; where nothing is said, the last message is what the agent said before."""
        message = UserMessage(id=f"{id}-1", content=said) if said else AssistantMessage(id=f"{id}-1", content="So?")
        wanted = RunAgentInput(
            thread_id=self.thread, run_id=id, protocol_version=PROTOCOL_VERSION, messages=[message], tools=[],
            context=[], state={}, forwarded_props={}, resume=list(resume) or None,
        )  # fmt: skip
        body = wanted.model_dump_json(by_alias=True)
        headers = {**self.header, "Content-Type": "application/json", "Accept": "text/event-stream"}
        return self.http.post(f"/agui/{self.thread}/", content=body, headers=headers, timeout=90)

    def run(self, id: str, said: str | Sequence[Any] = "", resume: Sequence[ResumeEntry] = ()) -> list[Any]:
        """Send a run; return the events that it is answered."""
        answer = self.sends(id, said, resume)
        assert answer.status_code == 200, answer.text
        events = [EVENT.validate_json(block.removeprefix("data: ")) for block in answer.text.split("\n\n") if block]
        _require_order(id, events)
        return events

    def waits(self, id: str, said: str = "", resume: Sequence[ResumeEntry] = ()) -> list[Interrupt]:
        """Send a run that ends in interrupts, and return them."""
        outcome = self.run(id, said, resume)[-1].outcome
        assert outcome.type == "interrupt", outcome
        found: list[Interrupt] = outcome.interrupts
        return found

    def ends(self, id: str, said: str | Sequence[Any] = "", resume: Sequence[ResumeEntry] = ()) -> str:
        """Send a run that is not interrupted, and return how it ends."""
        return str(self.run(id, said, resume)[-1].outcome.type)

    def refused(self, id: str, said: str = "", resume: Sequence[ResumeEntry] = ()) -> tuple[int, str, str]:
        """Send a run that is refused; return the status, the code and the sentence."""
        answer = self.sends(id, said, resume)
        return answer.status_code, answer.json()["code"], answer.json()["detail"]


def resolved(interrupt: Interrupt, payload: Any) -> ResumeEntry:
    """Answer an interrupt."""
    return ResumeEntry(interrupt_id=interrupt.id, status="resolved", payload=payload)


def cancelled(interrupt: Interrupt) -> ResumeEntry:
    """Leave an interrupt unanswered."""
    return ResumeEntry(interrupt_id=interrupt.id, status="cancelled")


def text_of(events: Sequence[Any]) -> str:
    return "".join(event.delta for event in events if event.type == "TEXT_MESSAGE_CONTENT")


def _require_order(run: str, events: Sequence[Any]) -> None:
    """Fail where a front end would: a run begins, closes what it opened, and ends, once each."""
    first, *between, last = events
    assert (first.type, first.run_id, first.protocol_version) == ("RUN_STARTED", run, PROTOCOL_VERSION)
    assert last.type in ENDS
    opened: set[tuple[str, str]] = set()
    for event in between:
        assert event.type not in {"RUN_STARTED", *ENDS}
        if name := OPENS.get(event.type):
            assert (name, getattr(event, name)) not in opened
            opened.add((name, getattr(event, name)))
        if name := CLOSES.get(event.type):
            opened.remove((name, getattr(event, name)))
    assert not opened


def a_question_is_answered_by_the_next_run(front: Front) -> None:
    when, where = front.waits("one", "ask me")
    assert (when.reason, when.message) == ("input_required", "When should the launch be?")
    assert when.response_schema == {"type": "string", "enum": ["In spring", "In autumn"]}
    (left,) = front.waits("two", resume=[resolved(when, "In spring")])
    assert left.id == where.id
    answers = [resolved(where, {"answer": "By the sea"})]
    events = front.run("three", resume=answers)
    assert (events[-1].outcome.type, text_of(events)) == ("success", "That is all there is to say.")
    again = front.run("three", resume=answers)
    assert (again[-1].outcome.type, text_of(again)) == ("success", text_of(events))
    answered = front.read(f"/threads/{front.thread}/questions")["items"]
    assert [(item["answer"], item["answered_by"]["name"]) for item in answered] == [
        ("In spring", "Desk of ana"), ("By the sea", "Desk of ana"),
    ]  # fmt: skip
    assert front.messages() == ["ask me", "Two questions before I go on.", "That is all there is to say."]


async def an_action_is_seen_and_stays_with_its_person(front: Front, ana: Visitor) -> None:
    (asks,) = front.waits("one", "book a table")
    action = asks.id.removeprefix("action:")
    assert (asks.reason, asks.expires_at) == ("accord:approval", front.read(f"/actions/{action}")["expires_at"])
    assert asks.message is not None
    assert asks.message.startswith("A1 (from Desk of ana")
    for number, payload in enumerate(({"approved": True}, {"approved": False}, "yes", None)):
        refused = front.refused(f"try-{number}", "yes", [resolved(asks, payload)])
        assert refused == (403, "forbidden", IN_PERSON)
    assert front.ends("leave", resume=[cancelled(asks)]) == "cancelled"
    assert front.ends("on", "We shall see.", [cancelled(asks)]) == "success"
    assert front.messages("client") == ["book a table", "We shall see."]
    assert front.read(f"/actions/{action}")["state"] == "open"
    await _declines(ana, UUID(front.thread), action)
    assert front.read(f"/actions/{action}")["state"] == "declined"


async def _declines(person: Visitor, thread: UUID, action: str) -> None:
    """Decline an action as someone who is signed in does, on their socket."""
    async with person.socket(thread) as socket:
        await socket.send(json.dumps({"type": "hello", "after_seq": 0}))
        command = {"type": "command", "id": "no", "name": "action_decline", "args": {"action": action}}
        await socket.send(json.dumps(command))
        while (frame := json.loads(await socket.recv()))["type"] not in {"result", "refused"}:
            pass
        assert frame["type"] == "result", frame


PICTURE = {"type": "image", "source": {"type": "url", "value": "https://example.com/boat.png"}}
WITH_A_PICTURE = [TextPart(text="What do you think of it?"), PICTURE]
"""A message of which only the text is read."""
