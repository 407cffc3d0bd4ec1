"""Boundaries: the points between a turn's steps where its state is saved and new input may join (DESIGN 6).

Nothing is pushed into a running turn. It pulls from the log here: stop requests, messages of its own author until the
first of another, and change notes; each joins in the transaction that saves the history it is part of.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from django.db.models import F
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelRequestPart, UserPromptPart

from agents.actions.asking import action_asked
from agents.actions.closing import actions_superseded, calls_dropped
from agents.errors import LeaseLost
from agents.models.turns import Call, Turn
from agents.replies.record import CallRecord
from agents.tools.phrasings import Wording
from agents.tools.registry import SETTING
from agents.turns import ending, history, lease
from agents.turns.holding import messages_held
from agents.turns.inflight import MOST_RESTARTS, Policy, Verdict, to_classify, what_joins
from agents.turns.notes import changes_told
from agents.turns.resolutions import RESOLVED, resolutions
from agents.turns.start import PARKED, Started, as_waiting, start_over, take, waiting_messages
from collab.events import MessageTaken
from collab.log import Locked, append, thread_locked
from collab.models.documents import Revision
from collab.models.threads import Message, Thread
from collab.signals import thread_asked
from permissions.actors import same_author


@dataclass(slots=True)
class Work:
    """What a running turn has in hand: the messages of its own history, and the text it has let out."""

    turn: Turn
    workspace: UUID
    names: dict[UUID, str]
    messages: list[ModelMessage]
    text: str = ""
    wording: Wording = field(default_factory=partial(Wording, SETTING))
    """What its calls are said to be, and what everything it says is checked with."""
    parks: bool = False
    """True once this process ends: what is left of the turn is for another."""
    joins: bool = True
    """False once another author's message waits: from then on nothing joins this turn."""
    returns: list[ModelRequestPart] = field(default_factory=list)
    """What the calls of the newest response came to, so far."""
    questions: list[UUID] = field(default_factory=list)
    remembers: bool = False
    """True once the calls of the thread's earlier turns were read for what it says."""
    records: list[CallRecord] = field(default_factory=list)
    """What the turn's calls came to, as what it says is held to it; ``voiced`` of them are known to its gate."""
    recorded: frozenset[UUID] = frozenset()
    """Calls of the lineage it starts over from whose records it began with."""
    voiced: int = 0
    ruled: int = 0
    """The rulings on what the turn said that are counted."""
    orphans: list[Call] = field(default_factory=list)
    """Calls that the turn this one continues had settled after its last boundary."""
    steps: list[Call] = field(default_factory=list)
    """Calls of the turn that wait for consent, in order: the steps of the action it asks for as it ends or pauses."""
    usable: frozenset[str] = frozenset()
    """The enabled tools that the model is offered."""
    reports: bool = False
    """True in a turn that carried out an approved action and now tells of it: every call is refused."""
    own_words: bool = True
    """False where no text that the model writes reaches a person (REPLIES, Composers)."""
    in_flight: Policy = "merge"
    classify: bool = False
    meanings: dict[UUID, str] = field(default_factory=dict)
    """What the messages that wait mean for the turn, as its model said or their author did."""
    next: Started | None = None
    """The turn that started over from this one, for the process that worked it."""

    def fresh(self) -> list[CallRecord]:
        """Return the records that the gate has not been told of, which from here on it has."""
        told, self.voiced = self.voiced, len(self.records)
        return self.records[told:]

    @property
    def wrote(self) -> bool:
        """True when the turn called a tool that changes something."""
        return any(record.effect == "write" for record in self.records)


