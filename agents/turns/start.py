"""From what waits to a turn that runs: claim, plan, take, in one transaction (DESIGN 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, QuerySet

from agents.actions.closing import action_closed, calls_dropped
from agents.actions.expiring import approved_in, as_approved, next_approved
from agents.models.actions import PendingAction
from agents.models.agents import Agent as AgentRow
from agents.models.timers import Timer
from agents.models.turns import Question, Turn
from agents.turns import budget, ending, history, lease
from agents.turns.plan import CarryOut, Nothing, Paused, Resume, Start, Waiting, plan
from collab.events import MessagePassedOver, TurnStarted
from collab.log import Locked, append, thread_locked
from collab.models.threads import Message
from collab.services.messages import MOST_WAITING
from permissions.actors import Actor, Agent, Person, Source, System, cap_of, principal, same_author
from permissions.decisions import Action, Decision, Level
from permissions.gate import decide_on
from permissions.grants import names_of
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
        unfinished = Turn.objects.filter(thread_id=thread_id, resumed_by=None, status__in=["running", "paused"])
        waiting, has_turns, has_approved = _asked(thread_id, unfinished)
        turns = list(unfinished) if has_turns else []
        if continued := _settle_abandoned(locked, [turn for turn in turns if turn.status == "running"]):
            return continued
        paused = next((turn for turn in turns if turn.status == "paused"), None)
        return _start_what_is_next(locked, waiting, paused, has_approved=has_approved)


def _asked(thread_id: UUID, unfinished: QuerySet[Turn]) -> tuple[list[Message], bool, bool]:
    """Read in one statement which messages wait, and whether a turn is unfinished and an action approved: where no
    message waits, both may be so."""
    asked = _waiting(thread_id).annotate(has_turns=Exists(unfinished), has_approved=approved_in(thread_id))
    waiting = list(asked[:MOST_WAITING])
    if not waiting:
        return [], True, True
    return list(waiting), waiting[0].has_turns, waiting[0].has_approved


def _waiting(thread_id: UUID) -> QuerySet[Message]:
    return Message.objects.filter(thread_id=thread_id, waits=True).order_by("seq")


def waiting_messages(thread_id: UUID) -> list[Message]:
    """Return the messages that wait for a turn, oldest first."""
    return list(_waiting(thread_id)[:MOST_WAITING])


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


def _start_what_is_next(
    locked: Locked, waiting: list[Message], paused: Turn | None, *, has_approved: bool
) -> Started | None:
    while True:
        approved = next_approved(locked) if has_approved else None
        match plan(as_waiting(waiting), _as_paused(paused), as_approved(approved)):
            case Nothing():
                return None
            case CarryOut(author=author) if approved is not None:
                if started := _begin_approved(locked, approved, author):
                    return started
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


def _begin_approved(locked: Locked, action: PendingAction, approver: Person) -> Started | None:
    """Start the turn that carries out an approved action, a fresh one for its approver; or end the action, if they may
    not start a turn any more (DESIGN 7, Consent)."""
    verdict = _may_start(locked, approver)
    if verdict.refusal:
        action_closed(locked, action, state="failed", by=System(), code=verdict.reason, because=verdict.refusal)
        return None
    lease.claim(locked)
    turn = _new_turn(locked, verdict.agent, origin=approver, trigger=Turn.Trigger.APPROVAL)
    _record_start(locked, turn, (), verdict.decision)
    PendingAction.objects.filter(pk=action.pk, approved_turn=None).update(approved_turn=turn)
    return Started(turn, verdict.agent, locked.row.workspace_id, _names(verdict.decision, approver))


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
    """The agent that starts a turn is checked as itself acting for the author (planning 5), and within their day; for a
    source, within the rights of the owner that its route or timer has."""
    row = locked.row
    agent, used_up = budget.agent_today(row.agent_id, principal(author), locked.now)
    acting = Agent(agent.pk, row.id, principal(author))
    decision = decide_on(acting, Action.START_TURN, row, cap=cap_of(author), for_write=True)
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
    chosen = {message.id for message in step.messages}
    revises = _revised(locked, step.author, [message for message in waiting if message.id in chosen])
    turn = _new_turn(locked, agent, origin=step.author, resumes=resumes, revises=None if resumes else revises)
    reply = step.reply if isinstance(step, Resume) else None
    taken = take(waiting, chosen, turn=turn, taken_as="prompt")
    if reply and paused:
        taken = _answer(locked, waiting, reply, turn=turn, paused=paused) + taken
    names = _names(decision, step.author)
    turn.history = history.dump(history.opening(turn, taken, names))
    _record_start(locked, turn, tuple(message.id for message in taken), decision)
    return Started(turn, agent, locked.row.workspace_id, names)


def start_over(
    locked: Locked, turn: Turn, waiting: list[Message], joins: Sequence[Waiting], *, text: str
) -> Started | None:
    """Stop a running turn that this process holds at its boundary, and start its work anew with what joins, in the same
    transaction: all that the lineage took, in order, in a fresh history (DESIGN 6, In flight).

    Args:
        text: what the turn has said so far; it stays, marked interrupted.

    Returns:
        The new turn; None when its author may start none at this moment, and then nothing was changed.
    """
    verdict = _may_start(locked, turn.origin)
    if verdict.refusal:
        return None
    because = "More was asked, and it starts over."
    ending.end(locked, turn, status="stopped", reason="restarted", because=because, text=text, whole=False, more=False)
    lease.claim(locked)
    names = _names(verdict.decision, turn.origin)
    again = _new_turn(locked, verdict.agent, origin=turn.origin, restarts=turn, trigger=turn.trigger)
    taken = take(waiting, {message.id for message in joins}, turn=again, taken_as="prompt")
    first, earlier = _taken_since(turn)
    others = [message.author for message in earlier if not same_author(message.author, turn.origin)]
    names |= names_of(*others) if others else {}
    again.history = history.dump(history.opening(first, [*earlier, *taken], names))
    _record_start(locked, again, tuple(message.id for message in taken), verdict.decision)
    return Started(again, verdict.agent, locked.row.workspace_id, names)


def _taken_since(turn: Turn) -> tuple[Turn, list[Message]]:
    """Return the first of the turns that a turn restarts and continues, and what they took, in order."""
    since = [turn]
    while before := since[-1].restarts or since[-1].continues:
        since.append(before)
    taken = Message.objects.filter(taken_by__in=[one.pk for one in since]).exclude(taken_as="reply")
    return since[-1], list(taken.order_by("seq"))


def _revised(locked: Locked, author: Actor, taken: Sequence[Message]) -> Turn | None:
    """Return the turn of the same author that stopped because something it now takes revises it."""
    if not any(message.meant == "revises" for message in taken):
        return None
    stopped = Turn.objects.filter(thread_id=locked.row.id, status="stopped", reason="revised", revised_by=None)
    newest = stopped.defer("history").order_by("-number").first()
    return newest if newest and same_author(newest.origin, author) else None


def _answer(locked: Locked, waiting: list[Message], reply: Waiting, *, turn: Turn, paused: Turn) -> list[Message]:
    """The reply answers every open question, in the transaction that resumes the turn (planning 2)."""
    message = next(message for message in waiting if message.id == reply.id)
    questions = list(Question.objects.select_related("call").filter(turn=paused, answered_at=None))
    ending.answer(locked, paused, questions, text=message.content, by=message.author, message=message.id)
    return take(waiting, {reply.id}, turn=turn, taken_as="reply")


def _new_turn(
    locked: Locked,
    agent: AgentRow,
    *,
    origin: Actor,
    resumes: Turn | None = None,
    continues: Turn | None = None,
    restarts: Turn | None = None,
    revises: Turn | None = None,
    trigger: str = "",
) -> Turn:
    before, asked = resumes or continues or restarts, resumes or continues or restarts or revises
    id = new_id()
    turn = Turn(
        id=id, thread_id=locked.row.id, number=locked.row.turn_count + 1, seq=0,
        trigger=continues.trigger if continues else "answer" if resumes else trigger or _trigger(origin),
        origin=origin, on_behalf_of=principal(origin), agent_id=agent.pk, resumes=resumes, continues=continues,
        restarts=restarts, revises=revises,
        root_id=before.root_id if before else id,
        asks_first=not isinstance(origin, Person) or bool(asked and asked.asks_first),
        lease_epoch=locked.row.lease_epoch,
        attempt=_attempt(continues), steps=continues.steps if continues else 0,
        history=continues.history if continues else "", text=continues.text if continues else "",
        known=continues.known if continues else {}, started_at=locked.now,
    )  # fmt: skip
    locked.change(turn_count=turn.number)
    return turn


def _trigger(origin: Actor) -> str:
    if not isinstance(origin, Source):
        return Turn.Trigger.MESSAGE
    is_timer = Timer.objects.filter(pk=origin.id).exists()
    return Turn.Trigger.TIMER if is_timer else Turn.Trigger.DELIVERY


def _attempt(continues: Turn | None) -> int:
    """To park is no failure of the work, so it does not count."""
    if continues is None:
        return 1
    return continues.attempt if continues.reason == PARKED else continues.attempt + 1


def _names(decision: Decision, origin: Actor) -> dict[UUID, str]:
    names = {line.party.id: line.name for line in decision.parties if not isinstance(line.party, System)}
    return names | names_of(origin) if isinstance(origin, Source) else names


def _record_start(locked: Locked, turn: Turn, took: tuple[UUID, ...], decision: Decision) -> None:
    event = TurnStarted(
        number=turn.number, trigger=turn.trigger, took=took, resumes=turn.resumes_id, continues=turn.continues_id,
        restarts=turn.restarts_id, revises=turn.revises_id,
    )  # fmt: skip
    turn.seq = append(locked, event, actor=ending.acting(turn), turn=turn.id, grants_epoch=decision.grants_epoch or 0)
    turn.save(force_insert=True)


def _settle_abandoned(locked: Locked, running: list[Turn]) -> Started | None:
    """End a turn that its process left, and go on from its last boundary in a new one of the same author and origin,
    its rights checked afresh, a few times at most (DESIGN 6, Leases and the sweep)."""
    for turn in running:
        _end_left(locked, turn)
        if turn.reason == "stopped" or _attempt(turn) > MOST_ATTEMPTS:
            calls_dropped(locked, turn)
            return None
        verdict = _may_start(locked, turn.origin)
        if verdict.refusal:
            calls_dropped(locked, turn)
            return None
        lease.claim(locked)
        continued = _new_turn(locked, verdict.agent, origin=turn.origin, continues=turn)
        _record_start(locked, continued, (), verdict.decision)
        return Started(continued, verdict.agent, locked.row.workspace_id, _names(verdict.decision, turn.origin))
    return None


def _end_left(locked: Locked, turn: Turn) -> None:
    """End a turn that no process works on: it was asked to stop, or its process parked it or went away."""
    status, reason, because = "failed", "abandoned", "The process that ran it went away."
    if turn.stop_asked_by is not None:
        status, reason, because = "stopped", "stopped", "It was stopped."
    elif turn.reason == PARKED:
        reason, because = PARKED, "The process that ran it was ended; another goes on."
    ending.end_unfinished(locked, turn, status=status, reason=reason, because=because)
