"""The log is append-only for everyone who reaches the database, not only for our code (DESIGN 4, Event)."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from collab.models.threads import Event

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="the trigger is PostgreSQL's")


@pytest.mark.parametrize("statement", ["UPDATE collab_event SET type = 'x'", "DELETE FROM collab_event"])
def test_the_database_refuses_to_change_or_delete_an_event(studio, statement):
    before = list(Event.objects.values_list("hash", flat=True))
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert before
    assert list(Event.objects.values_list("hash", flat=True)) == before


@pytest.mark.corrupts
def test_emptying_the_whole_table_stays_possible(studio):
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("TRUNCATE collab_event")
    assert not Event.objects.exists()
