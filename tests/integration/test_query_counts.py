"""How many statements the hot paths send, over every connection of the process (BEGIN and COMMIT apart)."""

from __future__ import annotations

import pytest

from agents.models.turns import Call
from agents.turns import boundary, history
from collab.services.messages import message_post
from permissions.decisions import Action
from permissions.gate import decide_on
from tests.support.cast import Studio
from tests.support.turns import Puppet, Stage, posts, replies, turns, until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_plain_turn_sends_at_most_20_statements(studio: Studio, puppet: Puppet, stage: Stage, queries):
    """From the wake-up to the end, in a thread that has some history."""
    for text in ("one", "two", "three"):
        posts(studio.ana, studio.thread, text)
        puppet.says(f"reply to {text}")
        stage.settles()
        until(lambda text=text: f"reply to {text}" in replies(studio.thread))
    posts(studio.ben, studio.thread, "four")
    puppet.is_asked(), puppet.is_asked(), puppet.is_asked()
    puppet.says("reply to four")
    until(lambda: "reply to four" in replies(studio.thread))
    stage.settles()
    puppet.is_asked()
    sweeping = stage.embedded._sweeper
    stage.loop.call_soon_threadsafe(sweeping.cancel)
    puppet.says("reply to five")
    with queries() as sent:
        message_post(actor=studio.ana.actor, thread=studio.thread.id, content="five", client_id="five")
        posted = len(sent)
        puppet.is_asked()
        stage.settles()
    print(f"post: {posted}, turn: {len(sent) - posted}\n{sent}")
    assert replies(studio.thread)[-1] == "reply to five"
    del sent.statements[:posted]
    sent.at_most(20)
