"""The invariants of a thread's log, each as small functions over what is open, one event and the rows it names. Pure.

Each yields a sentence for every breach it sees, before the state is taken past the event. They are written from the
design alone and share no code with what they check. INV5 is in :mod:`agents.audit.authority`, INV8 in
:mod:`agents.audit.proposals`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from agents.audit.authority import has_authority, revision_is_the_events
from agents.audit.chain import is_what_was_posted
from agents.audit.given import call_is_shared_by_its_person, delegation_has_its_row
from agents.audit.parties import author, kind, whom
from agents.audit.proposals import (
    accepted_is_what_was_proposed,
    nobody_resolves_their_own,
    proposal_is_by_its_proposer,
    proposal_is_resolved_once,
)
from agents.audit.rows import EventRow, Rows
from agents.audit.state import MOVES, PAUSED, RUNNING, OpenTurn, State, asks_for_turn

Sentences = Iterator[str]
Rule = Callable[[State, EventRow, Rows], Sentences]

ABOUT_TURNS = frozenset({"turn_started", "turn_paused", "turn_ended", "question_answered"})
"""What happens to a turn; anything else with a turn is something it does."""


def message_is_by_its_author(_: State, event: EventRow, rows: Rows) -> Sentences:
    """INV1: the row's author, whom a turn would act for, is who posted it."""
    row = rows.messages.get(event.one("message"))
    if event.type == "message_posted" and row and row.author != event.actor:
        yield f"the message says it is by {row.author}, but {event.actor} posted it"


def turn_is_for_one(state: State, event: EventRow, rows: Rows) -> Sentences:
    """INV1: a turn starts with one on_behalf_of: that of every message it takes, and of whoever answered last."""
    if event.type != "turn_started":
        return
    if kind(event.actor) != "agent" or event.turn is None:
        yield f"a turn is started by {event.actor}, not by an agent in it"
    acts_for, row = whom(event.actor), rows.turns.get(event.turn or "")
    if row and {row.on_behalf_of, whom(row.origin)} != {acts_for}:
        yield f"the turn starts for {acts_for}, its row says {row.on_behalf_of}, from {row.origin}"
    paused = state.turns.get(event.one("resumes"))
    if paused and whom(paused.answered_by) != acts_for:
        yield f"it resumes for {acts_for}, but {paused.answered_by or 'nobody'} answered"
    for goes_on in ("continues", "restarts", "revises"):
        before = rows.turns.get(event.one(goes_on))
        if before and before.on_behalf_of != acts_for:
            yield f"it {goes_on} for {acts_for} what was for {before.on_behalf_of}"


def takes_from_its_author(state: State, event: EventRow, _: Rows) -> Sentences:
    """INV1: whoever wrote what a turn takes is whom the turn is for."""
    for id in event.taken:
        message = state.message(id)
        if message and whom(message.author) != whom(event.actor):
            yield f"a turn for {whom(event.actor)} takes message {message.seq} of {message.author}"


def turn_keeps_whom_it_is_for(state: State, event: EventRow, _: Rows) -> Sentences:
    """INV1: every later event of a turn acts for whom it started for; an answer alone carries who answered."""
    turn = state.turns.get(event.turn or "")
    if turn is None or event.type in {"turn_started", "question_answered"}:
        return
    if kind(event.actor) != "agent" or whom(event.actor) != turn.whom:
        yield f"an event of a turn for {turn.whom} is by {event.actor}"


def answer_is_by_who_gave_it(_: State, event: EventRow, rows: Rows) -> Sentences:
    """INV1: a question's row names who the log says answered it."""
    if event.type == "question_answered":
        for row in filter(None, map(rows.questions.get, event.many("questions"))):
            if row.answered_by != event.actor:
                yield f"question {row.id} says {row.answered_by} answered, the log says {event.actor}"


def message_has_its_row(_: State, event: EventRow, rows: Rows) -> Sentences:
    """INV2: a posted message has its row, which says one thing of what became of it: of a comment or reply nothing."""
    if event.type != "message_posted":
        return
    row = rows.messages.get(event.one("message"))
    if row is None:
        yield "the message that was posted is gone"
        return
    if (row.seq, row.kind, row.turn) != (event.seq, event.one("kind"), event.turn):
        yield f"the message's row is of another post: {row.kind} {row.seq}"
    fates = row.fates
    if len(fates) != int(asks_for_turn(event)):
        yield f"message {row.seq} is {' and '.join(fates) or 'neither taken, passed over, cancelled, held nor waiting'}"


def message_is_taken_once(state: State, event: EventRow, rows: Rows) -> Sentences:
    """INV2: what is taken waited until then, and its row says by which turn and as what."""
    for id in event.taken:
        row = rows.messages.get(id)
        if state.message(id) is None:
            yield f"takes message {row.seq if row else id}, which does not wait"
        if row and row.taken_by != event.turn:
            yield f"takes message {row.seq}, whose row says {row.taken_by or 'nobody'} took it"
        elif row and row.taken_as != _taken_as(state, event, id):
            yield f"message {row.seq} is taken as {_taken_as(state, event, id)}, its row says {row.taken_as}"


