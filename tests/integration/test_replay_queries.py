"""Coming back to a thread costs statements by the batch of events, not by the event (DESIGN 9)."""

from __future__ import annotations

import pytest

from collab.web.access import Viewer
from collab.web.frames import event_frames
from tests.benchmarks import history
from tests.support.cast import Studio

pytestmark = pytest.mark.django_db


def test_twenty_turns_are_replayed_with_as_many_statements_as_two(studio: Studio, queries):
    history.fill(studio, studio.thread, 20 * history.EVENTS)
    viewer = Viewer(studio.ben.id, whole=True)
    studio.thread.refresh_from_db()
    head = studio.thread.head_seq
    with queries() as of_many:
        many = event_frames(studio.thread.id, head - 20 * history.EVENTS, [viewer])
    with queries() as of_few:
        few = event_frames(studio.thread.id, head - 2 * history.EVENTS, [viewer])
    assert (len(many.frames), len(few.frames)) == (20 * history.EVENTS, 2 * history.EVENTS)
    assert len(of_many) == len(of_few), of_many
