"""How often replies were ruled on, by day, agent, rule, tool and action; never what was written (REPLIES)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from agents.models.replies import ReplyCount
from agents.replies.mending import Ruling
from agents.tools.registry import SETTING

Ruled = tuple[str, str, str]
"""A rule, a tool and an action."""


def rulings_counted(agent: UUID, rulings: Sequence[Ruling]) -> None:
    """Add rulings to today's counts (UTC) once the transaction commits, if there is one: at once otherwise.

    One statement for each distinct rule, tool and action; a day's first one takes two. What goes wrong here is logged
    and fails nothing: a turn matters more than its count.
    """
    if not rulings:
        return
    counted = Counter((ruling.rule, _known(ruling.tool), ruling.action) for ruling in rulings)

    def add() -> None:  # Django logs what fails by its qualified name, which a partial has not
        _add(agent, counted)

    transaction.on_commit(add, robust=True)


def _known(tool: str) -> str:
    """Return a tool's name; "" for one that is none, as models make names up and counts must not grow with them."""
    return tool if tool in SETTING.words.tools else ""


def _add(agent: UUID, counted: Mapping[Ruled, int]) -> None:
    today = timezone.now().date()
    for (rule, tool, action), number in counted.items():
        row = ReplyCount.objects.filter(day=today, agent_id=agent, rule=rule, tool=tool, action=action)
        more = F("number") + number
        if row.update(number=more):
            continue
        try:
            with transaction.atomic():
                ReplyCount.objects.create(day=today, agent_id=agent, rule=rule, tool=tool, action=action, number=number)
        except IntegrityError:
            row.update(number=more)