def message_is_dropped_once(state: State, event: EventRow, rows: Rows) -> Sentences:
    """INV2: what is cancelled or passed over waited until then, and its row says so."""
    if event.type not in {"message_cancelled", "message_passed_over"}:
        return
    id = event.one("message")
    row, fate = rows.messages.get(id), event.type.removeprefix("message_").replace("_", " ")
    is_held = fate == "cancelled" and any(held.id == id for held in state.held)
    if state.message(id) is None and not is_held:
        yield f"message {row.seq if row else id} is {fate} and does not wait"
    if row and row.fates != [fate]:
        yield f"message {row.seq} is {fate}, its row says {' and '.join(row.fates) or 'nothing'}"


def message_is_held_by_its_turn(state: State, event: EventRow, _: Rows) -> Sentences:
    """INV2: what is held waited until then and is of the author its turn works for; what is let go was held, and its
    own author or the system let it go."""
    id = event.one("message")
    if event.type == "message_held":
        message = state.message(id)
        if message is None:
            yield f"holds message {id}, which does not wait"
        elif author(message.author) != author(event.actor):
            yield f"a turn for {whom(event.actor)} holds message {message.seq} of {message.author}"
    if event.type == "message_released":
        held = next((one for one in state.held if one.id == id), None)
        if held is None:
            yield f"lets message {id} go, which is not held"
        elif kind(event.actor) != "system" and event.actor != held.author:
            yield f"{event.actor} lets message {held.seq} of {held.author} go"


def takes_in_order(state: State, event: EventRow, _: Rows) -> Sentences:
    """INV3: a turn takes from the oldest waiting message on, without a gap, from one author; after a reply, from
    there on, for a reply may overtake what waited before its question."""
    taken, waiting = event.taken, state.waiting
    if not taken:
        return
    paused = state.turns.get(event.one("resumes"))
    if paused and paused.reply:
        waiting = [message for message in waiting if message.seq >= _seq_of(state, paused.reply)]
    due = waiting[: len(taken)]
    if tuple(message.id for message in due) != taken:
        oldest = waiting[0].seq if waiting else "none"
        yield f"takes {len(taken)} messages that are not the oldest waiting, which start at {oldest}"
    if len({author(message.author) for message in state.waiting if message.id in taken}) > 1:
        yield "takes messages of several authors at once"


def reply_is_the_first(state: State, event: EventRow, _: Rows) -> Sentences:
    """INV3: the reply is the oldest waiting message of a person or client posted after the question."""
    turn = state.turns.get(event.turn or "")
    if event.type != "question_answered" or turn is None or not event.one("message"):
        return
    after = (message for message in state.waiting if message.seq > turn.asked_seq)
    first = next((message for message in after if kind(message.author) in {"person", "client"}), None)
    if first is None or first.id != event.one("message"):
        yield f"the reply is not message {first.seq if first else 'of anyone'}, the first after the question"
    elif whom(first.author) != whom(event.actor):
        yield f"message {first.seq} of {first.author} is the answer of {event.actor}"


def one_turn_runs(state: State, event: EventRow, _: Rows) -> Sentences:
    """INV4: a turn starts when none runs."""
    if event.type == "turn_started" and state.running:
        yield f"a turn starts while turn {state.running.id} runs"


def lease_never_goes_back(state: State, event: EventRow, rows: Rows) -> Sentences:
    """INV4: what a turn writes carries the epoch it was claimed in, and epochs never decrease."""
    if event.turn is None:
        return
    if event.lease_epoch < state.lease_epoch:
        yield f"lease epoch {event.lease_epoch} comes after {state.lease_epoch}"
    turn = state.turns.get(event.turn)
    if turn and turn.status == RUNNING and event.type != "turn_started" and event.lease_epoch != turn.epoch:
        yield f"a turn of lease epoch {turn.epoch} writes in epoch {event.lease_epoch}"
    row = rows.turns.get(event.turn)
    if row and event.type == "turn_started" and row.lease_epoch != event.lease_epoch:
        yield f"the turn starts in lease epoch {event.lease_epoch}, its row says {row.lease_epoch}"


def only_a_running_turn_acts(state: State, event: EventRow, _: Rows) -> Sentences:
    """INV4: a turn does something only from its start to its end or pause; the call that asked ends with the answer."""
    if event.turn is None or event.type in ABOUT_TURNS:
        return
    turn = state.turns.get(event.turn)
    may = {RUNNING, PAUSED} if event.type == "call_ended" else {RUNNING}
    if turn is None or turn.status not in may:
        yield f"turn {event.turn} acts though it is {turn.status if turn else 'not running'}"


def turn_begins_once(state: State, event: EventRow, rows: Rows) -> Sentences:
    """INV15: a turn has its row, starts once, and resumes only one that is paused and has its answers."""
    if event.type != "turn_started" or event.turn is None:
        return
    row = rows.turns.get(event.turn)
    if row is None or (row.seq, row.number) != (event.seq, event.data.get("number")):
        yield f"turn {event.turn} has no row that says it starts here"
    if state.counted["turns"] + 1 != event.data.get("number"):
        yield f"turn number {event.data.get('number')} is the thread's {state.counted['turns'] + 1}th"
    if resumes := event.one("resumes"):
        paused = state.turns.get(resumes)
        if paused is None or paused.status != PAUSED or paused.questions:
            yield f"it resumes turn {resumes}, which is {'not answered' if paused else 'not paused'}"


