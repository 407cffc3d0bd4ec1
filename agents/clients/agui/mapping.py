"""A turn as an AG-UI front end is shown it: events of AG-UI 1.0 from log entries and live text (DESIGN 11). Pure.

Only what belongs to the turn of the run is told, and to those that go on with it. Text is streamed as live text is;
where what is posted differs from what was streamed, it is told as a message of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ag_ui.core import (
    PROTOCOL_VERSION,
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

QUESTION, ACTION = "question:", "action:"
"""How the ids of interrupts begin, by what they stand for."""

ASKS, WAITS = "input_required", "accord:approval"
"""Why a run is interrupted: the first is answered by the next run, the second by nobody but a person in Accord."""

IN_PERSON = "Only the person it waits for approves or declines it, signed in to Accord."

GOES_ON = frozenset({"abandoned", "parked", "restarted"})
"""Why turns end whose work goes on, as a rule, in another: it starts in the next entry of the log, or there is none."""


class Run:
    """One run: what was told of it so far."""

    def __init__(self, thread: str, run: str, *, message: str = "", resumes: str = "", left_out: str = "") -> None:
        """Show a run of a thread.

        Args:
            message: the message that it posted, or "".
            resumes: the paused turn whose questions it answered, or "".
            left_out: a sentence that says what of the run was not read, or "".
        """
        self._thread = thread
        self._run = run
        self._message = message
        self._resumes = resumes
        self._left_out = left_out
        self._turn = ""
        self._ending: Frame | None = None
        self._text = ""
        self._open = ""
        self._messages = 0
        self._calling: list[str] = []
        self._actions: dict[str, Frame] = {}
        self.over = False

    def begun(self) -> Told:
        """Return what begins a run."""
        begun = RunStartedEvent(thread_id=self._thread, run_id=self._run, protocol_version=PROTOCOL_VERSION)
        said = [CustomEvent(name="accord.left_out", value={"because": self._left_out})] if self._left_out else []
        return [begun, *said]

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
        if self._ending is not None and not self._goes_on(frame):
            return self.nothing_follows()
        if self._is_start(frame):
            return self._started(frame)
        if not self._turn:
            return self._not_begun(frame)
        if self._turn not in {frame["turn"], frame["data"].get("turn")}:
            return []
        return self._of_the_turn(frame)

    def nothing_follows(self) -> Told:
        """Return what is told once nothing follows the entry that was read last: the end of a turn whose work might
        have gone on in another."""
        ending, self._ending = self._ending, None
        return self._over(ending) if ending is not None else []

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
                return self.finished(interrupted([*questions(frame["items"]), *self._waiting()]))
            case "turn_ended":
                return self._ended(frame)
            case _:
                return []

    def _is_start(self, frame: Frame) -> bool:
        data = frame["data"]
        match frame["event"]:
            case "turn_started":
                resumed = bool(self._resumes) and data["resumes"] == self._resumes
                return resumed or (bool(self._message) and self._message in data["took"]) or self._goes_on(frame)
            case "message_taken":
                return self._message in data["messages"]
            case _:
                return False

    def _goes_on(self, frame: Frame) -> bool:
        """Whether a turn starts that goes on with the one that has just ended."""
        data = frame["data"]
        starts = self._ending is not None and frame["event"] == "turn_started"
        return starts and self._turn in {data["continues"], data["restarts"]}

    def _started(self, frame: Frame) -> Told:
        closed: Told = []
        if frame["data"].get("restarts"):  # what the turn before has said stays, and this one begins anew
            closed, self._text = self._closed(), ""
        self._turn, self._ending = frame["turn"], None
        turn = _item(frame, "turn")
        about = {name: turn.get(name) for name in ("id", "number", "agent", "for", "trigger")}
        return [*closed, CustomEvent(name="accord.turn", value={**about, "id": self._turn})]

    def _not_begun(self, frame: Frame) -> Told:
        """What may come in the place of the turn: nobody takes the message, or what was answered is over."""
        data = frame["data"]
        match frame["event"]:
            case "message_passed_over" if data["message"] == self._message:
                because = str(_item(frame, "message").get("because") or "The message was passed over.")
                return self.failed(because, "passed_over")
            case "message_cancelled" if data["message"] == self._message:
                return self.finished(RunFinishedCancelledOutcome())
            case "turn_ended" if data["turn"] == self._resumes:
                return self._over(frame)
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
        if frame["data"]["reason"] in GOES_ON:
            self._ending = frame
            return []
        return self._over(frame)

    def _over(self, frame: Frame) -> Told:
        turn = _item(frame, "turn")
        match frame["data"]["status"]:
            case "completed":
                return self.finished(interrupted(self._waiting()))
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


def interrupted(interrupts: Sequence[Interrupt]) -> RunFinishedOutcome:
    """Return how a run ends that waits for these; with none of them it is a success, also where its turn paused over
    what its reader may not see: there is nothing that they could answer."""
    return RunFinishedInterruptOutcome(interrupts=list(interrupts)) if interrupts else RunFinishedSuccessOutcome()


def questions(items: Sequence[Frame]) -> list[Interrupt]:
    """Return the open questions among some items as what a run waits for."""
    found = [item for item in items if item["item"] == "question" and item["state"] == "open"]
    return [
        Interrupt(
            id=QUESTION + item["id"],
            reason=ASKS,
            message=item["text"],
            response_schema={"type": "string", **({"enum": item["choices"]} if item["choices"] else {})},
        )
        for item in found
    ]


def _action(id: str, item: Frame) -> Interrupt:
    about = {"number": item.get("number"), "for": item.get("for"), "because": IN_PERSON}
    return Interrupt(
        id=ACTION + id, reason=WAITS, message=item.get("text"), expires_at=item.get("expires_at"), metadata=about
    )
