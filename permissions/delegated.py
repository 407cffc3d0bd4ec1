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

from permissions.actors import Agent
from permissions.clock import NOW_SQL
from permissions.decisions import Delegated, Level
from permissions.models import DelegationBase, GrantScope

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


@lru_cache
def given_sql(vendor: str) -> str:
    """Return what the query begins with: the delegation that stands, by the parameters of :func:`given_params`."""
    delegations, threads = delegation_model(), _threads()
    return _GIVEN.substitute(
        giver=_GIVER[vendor],
        delegations=connection.ops.quote_name(delegations._meta.db_table),
        threads=connection.ops.quote_name(threads._meta.db_table),
        scope=_scope_column(threads),
        now=NOW_SQL,
    )


def given_params(agent: Agent, scope: UUID) -> list[Any]:
    """Return the parameters of :func:`given_sql` for an agent, where the object that it acts on is of a scope."""
    return [_adapted(id) for id in (agent.thread, agent.id, scope)]


def given_of(columns: Sequence[Any]) -> Delegated | None:
    """Read the columns of :data:`COLUMNS`; without them, or where no delegation stands, there is none."""
    if not columns or columns[0] is None:
        return None
    level, until, giver = columns
    moment = until if isinstance(until, datetime) else datetime.fromisoformat(until).replace(tzinfo=UTC)
    return Delegated(Level[level.upper()], giver if isinstance(giver, UUID) else UUID(giver), moment.astimezone(UTC))


def _threads() -> type[models.Model]:
    fields = delegation_model()._meta.concrete_fields
    related = next((field.related_model for field in fields if field.name == "thread"), None)
    if not (isinstance(related, type) and issubclass(related, models.Model)):
        raise LookupError("a delegation needs a foreign key to its thread")
    return related


def _scope_column(threads: type[models.Model]) -> str:
    (key,) = [
        str(field.column)
        for field in threads._meta.concrete_fields
        if isinstance(field.related_model, type) and issubclass(field.related_model, GrantScope)
    ]
    return connection.ops.quote_name(key)


def _adapted(id: UUID) -> Any:
    return delegation_model()._meta.pk.get_db_prep_value(id, connection)
