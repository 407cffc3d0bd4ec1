"""Documents that people change while the agent works on them (DESIGN 6, Boundaries; 7)."""

from __future__ import annotations

import pytest
from pydantic_ai.messages import ModelResponse, ThinkingPart

from agents.models.turns import Turn
from agents.turns.history import dump, load
from collab.models.documents import Revision
from collab.services.documents import document_create, document_save
from collab.services.policies import document_policy_set
from collab.services.threads import thread_focus_set
from permissions.services import grant_give, grant_take
from tests.support.cast import PLAN, Studio
from tests.support.reading import text_of
from tests.support.turns import Puppet, Stage, outcomes, posts, turns, until

pytestmark = pytest.mark.django_db(transaction=True)

RAISE = {"document": "Launch plan", "edits": [{"find": "Budget: 900.", "replace": "Budget: 950."}], "version": 1}


def saves(someone, document, text: str, on: int) -> None:
    document_save(actor=someone.actor, document=document.id, text=text, base_version=on)


def test_what_a_person_changes_meanwhile_is_told_to_the_turn_line_by_line(
    studio: Studio, puppet: Puppet, stage: Stage
) -> None:
    posts(studio.ana, studio.thread, "raise the budget")
    puppet.is_asked()
    saves(studio.ben, studio.document, PLAN.replace("for 12", "for 14"), 1)
    saves(studio.ana, studio.document, PLAN.replace("for 12", "for 15"), 2)
    puppet.calls("list_documents")
    words = puppet.is_asked().words
    assert "Launch plan is at version 3, changed by Ben, Ana" in words
    assert "Since version 1:" in words
    assert "- Dinner on Friday for 12.\n+ Dinner on Friday for 15." in words
    puppet.says("Seen.")
    stage.settles()


def test_an_edit_made_on_what_a_person_changed_is_refused_and_the_turn_may_make_it_again(
    studio: Studio, puppet: Puppet, stage: Stage
) -> None:
    posts(studio.ana, studio.thread, "raise the budget")
    puppet.is_asked()
    saves(studio.ben, studio.document, PLAN.replace("900", "800"), 1)
    puppet.calls("edit_document", **RAISE)
    told = puppet.is_asked()
    refused = told.returns["edit_document"]
    assert "changed since version 1 (it is at version 2, by Ben)" in str(refused)
    assert "- Budget: 900.\n+ Budget: 800." in told.words
    assert "Budget: 800." in text_of(studio.document)
    puppet.calls("edit_document", document="Launch plan", edits=[{"find": "800", "replace": "950"}], version=2)
    puppet.is_asked()
    puppet.says("Raised.")
    stage.settles()
    assert "Budget: 950." in text_of(studio.document)
    (turn,) = turns(studio.thread)
    assert [outcome for _, outcome, _ in outcomes(turn)] == ["failed", "done"]
    assert Revision.objects.get(version=3).turn_id == turn.id


def test_what_one_author_was_told_of_a_document_is_not_told_to_another_who_resumes(
    studio: Studio, puppet: Puppet, stage: Stage
) -> None:
    posts(studio.ana, studio.thread, "raise the budget")
    puppet.is_asked()
    saves(studio.ana, studio.document, PLAN.replace("for 12", "for 15"), 1)
    puppet.calls("list_documents")
    assert "for 15." in puppet.is_asked().words
    puppet.calls("ask_person", question="Which day?")
    until(lambda: turns(studio.thread)[0].status == "paused")
    posts(studio.ben, studio.thread, "Friday")
    words = puppet.is_asked().words
    assert "for 15." not in words
    assert "Something of them changed." in words
    puppet.says("Thank you.")
    stage.settles()


def test_what_the_turn_changed_itself_is_not_told_as_anothers(studio: Studio, puppet: Puppet, stage: Stage) -> None:
    posts(studio.ana, studio.thread, "raise the budget")
    puppet.is_asked()
    puppet.calls("edit_document", **RAISE)
    assert "changed by" not in puppet.is_asked().words
    saves(studio.ben, studio.document, PLAN.replace("900", "950").replace("Friday", "Saturday"), 2)
    puppet.calls("list_documents")
    words = puppet.is_asked().words
    assert "Since version 2:" in words
    assert "+ Dinner on Saturday for 12." in words
    assert "+ Budget" not in words
    puppet.says("Seen.")
    stage.settles()


def test_nothing_is_told_of_a_document_the_turns_person_may_not_view(
    studio: Studio, puppet: Puppet, stage: Stage, zoe
) -> None:
    menu = document_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Menu", kind="markdown")
    assert menu.document is not None
    thread_focus_set(actor=studio.ana.actor, thread=studio.thread.id, document=menu.document.id)
    for codename in ("view", "start_turn"):
        grant_give(by=studio.ana.actor, holder=zoe.user, codename=codename, obj=studio.thread)
    posts(zoe, studio.thread, "what is there?")
    puppet.is_asked()
    saves(studio.ana, menu.document, "Truffles, which are a secret.", 1)
    puppet.calls("list_documents")
    words = puppet.is_asked().words
    assert "Menu" not in words
    assert "Truffles" not in words
    puppet.says("Nothing.")
    stage.settles()


def test_a_policy_binds_the_agents_very_next_write(studio: Studio, puppet: Puppet, stage: Stage) -> None:
    posts(studio.ana, studio.thread, "raise the budget, twice")
    puppet.is_asked()
    puppet.calls("edit_document", **RAISE)
    assert puppet.is_asked().returns["edit_document"]["version"] == 2
    document_policy_set(actor=studio.ana.actor, document=studio.document.id, policy="propose", thread=studio.thread.id)
    puppet.calls("edit_document", document="Launch plan", edits=[{"find": "950", "replace": "1000"}])
    told = puppet.is_asked().returns["edit_document"]
    assert told["state"] == "open"
    assert "Launch plan takes changes by agents and clients as proposals" in told["because"]
    puppet.says("Suggested.")
    stage.settles()
    assert "Budget: 950." in text_of(studio.document)


def test_a_turn_whose_person_lost_the_right_to_change_meanwhile_changes_nothing(
    studio: Studio, puppet: Puppet, stage: Stage
) -> None:
    posts(studio.ben, studio.thread, "raise the budget")
    puppet.is_asked()
    for codename in ("change_document", "propose_document"):
        grant_take(by=studio.ana.actor, holder=studio.ben.user, codename=codename, obj=studio.workspace)
    puppet.calls("edit_document", **RAISE)
    assert "Ben" in str(puppet.is_asked().returns["edit_document"])
    puppet.says("I may not.")
    stage.settles()
    assert "Budget: 900." in text_of(studio.document)


def test_what_the_model_thought_for_one_author_is_not_handed_to_another_who_resumes(
    studio: Studio, puppet: Puppet, stage: Stage
) -> None:
    posts(studio.ana, studio.thread, "raise the budget")
    puppet.is_asked()
    puppet.calls("ask_person", question="Which day?")
    until(lambda: turns(studio.thread)[0].status == "paused")
    stage.settles()
    (paused,) = turns(studio.thread)
    asked, answered = load(paused.history)
    thought = ModelResponse(parts=[ThinkingPart("Ana's salary is 900."), *answered.parts])
    Turn.objects.filter(pk=paused.pk).update(history=dump([asked, thought]))
    posts(studio.ben, studio.thread, "Friday")
    given = puppet.is_asked().messages
    assert "ask_person" in str(given)
    assert "salary" not in str(given)
    puppet.says("Thank you.")
    stage.settles()
