"""What it costs to post a message through the service, beside the rows it writes in raw SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.db import connection, models, transaction

from collab.models.threads import Event, Thread
from collab.services.messages import message_post
from tests.benchmarks import people
from tests.benchmarks.results import Result, p50, ratio_at_most
from tests.benchmarks.run import Run
from tests.benchmarks.timing import alternately
from tests.support.cast import Studio

TEXT = "Dinner for twelve on Friday, please, and a table by the window."


def measure(run: Run) -> list[Result]:
    """Post comments, which start no turn, and write the same rows by hand."""
    made = people.studio()
    by_hand = people.another_thread(made, "By hand")
    took = alternately({"service": _posting(made), "sql": _writing(made, by_hand)}, run.size(400, 60))
    against = "the same three rows in raw SQL, one transaction"
    return [Result("commit of a message, p50", p50(took["service"]), "ms", p50(took["sql"]), against, ratio_at_most(3))]


def _posting(made: Studio) -> Callable[[], object]:
    actor, thread = made.ben.actor, made.thread.id
    return lambda: message_post(actor=actor, thread=thread, content=TEXT, client_id=uuid4().hex, kind="comment")


def _writing(made: Studio, thread: Thread) -> Callable[[], object]:
    """Return what writes a message, its event and the thread's new head without asking or checking anything."""
    posted = message_post(actor=made.ben.actor, thread=thread.id, content=TEXT, client_id="model", kind="comment")
    message = _Row(posted)
    event = _Row(Event.objects.filter(thread=thread).latest("seq"))
    head = f"UPDATE {Thread._meta.db_table} SET head_seq = head_seq + 1, head_hash = %s WHERE id = %s"
    key = Thread._meta.pk.get_db_prep_value(thread.id, connection)
    seq = 1_000

    def write() -> None:
        nonlocal seq
        seq += 1
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(head, ["0" * 64, key])
            cursor.execute(message.sql, message.values(id=uuid4(), seq=seq, client_id=uuid4().hex))
            cursor.execute(event.sql, event.values(id=uuid4(), seq=seq))

    return write


class _Row:
    """A row as one INSERT, with the values that an existing one has where no others are given."""

    def __init__(self, like: models.Model) -> None:
        self._fields = like._meta.concrete_fields
        self._like = {field.attname: self._adapted(field, getattr(like, field.attname)) for field in self._fields}
        names = ", ".join(f'"{field.column}"' for field in self._fields)
        marks = ", ".join(["%s"] * len(self._fields))
        self.sql = f"INSERT INTO {like._meta.db_table} ({names}) VALUES ({marks})"

    def values(self, **changed: Any) -> list[Any]:
        adapted = {
            field.attname: self._adapted(field, changed[field.attname])
            for field in self._fields
            if field.attname in changed
        }
        return list({**self._like, **adapted}.values())

    @staticmethod
    def _adapted(field: Any, value: Any) -> Any:
        return field.get_db_prep_value(value, connection)
