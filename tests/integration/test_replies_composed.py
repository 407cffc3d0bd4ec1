"""Agents whose replies are composed from phrasings, and how their amounts may be derived (REPLIES, Composers and 7)."""

from __future__ import annotations

from typing import Any

import pytest

from agents.models.agents import Agent
from agents.models.turns import Call, Question, Turn
from agents.replies.composing import NOTHING_CHANGED
from agents.turns import live
from collab.models.proposals import Proposal
from collab.models.threads import Message
from permissions.roles import CHANGE_DOCUMENT
from permissions.services import grant_take
from tests.support.cast import Studio
from tests.support.turns import Puppet, Stage, outcomes, posts, replies, turns, until

pytestmark = pytest.mark.django_db(transaction=True)

RAISE = {"document": "Launch plan", "edits": [{"find": "Budget: 900.", "replace": "Budget: 950."}], "version": 1}
AGAIN = {"document": "Launch plan", "edits": [{"find": "Budget: 950.", "replace": "Budget: 975."}]}
STALE = {**RAISE, "edits": [{"find": "Budget: 800.", "replace": "Budget: 950."}]}
WRITTEN = "All yours."
"""What the model writes: nothing that the reply check would hold."""


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of all live frames."""
    frames: list[str] = []
    monkeypatch.setattr(live.doorbell, "live", lambda thread, frame: frames.append(frame["text"]))
    return frames


@pytest.fixture
def composed(studio: Studio) -> None:
    """Robin's replies are composed from phrasings."""
    Agent.objects.update(composer=Agent.Composer.TEMPLATE)


def asks(studio: Studio, puppet: Puppet) -> None:
    posts(studio.ana, studio.thread, "raise the budget")
    puppet.is_asked()


@pytest.mark.usefixtures("composed")
class TestComposed:
    def test_people_read_the_phrasings_of_the_writes_in_order_and_nothing_the_model_wrote(
        self, studio: Studio, puppet: Puppet, stage: Stage, shown: list[str]
    ) -> None:
        asks(studio, puppet)
        puppet.says(WRITTEN, calls=[("read_document", {"document": "Launch plan"}), ("edit_document", RAISE)])
        puppet.is_asked()
        puppet.calls("edit_document", **STALE)
        puppet.is_asked()
        puppet.says(WRITTEN)
        stage.settles()
        (reply,) = replies(studio.thread)
        told, refused = reply.split("\n\n")
        assert told == "Launch plan is at version 2."
        assert refused.startswith("I couldn't make the change: ")
        assert "".join(shown) == reply
        assert WRITTEN not in turns(studio.thread)[0].history
        assert told in turns(studio.thread)[0].history

    def test_a_call_is_told_of_as_it_ends_before_the_next_is_asked_for(
        self, studio: Studio, puppet: Puppet, stage: Stage, shown: list[str]
    ) -> None:
        asks(studio, puppet)
        puppet.says(WRITTEN, calls=[("edit_document", RAISE), ("edit_document", AGAIN)])
        told = puppet.is_asked()
        until(lambda: "version 3" in "".join(shown))
        assert WRITTEN not in told.words
        puppet.says("Done and dusted.")
        stage.settles()
        assert replies(studio.thread) == ["Launch plan is at version 2.\n\nLaunch plan is at version 3."]
        assert "".join(shown) == replies(studio.thread)[0]

    def test_a_turn_that_changes_nothing_says_so(self, studio: Studio, puppet: Puppet, stage: Stage) -> None:
        asks(studio, puppet)
        puppet.calls("read_document", document="Launch plan")
        puppet.is_asked()
        puppet.says("The budget is 12,000.")
        stage.settles()
        assert replies(studio.thread) == [NOTHING_CHANGED]

    def test_a_question_in_the_models_words_is_refused_and_offered_to_no_model(
        self, studio: Studio, puppet: Puppet, stage: Stage
    ) -> None:
        asks(studio, puppet)
        puppet.calls("ask_person", question="Which day?")
        told = puppet.is_asked()
        assert "Robin may not ask in its own words" in told.words
        puppet.says(WRITTEN)
        stage.settles()
        assert not Question.objects.exists()
        assert outcomes(turns(studio.thread)[0]) == [("ask_person", "refused", "no_own_words")]
        assert replies(studio.thread) == [NOTHING_CHANGED]

    def test_a_proposal_has_no_reason_in_the_models_words(self, studio: Studio, puppet: Puppet, stage: Stage) -> None:
        grant_take(by=studio.ana.actor, holder=studio.robin.user, codename=CHANGE_DOCUMENT, obj=studio.workspace)
        asks(studio, puppet)
        puppet.calls("edit_document", **RAISE, rationale="The caterer asked for it.")
        puppet.is_asked()
        puppet.says(WRITTEN)
        stage.settles()
        assert Proposal.objects.get().rationale == ""
        assert replies(studio.thread)[0].endswith("was suggested; a person must accept it.")

    def test_a_turn_that_breaks_off_shows_what_its_calls_came_to(
        self, studio: Studio, puppet: Puppet, stage: Stage, shown: list[Any]
    ) -> None:
        asks(studio, puppet)
        puppet.calls("edit_document", **RAISE)
        puppet.is_asked()
        puppet.breaks(RuntimeError("gone"))
        stage.settles()
        assert replies(studio.thread) == ["Launch plan is at version 2."]
        assert turns(studio.thread)[0].status == Turn.Status.FAILED
        assert "".join(shown) == "Launch plan is at version 2."

    def test_the_model_is_told_that_nobody_reads_it(self, studio: Studio, puppet: Puppet, stage: Stage) -> None:
        posts(studio.ana, studio.thread, "raise the budget")
        assert "People do not read what you write here." in puppet.is_asked().words
        puppet.says(WRITTEN)
        stage.settles()

    def test_nothing_a_model_wrote_lies_in_any_text_for_people(
        self, studio: Studio, puppet: Puppet, stage: Stage
    ) -> None:
        asks(studio, puppet)
        puppet.says(WRITTEN, calls=[("edit_document", {**RAISE, "rationale": WRITTEN}), (WRITTEN, {})])
        puppet.is_asked()
        puppet.says(WRITTEN)
        stage.settles()
        posted = Message.objects.filter(turn_id__isnull=False).values_list("content", flat=True)
        assert list(posted) == ["Launch plan is at version 2."]
        assert Call.objects.count() == 2


TOTAL = "I've changed the Launch plan. The total is £1,850."


@pytest.mark.parametrize(("derived", "stands"), [("arithmetic", True), ("strict", False), ("off", True)])
def test_an_agents_setting_says_which_sums_its_replies_may_state(
    studio: Studio, puppet: Puppet, stage: Stage, derived: str, stands: bool
) -> None:
    Agent.objects.update(derived=derived)
    asks(studio, puppet)
    for price in ("£900", "£950"):
        puppet.calls("edit_document", document="Launch plan", edits=[{"append": price}])
        puppet.is_asked()
    puppet.says(TOTAL)
    stage.settles()
    assert (replies(studio.thread) == [TOTAL]) is stands
