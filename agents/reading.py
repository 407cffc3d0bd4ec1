"""Replies and calls to be read for someone: pasted ones, and those of turns they may read (REPLIES, The check)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import cast
from uuid import UUID

from agents.models.agents import Agent
from agents.models.turns import Call, Turn
from agents.replies.cases import Case, case_of
from agents.replies.cases import setting_of as setting_of_cases
from agents.replies.figures import Derived
from agents.replies.mending import Setting
from agents.replies.record import Record
from agents.replies.words import compile_words
from agents.tools.phrasings import Wording
from agents.tools.registry import SETTING
from agents.turns.spoken import EARLIER, record_of, setting_of
from collab.canonical import parse_json
from collab.errors import Invalid
from collab.models.threads import Message
from permissions.actors import Person, Principal, same_author
from permissions.decisions import Action, Level
from permissions.errors import NotFound
from permissions.gate import decide_on

LONGEST = 65_536
"""Bytes of a reply and its calls together."""

MOST_CALLS = 200
"""Calls that a reply is held to."""

_NAME = re.compile(r"[A-Za-z][\w.:/-]{0,99}")


def pasted(reply: str, calls: str) -> Case:
    """Return the case of a reply and calls in JSON: a list of them, or a row as ``manage.py replies check`` takes it,
    whose own reply counts where none is given.

    Raises:
        Invalid: they are too long, too many, or cannot be read; the sentence says why.
    """
    if len(reply.encode()) + len(calls.encode()) > LONGEST:
        raise Invalid(f"The reply and its calls are longer than {LONGEST:,} bytes together.")
    try:
        row = parse_json(calls, max_bytes=LONGEST) if calls.strip() else []
        row = {"calls": row} if isinstance(row, list) else row
        given = {"reply": reply} if isinstance(row, dict) and (reply or "reply" not in row) else {}
        case = case_of({**row, **given} if isinstance(row, dict) else row)
    except ValueError as bad:  # also BadJson
        raise Invalid(f"The calls cannot be read: {bad}.") from bad
    if len(case.record.all) > MOST_CALLS:
        raise Invalid(f"There are more than {MOST_CALLS} calls.")
    if not all(_NAME.fullmatch(call.name) for call in case.record.all):
        raise Invalid("The name of a tool begins with a letter and is one word of up to 100 characters.")
    return case


def setting_for(case: Case, *, with_ours: bool, derived: str) -> Setting:
    """Return what a pasted reply is read with.

    Args:
        with_ours: whether this server's tools count too, with their words and phrasings; else only those that the calls
            name, by their names and arguments alone.
        derived: which amounts may be derived (REPLIES 7).
    """
    named = setting_of_cases([case])
    sums = cast("Derived", derived)
    if not with_ours:
        return replace(named, derived=sums)
    tools = {**named.words.tools, **SETTING.words.tools}
    return Setting(compile_words(tools.values()), _edited(SETTING).phrasings, sums)


def of_turn(actor: Person, turn: UUID, reply: str) -> tuple[Case, Setting]:
    """Return a finished turn's reply, or another in its place, with the calls it is held to.

    Calls of earlier turns count where the actor may read them; those of turns for others do not.

    Raises:
        NotFound: there is no such turn, it still runs, or the actor may not read its calls.
    """
    found = Turn.objects.select_related("thread").filter(pk=turn).exclude(status=Turn.Status.RUNNING).first()
    if found is None or decide_on(actor, Action.VIEW, found.thread).level is not Level.ALLOW:
        raise NotFound
    calls = list(Call.objects.filter(turn=found, question=None).exclude(outcome=None).order_by("number")[:MOST_CALLS])
    if not all(_is_readable(actor, found.principal, call) for call in calls):
        raise NotFound
    said = reply or Message.objects.filter(turn_id=found.id).values_list("content", flat=True).first() or found.text
    record = Record([record_of(call) for call in calls], [record_of(call) for call in _earlier(actor, found)])
    agent = Agent.objects.get(pk=found.agent_id)
    return Case(said[:LONGEST], record), _edited(setting_of(agent))


def _earlier(actor: Person, turn: Turn) -> Sequence[Call]:
    before = Call.objects.filter(turn__thread_id=turn.thread_id, turn__seq__lt=turn.seq, question=None)
    newest = before.exclude(outcome=None).select_related("turn").defer("turn__history", "turn__text", "turn__known")
    calls = list(newest.order_by("-turn__seq", "-number")[:EARLIER])
    return [call for call in reversed(calls) if _is_readable(actor, call.turn.principal, call)]


def _is_readable(actor: Person, principal: Principal | None, call: Call) -> bool:
    """Say whether someone may read a call's arguments and result: its turn's own person, and everyone once shared."""
    return call.shared_at is not None or (principal is not None and same_author(actor, principal))


def _edited(setting: Setting) -> Setting:
    wording = Wording(setting)
    wording.read()
    return wording.setting
