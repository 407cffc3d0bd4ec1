"""The delegation that stands for an agent in its thread, read in the one query of a decision (DESIGN 5).

It is a part of that query, so that a delegation and its giver's grants are read as of one moment and cost no statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from string import Template
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import connection, models

from permissions.clock import NOW_SQL
from permissions.decisions import Delegated, Level
from permissions.models import DelegationBase

GIVER = "(SELECT giver FROM given)"
"""The giver's account, in the query that begins with :func:`given_sql`; NULL where no delegation stands."""

COLUMNS = ", given.level, given.until, given.giver"
JOIN = "LEFT JOIN given ON 1 = 1"

_GIVEN = Template("""
WITH given AS (
    SELECT d.level, d.until, $giver AS giver
    FROM $delegations d JOIN $threads t ON t.id = d.thread_id
    WHERE d.thread_id = %s AND d.agent_id = %s AND t.$scope = %s AND d.ended_at IS NULL AND d.until > $now
)
""")

_GIVER = {
    "postgresql": "CASE WHEN SUBSTR(d.given_by, 1, 7) = 'person:' THEN CAST(SUBSTR(d.given_by, 8) AS uuid) END",
    "sqlite": "CASE WHEN SUBSTR(d.given_by, 1, 7) = 'person:' THEN REPLACE(SUBSTR(d.given_by, 8), '-', '') END",
}
"""The account in the line an actor is kept as, the way each database keeps ids."""


@lru_cache
def delegation_model() -> type[DelegationBase]:
    """Return the model that keeps delegations.

    Raises:
        LookupError: there is none, or more than one.
    """
    found = [model for model in apps.get_models() if issubclass(model, DelegationBase)]
    if len(found) != 1:
        raise LookupError("delegations need one model that keeps them")
    return found[0]


def delegating_model() -> type[models.Model]:
    """Return the model of what a delegation holds in.

    Raises:
        LookupError: the model of delegations has no foreign key to it.
    """
    fields = delegation_model()._meta.concrete_fields
    related = next((field.related_model for field in fields if field.name == "thread"), None)
    if not isinstance(related, type):
        raise LookupError("a delegation needs a foreign key to its thread")
    return related


@lru_cache
def given_sql(vendor: str, scope: str) -> str:
    """Return what the query begins with: the delegation that stands, by a thread, an agent and a scope.

    Args:
        scope: the column of :func:`delegating_model` that names its scope.
    """
    quoted = connection.ops.quote_name
    return _GIVEN.substitute(
        giver=_GIVER[vendor],
        delegations=quoted(delegation_model()._meta.db_table),
        threads=quoted(delegating_model()._meta.db_table),
        scope=quoted(scope),
        now=NOW_SQL,
    )


def given_of(columns: Sequence[Any]) -> Delegated | None:
    """Read the columns of :data:`COLUMNS`; without them, or where no delegation stands, there is none."""
    if not columns or columns[0] is None:
        return None
    level, until, giver = columns
    moment = until if isinstance(until, datetime) else datetime.fromisoformat(until).replace(tzinfo=UTC)
    return Delegated(Level[level.upper()], giver if isinstance(giver, UUID) else UUID(giver), moment.astimezone(UTC))
