"""An event's JSON: what is written is read, and what is not known is kept as it was (DESIGN 6, Events)."""

from __future__ import annotations

from uuid import UUID

import pytest

from collab.events import MessagePosted, TurnStarted, Unknown, dump, load

ID = UUID("01890a5d-ac96-774b-bcce-b302099a8057")


@pytest.mark.parametrize(
    "fact", [MessagePosted(message=ID, kind="message", content="0f"), TurnStarted(1, "message", took=(ID,), resumes=ID)]
)
def test_what_was_written_is_read_again(fact):
    assert load(fact.type, dump(fact)) == fact


@pytest.mark.parametrize(
    ("type", "text"),
    [
        ("something_new", '{"a":1}'),
        ("mode_changed", '{"mode":"edit","since":3}'),
        ("mode_changed", "{}"),
        ("mode_changed", "[]"),
    ],
)
def test_a_type_or_a_shape_that_is_not_known_is_kept_as_it_was_read(type, text):
    assert load(type, text) == Unknown(type, text)


def test_a_field_that_has_a_default_may_be_missing():
    written = dump(TurnStarted(1, "message", took=())).replace('"continues":null,', "")
    assert load("turn_started", written) == TurnStarted(1, "message", took=())
