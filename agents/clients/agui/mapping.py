"""A turn as an AG-UI front end is shown it: events of AG-UI from entries of the log and live text (issue: AG-UI). Pure.

Only what belongs to the turn of the run is told. Text is streamed as live text is; where what is posted differs from
what was streamed, it is told as a message of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ag_ui.core import (
    BaseEvent,
    CustomEvent,
    Interrupt,
    RunErrorEvent,
    RunFinishedCancelledOutcome,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunFinishedOutcome,
    RunFinishedSuccessOutcome,
    RunStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)

Frame = Mapping[str, Any]
Told = Sequence[BaseEvent]

QUESTION, ACTION, MESSAGE = "question:", "action:", "message:"
"""How the ids of interrupts begin, by what they stand for."""

IN_PERSON = "Only the person it waits for approves or declines it, signed in to Accord."


class Run:
    """One run: what was told of it so far."""

    def __init__(self, thread: str, run: str, *, message: str = "", resumes: str = "") -> None:
        """Show a run of a thread.

        Args:
            message: the message that it posted, or "".
            resumes: the paused turn whose questions it answered, or "".
        """
        self._thread = thread
        self._run = run
        self._message = message
        self._resumes = resumes
        self._turn = ""
        self._text = ""
        self._open = ""
        self._messages = 0
        self._calling: list[str] = []
        self._actions: dict[str, Frame] = {}
        self.over = False

    def begun(self) -> Told:
        """Return what begins a run."""
        return [RunStartedEvent(thread_id=self._thread, run_id=self._run)]

    def failed(self, because: str, code: str) -> Told:
        """Return what ends a run that cannot go on, with our sentence and code."""
        self.over = True
        return [*self._all_closed(), RunErrorEvent(message=because, code=code)]

    def finished(self, outcome: RunFinishedOutcome) -> Told:
        """Return what ends a run."""
        self.over = True
        return [*self._all_closed(), RunFinishedEvent(thread_id=self._thread, run_id=self._run, outcome=outcome)]

    def live(self, frame: Frame) -> Told:
        """Return what is told of live text."""
        if not self._turn or frame["turn"] != self._turn:
            return []
        whole = self._text[: frame["offset"]] + frame["text"]
        # Text that was told cannot be taken back; what is posted is told in the end.
        return self._said(whole) if whole.startswith(self._text) else []

    def read(self, frame: Frame) -> Told:
        """Return what is told of the next entry of the log."""
        if self._is_start(frame):
            return self._started(frame)
        if frame["data"].get("message") == self._message and self._message and not self._turn:
            return self._not_taken(frame)
        if not self._turn or self._turn not in {frame["turn"], frame["data"].get("turn")}:
            return []
        return self._of_the_turn(frame)

    def _of_the_turn(self, frame: Frame) -> Told:
        match frame["event"]:
            case "call_started":
                return self._calls(frame)
            case "call_ended":
                return self._called(frame)
            case "message_posted":
                return self._posted(frame)
            case "proposal_created":
                return [CustomEvent(name="accord.proposal", value=_item(frame, "proposal"))]
            case "action_asked":
                self._actions[frame["data"]["action"]] = _item(frame, "action")
                return []
            case "turn_paused":
                return self.finished(_interrupted([*_questions(frame), *self._waiting()]))
            case "turn_ended":
                return self._ended(frame)
            case _:
                return []

    def _is_start(self, frame: Frame) -> bool:
        data = frame["data"]
        match frame["event"]:
            case "turn_started":
                resumed = bool(self._resumes) and data["resumes"] == self._resumes
                return resumed or (bool(self._message) and self._message in data["took"])
            case "message_taken":
                return self._message in data["messages"]
            case _:
                return False

    def _started(self, frame: Frame) -> Told:
        self._turn = frame["turn"]
        turn = _item(frame, "turn")
        about = {name: turn.get(name) for name in ("id", "number", "agent", "for", "trigger")}
        return [CustomEvent(name="accord.turn", value={**about, "id": self._turn})]

    def _not_taken(self, frame: Frame) -> Told:
        because = str(_item(frame, "message").get("because") or "")
        match frame["event"]:
            case "message_passed_over":
                return self.failed(because or "The message was passed over.", "passed_over")
            case "message_cancelled":
                return self.finished(RunFinishedCancelledOutcome())
            case "message_held":
                unclear = Interrupt(id=MESSAGE + self._message, reason="unclear", message=because or None)
                return self.finished(_interrupted([unclear]))
            case _:
                return []

    def _calls(self, frame: Frame) -> Told:
        call = frame["data"]
        closed = self._closed()
        self._calling.append(call["call"])
        return [*closed, ToolCallStartEvent(tool_call_id=call["call"], tool_call_name=call["tool"])]

    def _called(self, frame: Frame) -> Told:
        call, id = _item(frame, "call"), frame["data"]["call"]
        told = {"outcome": frame["data"]["outcome"], "because": call.get("because") or "", "result": call.get("result")}
        content = json.dumps(told, ensure_ascii=False)
        result = ToolCallResultEvent(message_id=f"{id}:result", tool_call_id=id, content=content, role="tool")
        if id not in self._calling:  # it was begun in the run that this one goes on with
            return [*self._closed(), result]
        self._calling.remove(id)
        args = [ToolCallArgsEvent(tool_call_id=id, delta=call["args"])] if call.get("args") else []
        return [*self._closed(), *args, ToolCallEndEvent(tool_call_id=id), result]

    def _posted(self, frame: Frame) -> Told:
        item = _item(frame, "message")
        text = str(item.get("text") or "")
        if frame["actor"]["kind"] != "agent" or not text:
            return []
        if text.startswith(self._text):
            return [*self._said(text), *self._closed()]
        closed, self._text = self._closed(), ""
        return [*closed, *self._said(text), *self._closed()]

    def _ended(self, frame: Frame) -> Told:
        turn = _item(frame, "turn")
        match frame["data"]["status"]:
            case "completed" if self._actions:
                return self.finished(_interrupted(self._waiting()))
            case "completed":
                return self.finished(RunFinishedSuccessOutcome())
            case "stopped":
                return self.finished(RunFinishedCancelledOutcome())
            case status:
                because = str(turn.get("because") or f"The turn ended: {status}.")
                return self.failed(because, frame["data"]["reason"] or "failed")

    def _waiting(self) -> list[Interrupt]:
        return [_action(id, item) for id, item in self._actions.items()]

    def _said(self, whole: str) -> Told:
        delta, self._text = whole[len(self._text) :], whole
        if not delta:
            return []
        begun: list[BaseEvent] = []
        if not self._open:
            self._messages += 1
            self._open = f"{self._turn}:{self._messages}"
            begun = [TextMessageStartEvent(message_id=self._open, role="assistant")]
        return [*begun, TextMessageContentEvent(message_id=self._open, delta=delta)]

    def _closed(self) -> Told:
        open, self._open = self._open, ""
        return [TextMessageEndEvent(message_id=open)] if open else []

    def _all_closed(self) -> Told:
        """A call that is not over, as one that asks a person, is told as whole: front ends end no run within a call."""
        calls, self._calling = self._calling, []
        return [*self._closed(), *(ToolCallEndEvent(tool_call_id=id) for id in calls)]


def _item(frame: Frame, name: str) -> Frame:
    """Return an entry's item of a name; empty where its reader may not see it."""
    return next((item for item in frame["items"] if item["item"] == name), {})


def _interrupted(interrupts: list[Interrupt]) -> RunFinishedOutcome:
    """A turn may pause over what its reader may not see; then there is nothing that they could answer."""
    return RunFinishedInterruptOutcome(interrupts=interrupts) if interrupts else RunFinishedSuccessOutcome()


def _questions(frame: Frame) -> list[Interrupt]:
    found = [item for item in frame["items"] if item["item"] == "question" and item["state"] == "open"]
    return [
        Interrupt(
            id=QUESTION + item["id"],
            reason="question",
            message=item["text"],
            response_schema={"type": "string", **({"enum": item["choices"]} if item["choices"] else {})},
        )
        for item in found
    ]


def _action(id: str, item: Frame) -> Interrupt:
    about = {"number": item.get("number"), "for": item.get("for"), "because": IN_PERSON}
    return Interrupt(
        id=ACTION + id, reason="approval", message=item.get("text"), expires_at=item.get("expires_at"), metadata=about
    )
