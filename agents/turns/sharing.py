"""Sharing a call: what it asked and brought is its person's until they let everyone in the thread see it (DESIGN 6)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from agents.models.turns import Call, Turn
from collab.errors import Gone, Invalid
from collab.events import CallShared
from collab.log import append, thread_locked
from collab.selectors import told
from collab.services.checks import require_open
from permissions.actors import Actor, Person, System
from permissions.decisions import Action
from permissions.errors import NotFound, Refused
from permissions.gate import require
from permissions.grants import names_of

MOST_SHARED = 40
"""Shared calls of others that a turn is given, at most; the newest."""

SHARED_CHARS = 4_000
"""Characters of one shared call that a turn is given."""


class NotFinished(Invalid):
    """The call is not finished; share it once it is."""

    code = "not_finished"


@dataclass(frozen=True, slots=True)
class Shared:
    """What others shared of one turn, as text, and where the thread's log records the turn's start."""

    seq: int
    text: str


def call_share(*, actor: Actor, call: UUID) -> Call:
    """Let everyone who may see the thread see what a call was asked and what came back, for good.

    Raises:
        NotFound: there is no such call, or the actor may not see its thread.
        Refused: the actor is not the person the call was made for.
        Gone: it is shared already.
        NotFinished: nobody knows yet what comes back.
        Invalid: the thread is archived.
    """
    thread = Call.objects.filter(pk=call).values_list("turn__thread_id", flat=True).first()
    if thread is None:
        raise NotFound()
    with thread_locked(thread) as locked:
        decision = require(actor, Action.VIEW, locked.row, for_write=True)
        found = Call.objects.select_related("turn").defer("turn__history").get(pk=call)
        if not isinstance(actor, Person) or found.turn.principal != actor:
            raise Refused("Only the person it was made for shares a call, in person.")
        require_open(locked.row)
        if found.shared_at is not None:
            raise Gone("You shared it already; everyone here sees it.")
        if found.outcome is None:
            raise NotFinished()
        found.shared_by, found.shared_at = actor, locked.now
        found.save(update_fields=["shared_by", "shared_at"])
        append(locked, CallShared(found.id), actor=actor, grants_epoch=decision.grants_epoch or 0)
        return found


def sharing_turns(turn: Turn, *, since: int) -> QuerySet[Turn]:
    """Return the earlier turns for another author than this turn's of which people shared calls.

    Args:
        since: only turns that the thread's log records from this seq on.
    """
    shared = Call.objects.filter(turn=OuterRef("pk"), shared_at__isnull=False)
    earlier = Turn.objects.filter(Exists(shared), thread_id=turn.thread_id, seq__gte=since, seq__lt=turn.seq)
    # Told apart by columns: an author may have thousands of turns here, and a list of them is read for every turn.
    if turn.on_behalf_of is None:
        return earlier.exclude(on_behalf_of=None, origin=turn.origin)
    return earlier.exclude(on_behalf_of=turn.on_behalf_of)


def shared_of(turns: Collection[UUID]) -> list[Shared]:
    """Return what people shared of some turns, newest turns first; nothing is read where there are none."""
    calls = Call.objects.filter(turn__in=turns, shared_at__isnull=False)
    newest = (
        list(calls.select_related("turn").defer("turn__history").order_by("-turn__seq", "number")[:MOST_SHARED])
        if turns
        else []
    )
    names = names_of(*(call.shared_by for call in newest if call.shared_by)) if newest else {}
    return [
        Shared(seq, "\n".join(_told(call, names) for call in of_turn))
        for seq, of_turn in groupby(newest, key=lambda call: call.turn.seq)
    ]


def _told(call: Call, names: Mapping[UUID, str]) -> str:
    who = told(call.shared_by or System(), names)
    said = f"{who} shared a call of T{call.turn.number}: {call.tool}, {call.outcome}. Asked: {call.args}"
    text = f"{said} Came back: {call.result}" if call.result else said
    return text if len(text) <= SHARED_CHARS else f"{text[:SHARED_CHARS]} … (shortened)"