def reach(work: Work) -> bool:
    """Reach the boundary after a model response and its calls: end, pause, park or go on, and save. Say whether the
    turn goes on here with another request. A response without calls was the turn's last, unless something joins here.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    with thread_locked(work.turn.thread_id) as locked:
        lease.fence(locked, work.turn)
        if locked.row.stop_turn_id == work.turn.id:
            stop(locked, work)
            return False
        if work.questions:
            _ask(locked, work)
            work.turn.history = _as_far_as_it_came(work)
            ending.pause(locked, work.turn, questions=tuple(work.questions), text=work.text)
            return False
        has_waiting, has_approved = ending.awaits(work.turn.thread_id)
        waiting = waiting_messages(work.turn.thread_id) if has_waiting else []
        verdict = _decided(work, waiting)
        _marked(locked, work, waiting, verdict)
        if verdict.anew and _ends_for_another(locked, work, waiting, verdict):
            return False
        joining = _joining(locked, work, waiting, verdict)
        if not work.returns and not joining:
            _ask(locked, work)
            work.turn.history = history.dump(work.messages)
            more = has_approved or len(waiting) > len(verdict.holds)
            ending.end(locked, work.turn, status=Turn.Status.COMPLETED, text=work.text, more=more)
            return False
        _go_on(locked, work, [*work.returns, *_notes(locked, work)], joining)
        if work.parks:
            _leave(locked, work.turn, reason=PARKED)
        return not work.parks


def account_given(work: Work, text: str, *, about: str) -> None:
    """Give a turn an account of what was done, as labelled data, and save it: a boundary without a model's response.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    with thread_locked(work.turn.thread_id) as locked:
        lease.fence(locked, work.turn)
        work.messages.append(history.account(text, about=about))
        _saved(work)


def cut_off(turn: Turn) -> None:
    """Leave a turn in the middle of a step, as its process ends: another continues it from its last boundary."""
    with thread_locked(turn.thread_id) as locked, suppress(LeaseLost):
        lease.fence(locked, turn)
        _leave(locked, turn)


def fail(work: Work, *, reason: str, because: str) -> None:
    """End a turn that cannot go on, keeping what it took and what it said so far.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    with thread_locked(work.turn.thread_id) as locked:
        lease.fence(locked, work.turn)
        work.turn.history = _as_far_as_it_came(work)
        ending.end(
            locked, work.turn, status=Turn.Status.FAILED, reason=reason, because=because, text=work.text, whole=False
        )


def end_stopped(work: Work) -> None:
    """End a turn that was stopped inside a model response or a call.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    with thread_locked(work.turn.thread_id) as locked:
        lease.fence(locked, work.turn)
        stop(locked, work)


def stop(locked: Locked, work: Work) -> None:
    """End a turn as stopped, with what it said and did so far."""
    work.turn.history = _as_far_as_it_came(work)
    ending.end(
        locked, work.turn, status=Turn.Status.STOPPED, reason="stopped", because="It was stopped.",
        text=work.text, whole=False,
    )  # fmt: skip


def _ask(locked: Locked, work: Work) -> None:
    """Ask for consent to what waits for it; of a turn that was continued, what it did not come back to is dropped."""
    if work.turn.continues_id:
        calls_dropped(locked, work.turn, kept=work.steps)
    action_asked(locked, work.turn, work.steps)


def _leave(locked: Locked, turn: Turn, *, reason: str = "") -> None:
    """Give the thread back with its turn still running, and ask for whoever continues it."""
    turn.reason = reason
    turn.save(update_fields=["reason"])
    lease.release(locked)
    thread_asked.send(sender=Thread, thread_id=locked.row.id)


def to_ask_about(work: Work) -> list[Message]:
    """Return the messages whose meaning for the turn its model is asked for, before its boundary is reached."""
    turn = work.turn
    if not work.joins or work.questions or turn.trigger == Turn.Trigger.APPROVAL:
        return []
    waiting = waiting_messages(turn.thread_id)
    known = {**work.meanings, **{message.id: message.meant for message in waiting if message.meant}}
    ids = {message.id for message in to_classify(as_waiting(waiting), turn.origin, known)}
    return [message for message in waiting if message.id in ids]


def _decided(work: Work, waiting: list[Message]) -> Verdict:
    """Decide what the waiting messages do to the turn: only its own author's count, up to the first of another, and
    none once another's was seen. Into a turn that carries out what was approved, nothing joins."""
    foreign = any(not same_author(message.author, work.turn.origin) for message in waiting)
    looks, work.joins = work.joins, work.joins and not foreign
    if not looks or not waiting or work.turn.trigger == Turn.Trigger.APPROVAL:
        return Verdict()
    meanings = {**work.meanings, **{message.id: message.meant for message in waiting if message.meant}}
    policy = work.in_flight
    if policy == "restart" and _restarts(work.turn) >= MOST_RESTARTS:
        policy = "merge"
    return what_joins(policy, as_waiting(waiting), work.turn.origin, meanings, classify=work.classify)


