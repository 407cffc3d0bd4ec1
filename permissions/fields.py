"""A column that keeps an actor as one line of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.db import models

from permissions.actors import Actor, dumps, loads

SetT = TypeVar("SetT")
GetT = TypeVar("GetT")

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.expressions import Expression

    class TextColumn(models.Field[SetT, GetT]):
        """What the type checker knows of the column: an actor, or None too where the field says ``null=True``."""

        _pyi_private_set_type: Actor
        _pyi_private_get_type: Actor

else:

    class TextColumn(models.CharField, Generic[SetT, GetT]):
        pass


LONGEST = 200
"""An agent for a client for a person, the longest chain there is, takes 167 characters."""


class ActorField(TextColumn[SetT, GetT]):
    """Keeps an :data:`~permissions.actors.Actor` as :func:`~permissions.actors.dumps` writes it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("max_length", LONGEST)
        super().__init__(*args, **options)

    def from_db_value(self, value: str | None, expression: Expression, connection: BaseDatabaseWrapper) -> Actor | None:
        return None if value is None else loads(value)

    def to_python(self, value: Any) -> Actor | None:
        return loads(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> Any:
        kept = value is None or isinstance(value, str) or hasattr(value, "resolve_expression")
        return value if kept else dumps(value)

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.get_prep_value(self.value_from_object(obj)))
