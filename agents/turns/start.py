"""From what waits to a turn that runs: claim, plan, take, in one transaction (DESIGN 6)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from agents.models.agents import Agent as AgentRow
from agents.models.turns import Question, Turn
from agents.turns import budget, ending, history, lease
from agents.turns.plan import Nothing, Paused, Resume, Start, Waiting, plan
from collab.events import MessagePassedOver, TurnStarted
from collab.log import Locked, append, thread_locked
from collab.models.threads import Message
from collab.services.messages import MOST_WAITING
from permissions.actors import Actor, Agent, System, principal
from permissions.decisions import Action, Decision, Level
from permissions.gate import decide_on
from permissions.ids import new_id

MOST_ATTEMPTS = 3
"""How often an abandoned piece of work is tried."""

PARKED = "parked"
"""Why a turn ended that its process left at a boundary, because the process itself ended."""


@dataclass(frozen=True, slots=True)
class Started:
    """A turn that this process holds: its row, its agent, and the names of the agent and of those it works for."""

    turn: Turn
    agent: AgentRow
    workspace: UUID
    names: dict[UUID, str]


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Whether a turn may start: it may not when there is a ``refusal``, a sentence; ``reason`` is its code."""

    agent: AgentRow
    decision: Decision
    reason: str
    refusal: str


def start_next(thread_id: UUID) -> Started | None:
    """Claim a thread and start what its log says is next; None when nothing is, or another process holds it.

    A message whose author may not start a turn is passed over and the planning begins again: each step takes more of
    the log or ends a turn, so it ends (planning 5).

    Raises:
        NotFound: there is no such thread.
    """
    with thread_locked(thread_id) as locked:
        if lease.is_live(locked) or locked.row.agent_id is None:
            return None
        turns = list(Turn.objects.filter(thread_id=thread_id, resumed_by=None, status__in=["running", "paused"]))
        if continued := _settle_abandoned(locked, [turn for turn in turns if turn.status == "running"]):
            return continued
        waiting = waiting_messages(thread_id)
        paused = next((turn for turn in turns if turn.status == "paused"), None)
        return _start_what_is_next(locked, waiting, paused)


def waiting_messages(thread_id: UUID) -> list[Message]:
    """Return the messages that wait for a turn, oldest first."""
    return list(Message.objects.filter(thread_id=thread_id, waits=True).order_by("seq")[:MOST_WAITING])


def as_waiting(messages: list[Message]) -> list[Waiting]:
    """Return messages as the planner reads them."""
    return [Waiting(message.id, message.seq, message.author) for message in messages]


def take(messages: list[Message], ids: set[UUID], *, turn: Turn, taken_as: str) -> list[Message]:
    """Make messages part of a turn; the caller appends the event that says so."""
    taken = [message for message in messages if message.id in ids]
    Message.objects.filter(pk__in=[message.id for message in taken]).update(
        waits=False, taken_by=turn.id, taken_as=taken_as
    )
    for message in taken:
        message.waits, message.taken_by, message.taken_as = False, turn.id, taken_as
    return taken


def _start_what_is_next(locked: Locked, waiting: list[Message], paused: Turn | None) -> Started | None:
    while True:
        match plan(as_waiting(waiting), _as_paused(paused)):
            case Nothing():
                return None
            case Start() | Resume() as step:
                verdict = _may_start(locked, step.author)
                if not verdict.refusal:
                    return _begin(locked, verdict, step, waiting, paused)
                passed = _passed_over(step)
                if passed is None and paused is not None:
                    ending.end_unfinished(
                        locked, paused, status="failed", reason=verdict.reason, because=verdict.refusal
                    )
                    paused = None
                waiting = _pass_over(locked, waiting, passed, verdict)


def _passed_over(step: Start | Resume) -> UUID | None:
    """The message that a refusal is about; none when the answer was given by button, which ends the paused turn."""
    if isinstance(step, Start):
        return step.messages[0].id
    return step.reply.id if step.reply else None


def _pass_over(locked: Locked, waiting: list[Message], message_id: UUID | None, verdict: _Verdict) -> list[Message]:
    for message in waiting:
        if message.id == message_id:
            Message.objects.filter(pk=message.id).update(waits=False, passed_over=verdict.refusal)
            append(locked, MessagePassedOver(message=message.id, reason=verdict.reason), actor=System())
    return [message for message in waiting if message.id != message_id]


def _may_start(locked: Locked, author: Actor) -> _Verdict:
    """The agent that starts a turn is checked as itself acting for the author (planning 5), and within their day."""
    row = locked.row
    agent, used_up = budget.agent_today(row.agent_id, principal(author), locked.now)
    decision = decide_on(Agent(agent.pk, row.id, principal(author)), Action.START_TURN, row, for_write=True)
    if row.archived_at is not None:
        return _Verdict(agent, decision, "archived", f"{row.title} was archived before a turn took it.")
    if decision.level < Level.ALLOW:
        return _Verdict(agent, decision, "forbidden", decision.because)
    return _Verdict(agent, decision, "limit", used_up)


