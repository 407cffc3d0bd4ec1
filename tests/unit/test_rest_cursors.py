"""Cursors of the API: each fits the thread it was made for and no other."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.clients.rest.cursors import BadCursor, cursor, place_of

THREAD = UUID("0192d1f0-0000-7000-8000-000000000001")


@given(thread=st.uuids(), place=st.integers(0, 2**128 - 1))
def test_a_cursor_stands_for_its_place_in_its_thread(thread: UUID, place: int) -> None:
    assert place_of(cursor(thread, place), thread) == place


@given(thread=st.uuids(), other=st.uuids(), place=st.integers(0, 2**63))
def test_a_cursor_of_another_thread_is_refused(thread: UUID, other: UUID, place: int) -> None:
    if thread != other:
        with pytest.raises(BadCursor):
            place_of(cursor(thread, place), other)


@given(text=st.text(max_size=60))
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(BadCursor):
        place_of(text, THREAD)


def test_a_place_that_the_thread_does_not_have_is_refused() -> None:
    assert place_of(cursor(THREAD, 7), THREAD, most=7) == 7
    with pytest.raises(BadCursor):
        place_of(cursor(THREAD, 8), THREAD, most=7)


def test_a_cursor_says_nothing_that_an_address_must_escape() -> None:
    assert {*cursor(uuid4(), 2**127)} <= {*"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"}