def turn_ends_once(state: State, event: EventRow, rows: Rows) -> Sentences:
    """INV15: a turn that runs is paused or ends; a paused one is answered, resumed or ends; then there is no more."""
    if event.type not in {"turn_paused", "question_answered", "turn_ended"}:
        return
    turn = state.turns.get(event.turn or "")
    wanted = {"turn_paused": {RUNNING}, "question_answered": {PAUSED}, "turn_ended": {RUNNING, PAUSED}}[event.type]
    if turn is None or turn.status not in wanted:
        yield f"turn {event.turn} has no {event.type}: it is {turn.status if turn else 'over'}"
    row = rows.turns.get(event.turn or "")
    if event.type == "turn_ended" and row and row.status != event.one("status"):
        yield f"turn {row.number} ends {event.one('status')}, its row says {row.status}"
    if event.type == "question_answered" and turn and not set(event.many("questions")) <= turn.questions:
        yield "a question that is not open is answered"


def calls_end_with_their_turn(state: State, event: EventRow, rows: Rows) -> Sentences:
    """INV15: a turn that ends or is resumed leaves no call or question open; one that pauses, only calls that ask."""
    over = {"turn_paused": event.turn, "turn_ended": event.turn, "turn_started": event.one("resumes")}
    turn = state.turns.get(over.get(event.type) or "")
    if turn is None:
        return
    for call, asks in turn.calls.items():
        if not (asks and event.type == "turn_paused"):
            yield f"call {call} is open though its turn is over"
    for question in rows.questions.values():
        is_open = question.answered_by is None and not question.dismissed
        if question.turn == turn.id and is_open and event.type == "turn_ended":
            yield f"question {question.id} is open though its turn is over"


def call_ends_once(state: State, event: EventRow, rows: Rows) -> Sentences:
    """INV15: a call has its row, starts in its own turn and ends once, as its row says. One that waits for consent, or
    of which nobody knows whether it was done, may begin again in another turn, or move to another outcome in none; one
    that is done may be undone."""
    if event.type not in {"call_started", "call_ended"}:
        return
    id, turn = event.one("call"), state.turns.get(event.turn or "")
    row, again = rows.calls.get(id), event.one("call") in state.unsettled
    if row is None:
        yield f"call {id} has no row"
    elif event.type == "call_started":
        if row.turn != event.turn and not again:
            yield f"call {id} has no row in its turn"
    elif row.outcome != event.one("outcome") and not (row.moved_from and event.one("outcome") in MOVES):
        yield f"call {id} ends {event.one('outcome')}, its row says {row.outcome}"
    if event.type == "call_ended" and not _may_end(turn, event, again=again):
        yield f"call {id} ends though it is not open"


def _may_end(turn: OpenTurn | None, event: EventRow, *, again: bool) -> bool:
    if event.turn is None:
        return again or event.one("outcome") in {"done", "undone"}
    return turn is None or event.one("call") in turn.calls


def text_is_what_was_posted(_: State, event: EventRow, rows: Rows) -> Sentences:
    """Chain: a message's text is the one whose salted hash the log holds."""
    row = rows.messages.get(event.one("message"))
    if event.type == "message_posted" and row and not is_what_was_posted(row, event.one("content")):
        yield f"the text of message {row.seq} is not what was posted"


def _taken_as(state: State, event: EventRow, message: str) -> str:
    if event.type == "message_taken":
        return event.one("taken_as")
    paused = state.turns.get(event.one("resumes"))
    return "reply" if paused and paused.reply == message else "prompt"


def _seq_of(state: State, message: str) -> int:
    found = state.message(message)
    return found.seq if found else 0


RULES: Mapping[str, tuple[Rule, ...]] = {
    "INV1": (
        message_is_by_its_author,
        turn_is_for_one,
        takes_from_its_author,
        turn_keeps_whom_it_is_for,
        answer_is_by_who_gave_it,
        call_is_shared_by_its_person,
    ),
    "INV2": (message_has_its_row, message_is_taken_once, message_is_dropped_once, message_is_held_by_its_turn),
    "INV3": (takes_in_order, reply_is_the_first),
    "INV4": (one_turn_runs, lease_never_goes_back, only_a_running_turn_acts),
    "INV5": (has_authority, revision_is_the_events, delegation_has_its_row),
    "INV8": (
        proposal_is_by_its_proposer,
        proposal_is_resolved_once,
        nobody_resolves_their_own,
        accepted_is_what_was_proposed,
    ),
    "INV15": (turn_begins_once, turn_ends_once, calls_end_with_their_turn, call_ends_once),
    "chain": (text_is_what_was_posted,),
}
"""Every rule on single events, by the invariant that it is part of."""
