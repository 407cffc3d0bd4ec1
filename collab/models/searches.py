"""What is searched: the words of each thread's title, message and document, kept by triggers (decision 0015)."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Q
from django.db.models.lookups import Lookup

from collab.models.documents import Document
from collab.models.threads import Message, Thread
from collab.searches.install import WORDS_TABLE
from collab.searches.words import Question, Scope, for_postgres, for_sqlite

Wanted = tuple[Question, Sequence[Scope]]
"""What was asked for, and whose words are walked."""

_MATCHED = Template("$row IN (SELECT rowid FROM $words WHERE $words MATCH %s)")


if TYPE_CHECKING:
    TextColumn = models.TextField[str, str]
else:
    TextColumn = models.TextField


class WordsField(TextColumn):
    """Words: a ``tsvector`` on PostgreSQL, on SQLite the text that an FTS5 table indexes. Only triggers write it."""

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "tsvector" if connection.vendor == "postgresql" else "text"


@WordsField.register_lookup
class Holds(Lookup):
    """``words__holds=(question, scopes)``: the words of these scopes answer the question."""

    lookup_name = "holds"
    prepare_rhs = False

    def as_postgresql(self, compiler: Any, connection: BaseDatabaseWrapper) -> tuple[str, list[Any]]:
        """Compare with a tsquery; no text search configuration takes part."""
        words, params = self.process_lhs(compiler, connection)
        return f"{words} @@ CAST(%s AS tsquery)", [*params, for_postgres(*self.rhs)]

    def as_sqlite(self, compiler: Any, connection: BaseDatabaseWrapper) -> tuple[str, list[Any]]:
        """Ask the FTS5 table for rows."""
        row = f"{compiler.quote_name_unless_alias(self.lhs.alias)}.id"
        return _MATCHED.substitute(row=row, words=WORDS_TABLE), [for_sqlite(*self.rhs)]


class Searched(models.Model):
    """One text that is found: of a message (with its thread), of a document, or a thread's title (neither)."""

    id = models.BigAutoField(primary_key=True)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, null=True, db_index=False, related_name="+")
    message = models.OneToOneField(Message, on_delete=models.CASCADE, null=True, related_name="+")
    document = models.OneToOneField(Document, on_delete=models.CASCADE, null=True, related_name="+")
    words = WordsField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["thread"], condition=Q(message__isnull=True), name="one_row_a_title"),
        ]

    def __str__(self) -> str:
        return f"words {self.pk}"
