"""What a slow reader may cost, and how often something may happen."""

from __future__ import annotations

from collab.web.rates import Window
from collab.web.unread import CLOSE_BYTES, CLOSE_FRAMES, PACE_BYTES, Unread


def test_an_acknowledged_event_frees_it_and_all_before_it() -> None:
    unread = Unread()
    unread.sent(10)
    unread.sent(20, seq=1)
    unread.sent(30, seq=2)
    unread.acked(1)
    assert unread.bytes == 30


def test_live_text_after_an_event_is_not_freed_by_its_seq() -> None:
    unread = Unread()
    unread.sent(20, seq=1)
    unread.sent(100)
    unread.acked(1)
    assert unread.bytes == 100


def test_counting_frames_frees_live_text_too() -> None:
    unread = Unread()
    unread.sent(20, seq=1)
    unread.sent(100)
    unread.sent(7)
    unread.acked(1, frames=2)
    assert unread.bytes == 7


def test_an_acknowledgement_from_before_frees_nothing() -> None:
    unread = Unread()
    unread.sent(20, seq=5)
    unread.acked(4, frames=0)
    assert unread.bytes == 20


def test_a_reader_is_paced_and_then_closed() -> None:
    unread = Unread()
    unread.sent(PACE_BYTES, seq=1)
    assert not unread.paces
    unread.sent(1, seq=2)
    assert unread.paces
    assert not unread.closes
    unread.sent(CLOSE_BYTES, seq=3)
    assert unread.closes


def test_many_small_frames_count_too() -> None:
    unread = Unread()
    for seq in range(CLOSE_FRAMES + 1):
        unread.sent(1, seq=seq)
    assert unread.closes


def test_a_window_lets_as_many_through_as_it_says_and_then_tells_how_long_to_wait() -> None:
    window = Window(2, 60.0)
    assert [window.wait(0.0), window.wait(10.0)] == [0.0, 0.0]
    assert window.wait(15.0) == 45.0
    assert window.wait(60.0) == 0.0
    assert window.wait(61.0) == 9.0


def test_what_was_told_to_wait_does_not_count() -> None:
    window = Window(1, 10.0)
    assert window.wait(0.0) == 0.0
    for moment in (1.0, 2.0, 9.0):
        assert window.wait(moment) > 0
    assert window.wait(10.0) == 0.0
