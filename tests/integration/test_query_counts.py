"""How many statements the hot paths send, over every connection of the process (BEGIN and COMMIT apart)."""

from __future__ import annotations

import pytest
from django.db import transaction

from collab.commands import run
from permissions.decisions import Action
from permissions.gate import decide_on
from tests.support.cast import Studio
from tests.support.turns import Puppet, Stage, posts, replies, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def spoken(studio: Studio, puppet: Puppet, stage: Stage) -> Studio:
    """A thread in which two people and the agent have spoken, and a stage whose sweep does not disturb the count."""
    for number, someone in enumerate((studio.ana, studio.ben, studio.ana)):
        posts(someone, studio.thread, f"message {number}")
        puppet.is_asked()
        puppet.says(f"reply {number}")
        until(lambda number=number: f"reply {number}" in replies(studio.thread))
    stage.settles()
    stage.loop.call_soon_threadsafe(stage.embedded._sweeper.cancel)
    return studio


def test_a_plain_turn_sends_at_most_20_statements(spoken: Studio, puppet: Puppet, stage: Stage, queries):
    """From the wake-up to the end, in a thread with some history."""
    puppet.says("the reply")
    with queries() as sent:
        posts(spoken.ana, spoken.thread, "one more")
        posting = len(sent)
        puppet.is_asked()
        stage.settles()
    assert replies(spoken.thread)[-1] == "the reply"
    del sent.statements[:posting]
    sent.at_most(20)


def test_one_agent_edit_sends_at_most_12_statements(spoken: Studio, puppet: Puppet, stage: Stage, queries):
    """From the model's call to its recorded outcome; the boundary behind it, which every step has, takes 5 more."""
    posts(spoken.ana, spoken.thread, "raise the budget")
    puppet.is_asked()
    edit = {"find": "900", "replace": "950"}
    with queries() as sent:
        puppet.calls("edit_document", document=str(spoken.document.id), edits=[edit])
        told = puppet.is_asked()
    puppet.says("Raised.")
    stage.settles()
    assert told.returns["edit_document"]["version"] == 2
    boundary = max(place for place, statement in enumerate(sent.statements) if "accord_now() AS now" in statement)
    assert len(sent.statements[boundary:]) <= 5, sent
    del sent.statements[boundary:]
    sent.at_most(12)


def test_a_decision_for_a_write_is_at_most_2_statements(spoken: Studio, queries):
    acting = spoken.robin.acting_for(spoken.ben, spoken.thread)
    with transaction.atomic(), queries() as sent:
        decide_on(acting, Action.CHANGE_DOCUMENT, spoken.document, for_write=True)
    sent.at_most(2)


def test_posting_through_a_command_sends_at_most_12_statements(studio: Studio, queries):
    with queries() as sent:
        run(studio.ben.actor, "message_post", "once", {"thread": str(studio.thread.id), "text": "hello"})
    sent.at_most(12)
