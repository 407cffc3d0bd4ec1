"""The list of events is closed (DESIGN 6, Events; decisions 0014 for ``policy_changed`` and 0019 for what is held,
released and repeated): a log written today is read by every later version."""

from __future__ import annotations

from typing import get_args

from collab import events

CATALOGUE = {
    *("thread_created", "thread_changed", "mode_changed", "focus_changed"),
    *("message_posted", "message_taken", "message_cancelled", "message_passed_over"),
    *("message_held", "message_released", "call_repeat_allowed"),
    *("turn_started", "call_started", "call_ended", "call_shared", "turn_paused", "question_answered", "turn_ended"),
    *("action_asked", "action_resolved"),
    *("document_created", "document_changed", "document_archived", "policy_changed"),
    *("proposal_created", "proposal_resolved"),
    *("delivery_admitted", "effect_gone", "timer_set", "timer_fired", "timer_superseded"),
}


def test_every_event_is_in_the_catalogue_and_has_a_type_of_its_own():
    types = [kind.type for kind in get_args(events.Fact)]
    assert "message_posted" in types
    assert len(types) == len(set(types))
    assert set(types) <= CATALOGUE