def _as_paused(turn: Turn | None) -> Paused | None:
    if turn is None:
        return None
    questions = list(Question.objects.filter(turn=turn).order_by("answered_at"))
    answered = bool(questions) and all(question.answered_at for question in questions)
    return Paused(turn.id, questions[0].seq, questions[-1].answered_by if answered else None)


def _begin(
    locked: Locked, verdict: _Verdict, step: Start | Resume, waiting: list[Message], paused: Turn | None
) -> Started:
    agent, decision = verdict.agent, verdict.decision
    lease.claim(locked)
    resumes = paused if isinstance(step, Resume) else None
    turn = _new_turn(locked, agent, origin=step.author, resumes=resumes)
    reply = step.reply if isinstance(step, Resume) else None
    taken = take(waiting, {message.id for message in step.messages}, turn=turn, taken_as="prompt")
    if reply and paused:
        taken = _answer(locked, waiting, reply, turn=turn, paused=paused) + taken
    names = _names(decision)
    turn.history = history.dump(history.opening(turn, taken, names))
    _record_start(locked, turn, tuple(message.id for message in taken), decision)
    return Started(turn, agent, locked.row.workspace_id, names)


def _answer(locked: Locked, waiting: list[Message], reply: Waiting, *, turn: Turn, paused: Turn) -> list[Message]:
    """The reply answers every open question, in the transaction that resumes the turn (planning 2)."""
    message = next(message for message in waiting if message.id == reply.id)
    questions = list(Question.objects.select_related("call").filter(turn=paused, answered_at=None))
    ending.answer(locked, paused, questions, text=message.content, by=message.author, message=message.id)
    return take(waiting, {reply.id}, turn=turn, taken_as="reply")


def _new_turn(
    locked: Locked, agent: AgentRow, *, origin: Actor, resumes: Turn | None = None, continues: Turn | None = None
) -> Turn:
    before = resumes or continues
    id = new_id()
    turn = Turn(
        id=id, thread_id=locked.row.id, number=locked.row.turn_count + 1, seq=0,
        trigger=continues.trigger if continues else "answer" if resumes else "message",
        origin=origin, on_behalf_of=principal(origin), agent_id=agent.pk, resumes=resumes, continues=continues,
        root_id=before.root_id if before else id, lease_epoch=locked.row.lease_epoch,
        attempt=_attempt(continues), steps=continues.steps if continues else 0,
        history=continues.history if continues else "", text=continues.text if continues else "",
        known=continues.known if continues else {}, started_at=locked.now,
    )  # fmt: skip
    locked.change(turn_count=turn.number)
    return turn


def _attempt(continues: Turn | None) -> int:
    """To park is no failure of the work, so it does not count."""
    if continues is None:
        return 1
    return continues.attempt if continues.reason == PARKED else continues.attempt + 1


def _names(decision: Decision) -> dict[UUID, str]:
    return {line.party.id: line.name for line in decision.parties if not isinstance(line.party, System)}


def _record_start(locked: Locked, turn: Turn, took: tuple[UUID, ...], decision: Decision) -> None:
    event = TurnStarted(
        number=turn.number, trigger=turn.trigger, took=took, resumes=turn.resumes_id, continues=turn.continues_id
    )
    turn.seq = append(locked, event, actor=ending.acting(turn), turn=turn.id, grants_epoch=decision.grants_epoch or 0)
    turn.save(force_insert=True)


def _settle_abandoned(locked: Locked, running: list[Turn]) -> Started | None:
    """End a turn that its process left, and go on from its last boundary in a new one of the same author and origin,
    its rights checked afresh, a few times at most (DESIGN 6, Leases and the sweep)."""
    for turn in running:
        _end_left(locked, turn)
        if turn.reason == "stopped" or _attempt(turn) > MOST_ATTEMPTS:
            return None
        verdict = _may_start(locked, turn.origin)
        if verdict.refusal:
            return None
        lease.claim(locked)
        continued = _new_turn(locked, verdict.agent, origin=turn.origin, continues=turn)
        _record_start(locked, continued, (), verdict.decision)
        return Started(continued, verdict.agent, locked.row.workspace_id, _names(verdict.decision))
    return None


def _end_left(locked: Locked, turn: Turn) -> None:
    """End a turn that no process works on: it was asked to stop, or its process parked it or went away."""
    status, reason, because = "failed", "abandoned", "The process that ran it went away."
    if turn.stop_asked_by is not None:
        status, reason, because = "stopped", "stopped", "It was stopped."
    elif turn.reason == PARKED:
        reason, because = PARKED, "The process that ran it was ended; another goes on."
    ending.end_unfinished(locked, turn, status=status, reason=reason, because=because)
