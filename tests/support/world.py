"""Everything that the database holds of our own, to tell whether something changed and what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Group
from django.db.models import Model

World = dict[str, dict[Any, tuple[Any, ...]]]
"""By table, then by primary key: every row as it is."""

APPS = ("permissions", "collab", "agents")


def models() -> list[type[Model]]:
    """Return every model of ours, and the groups that hold grants."""
    return [*(model for app in APPS for model in apps.get_app_config(app).get_models()), Group, memberships()]


def memberships() -> type[Model]:
    """Return the table that says which account is in which group."""
    through: type[Model] = apps.get_model("permissions", "User").groups.through
    return through


def world(without: Iterable[str] = ()) -> World:
    """Read everything.

    Args:
        without: tables to leave out.
    """
    left_out = set(without)
    found: World = {}
    for model in models():
        table = model._meta.db_table
        if table not in left_out:
            rows = model._default_manager.order_by("pk").values_list("pk", *_columns(model))
            found[table] = {row[0]: tuple(map(repr, row[1:])) for row in rows}
    return found


def changed(before: World, after: World) -> set[str]:
    """Return the tables that differ."""
    return {table for table in before.keys() | after.keys() if before.get(table) != after.get(table)}


def added(before: World, after: World, table: str) -> set[Any]:
    """Return the keys of the rows that a table has gained."""
    return set(after[table]) - set(before[table])


def kept(before: World, after: World, table: str) -> bool:
    """Say whether every row a table had is there as it was."""
    return all(after[table].get(key) == row for key, row in before[table].items())


def _columns(model: type[Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]