def _restarts(turn: Turn) -> int:
    return Turn.objects.filter(root_id=turn.root_id).exclude(restarts=None).count()


def _ends_for_another(locked: Locked, work: Work, waiting: list[Message], verdict: Verdict) -> bool:
    """Stop the turn at its boundary for one that starts over or revises it; say whether it did. It goes on where its
    author may start no turn at this moment."""
    turn, saved = work.turn, work.turn.history
    turn.history = _as_far_as_it_came(work)
    if verdict.anew == "restarted":
        work.next = start_over(locked, turn, waiting, verdict.joins, text=work.text)
        if work.next is None:
            turn.history = saved
            return False
        if work.parks:
            _leave(locked, work.next.turn, reason=PARKED)
            work.next = None
    else:
        because = "What was asked changed; the next turn goes on from what it did."
        actions_superseded(locked, turn, because="What was asked changed.")
        ending.end(
            locked, turn, status=Turn.Status.STOPPED, reason="revised", because=because, text=work.text, whole=False,
            more=True,
        )  # fmt: skip
    return True


def _marked(locked: Locked, work: Work, waiting: list[Message], verdict: Verdict) -> None:
    """Keep what waiting messages were said to mean, and hold those whose author is asked."""
    for message in waiting:
        meant = work.meanings.get(message.id, "")
        if meant and meant != "unclear" and not message.meant:
            message.meant = meant
            message.save(update_fields=["meant"])
    if verdict.holds:
        messages_held(locked, work.turn, [message.id for message in verdict.holds])


def _joining(locked: Locked, work: Work, waiting: list[Message], verdict: Verdict) -> list[Message]:
    """Take the messages that join the turn."""
    ids = {message.id for message in verdict.joins}
    if not ids:
        return []
    taken = take(waiting, ids, turn=work.turn, taken_as=Message.TakenAs.STEER)
    event = MessageTaken(messages=tuple(message.id for message in taken), taken_as=Message.TakenAs.STEER)
    append(locked, event, actor=ending.acting(work.turn), turn=work.turn.id)
    return taken


def _go_on(locked: Locked, work: Work, parts: list[ModelRequestPart], joining: list[Message]) -> None:
    request = ModelRequest(parts=parts)
    if joining:
        asked = history.input_request(joining, work.names)
        request = ModelRequest(parts=[*parts, *asked.parts], metadata=asked.metadata)
    work.messages.append(request)
    _saved(work)


def _saved(work: Work) -> None:
    turn = work.turn
    turn.steps += 1
    turn.history, turn.text = history.dump(work.messages), work.text
    turn.save(update_fields=["steps", "history", "text", "known", "input_tokens", "output_tokens"])


def _as_far_as_it_came(work: Work) -> str:
    returned = [ModelRequest(parts=work.returns)] if work.returns else []
    return history.dump([*work.messages, *returned])


def _notes(locked: Locked, work: Work) -> list[UserPromptPart]:
    """Tell the turn which followed documents others changed since it last looked, and what became of what its author's
    turns proposed; nothing once its joining is over."""
    if not work.joins:
        return []
    turn = work.turn
    newest = newest_revisions(turn.thread_id)
    fresh = [
        revision
        for revision in newest
        if revision.turn_id != turn.id and turn.known.get(str(revision.document_id), 0) < revision.version
    ]
    ended = resolutions(turn, after=turn.known.get(RESOLVED, turn.seq))
    changed = changes_told(turn, fresh)
    turn.known = {**versions(newest), RESOLVED: locked.row.head_seq}
    return [*map(history.note, changed), *(history.resolution(one.text) for one in ended)]


def newest_revisions(thread_id: UUID) -> list[Revision]:
    """Return the newest revision of each document that a thread follows."""
    newest = Revision.objects.filter(document__follows__thread=thread_id, version=F("document__version"))
    return list(newest.select_related("document").defer("data", "patch", "document__data"))


def versions(newest: Sequence[Revision]) -> dict[str, int]:
    """Return what a turn that was told of these revisions knows: the version of each document."""
    return {str(revision.document_id): revision.version for revision in newest}
