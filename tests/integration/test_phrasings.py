"""What is said of calls is edited in versions, by administrators, and stands in the next turn (REPLIES, Outcomes)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connections

from agents.models.replies import Phrasing
from agents.phrasing import LONGEST, phrasing_restore, phrasing_set
from agents.replies.phrasings import Phrasings
from agents.tools.phrasings import Wording, phrasings_now
from agents.tools.registry import SETTING
from collab.errors import Invalid
from permissions.actors import Actor, System
from permissions.errors import NotFound, Refused
from permissions.ids import new_id
from permissions.services import grant_take
from tests.support.cast import Someone, Studio
from tests.support.turns import Puppet, Stage, posts, replies, types

EDIT = {"tool": "edit_document", "outcome": "done", "language": "en"}
RAISE = {"document": "Launch plan", "edits": [{"find": "Budget: 900.", "replace": "Budget: 950."}], "version": 1}


def sets(text: str, *, actor: Actor | None = None, **of: str) -> Phrasing | None:
    return phrasing_set(actor=actor or System(), text=text, **{**EDIT, **of})


def texts() -> list[tuple[int, str]]:
    return list(Phrasing.objects.order_by("version").values_list("version", "text"))


@pytest.mark.django_db
class TestEditing:
    def test_appends_a_version_that_says_who_saved_it(self, zoe: Someone) -> None:
        zoe.user.is_superuser = True
        zoe.user.save()
        sets("Changed {argument.document}.")
        saved = sets("{Action} is done.", actor=zoe.actor)
        assert saved is not None
        assert (saved.version, saved.by) == (2, zoe.actor)
        assert texts() == [(1, "Changed {argument.document}."), (2, "{Action} is done.")]
        assert phrasings_now() == {"edit_document": {"en": {"done": "{Action} is done."}}}

    def test_of_a_text_that_stands_changes_nothing(self) -> None:
        assert sets("Changed.") == sets("  Changed. ")
        assert texts() == [(1, "Changed.")]
        assert sets("", outcome="failed") is None

    def test_to_nothing_gives_the_word_back_to_the_pack(self) -> None:
        sets("Changed.")
        sets("")
        assert texts() == [(1, "Changed."), (2, "")]
        assert phrasings_now() == {}

    def test_restores_an_earlier_text_as_a_new_version(self) -> None:
        first = sets("Changed.")
        assert first is not None
        sets("Edited.")
        phrasing_restore(actor=System(), phrasing=first.id)
        assert texts() == [(1, "Changed."), (2, "Edited."), (3, "Changed.")]

    def test_keeps_tools_outcomes_and_languages_apart(self) -> None:
        sets("Changed.")
        sets("Alterado.", language="pt")
        sets("It failed.", outcome="failed")
        sets("Archived.", tool="archive_document")
        assert phrasings_now() == {
            "edit_document": {"en": {"done": "Changed.", "failed": "It failed."}, "pt": {"done": "Alterado."}},
            "archive_document": {"en": {"done": "Archived."}},
        }

    def test_is_for_superusers_in_person(self, studio: Studio) -> None:
        old = sets("Changed.")
        assert old is not None
        studio.ana.user.is_superuser = True
        studio.ana.user.save()
        acting = studio.robin.acting_for(studio.ana, studio.thread)
        for actor in (studio.ben.actor, acting):
            with pytest.raises(Refused, match="Only an administrator may edit phrasings"):
                sets("Mine.", actor=actor)
            with pytest.raises(Refused, match="Only an administrator may edit phrasings"):
                phrasing_restore(actor=actor, phrasing=old.id)
        assert texts() == [(1, "Changed.")]

    @pytest.mark.parametrize(
        ("of", "text", "code", "says"),
        [
            ({"tool": "pay"}, "Paid.", "unknown_tool", "No tool is called that."),
            ({"outcome": "paid"}, "Paid.", "unknown_outcome", "No outcome is called that."),
            ({"language": "xx"}, "Paid.", "unknown_language", "Replies are not phrased in this language."),
            ({}, "Paid {amount}.", "phrasing_refused", "no placeholder is called {amount}"),
            ({}, "Paid {argument.amount}.", "phrasing_refused", "the tool has no argument amount"),
            ({}, "Paid {.", "phrasing_refused", "a brace closes nothing"),
            ({}, "a" * (LONGEST + 1), "phrasing_refused", "the phrasing has 501 characters; at most 500 fit"),
            ({}, "a\0b", "phrasing_refused", "the phrasing holds a NUL"),
            ({}, "\ud800", "phrasing_refused", "the phrasing holds half of a surrogate pair"),
        ],
    )
    def test_says_what_it_refuses(self, of: dict[str, str], text: str, code: str, says: str) -> None:
        with pytest.raises(Invalid) as refused:
            sets(text, **of)
        assert refused.value.code == code
        assert says in refused.value.because
        assert texts() == []

    def test_restores_nothing_that_is_not_there(self) -> None:
        with pytest.raises(NotFound):
            phrasing_restore(actor=System(), phrasing=new_id())


@pytest.mark.django_db(transaction=True)
def test_savers_at_the_same_moment_get_a_version_each() -> None:
    savers, ready = 4, Barrier(4)

    def save(number: int) -> None:
        try:
            ready.wait(timeout=30)
            for turn in range(5):
                sets(f"Saver {number} says {turn}.")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(savers) as pool:
        list(pool.map(save, range(savers)))
    assert [version for version, _ in texts()] == list(range(1, 21))
    assert {text for _, text in texts()} == {f"Saver {number} says {turn}." for number in range(4) for turn in range(5)}


@pytest.mark.django_db
class TestAWording:
    def test_says_what_the_pack_says_until_it_is_read(self) -> None:
        sets("Changed.")
        wording = Wording(SETTING)
        before = wording.setting.phrasings.own
        assert before == SETTING.phrasings.own
        wording.read()
        assert wording.setting.phrasings.own["edit_document"]["en"]["done"] == "Changed."

    def test_keeps_what_nobody_edited_and_leaves_the_packs_alone(self) -> None:
        packs = Phrasings(SETTING.phrasings.own).own["edit_document"]["en"]
        sets("Changed.")
        sets("Alterado.", language="pt")
        wording = Wording(SETTING)
        wording.read()
        own = wording.setting.phrasings.own["edit_document"]
        assert own == {"en": {**packs, "done": "Changed."}, "pt": {"done": "Alterado."}}
        assert SETTING.phrasings.own["edit_document"] == {"en": packs}

    def test_is_read_in_one_query_and_once(self, queries) -> None:
        for tool in ("edit_document", "archive_document", "create_document"):
            sets("It is done.", tool=tool)
        wording = Wording(SETTING)
        with queries() as sent:
            wording.read()
            wording.read()
        assert len(sent) == 1


@pytest.mark.django_db(transaction=True)
class TestAPersonReads:
    def asks(self, studio: Studio, puppet: Puppet) -> None:
        posts(studio.ana, studio.thread, "raise the budget")
        puppet.is_asked()

    def test_the_edited_phrasing_of_a_write_that_the_next_reply_leaves_out(
        self, studio: Studio, puppet: Puppet, stage: Stage
    ) -> None:
        sets("The {result.title} was changed.")
        self.asks(studio, puppet)
        puppet.calls("edit_document", **RAISE)
        puppet.is_asked()
        puppet.says("Is Friday still right?")
        stage.settles()
        assert replies(studio.thread) == ["Is Friday still right?\n\nThe Launch plan was changed."]

    def test_the_edited_phrasing_in_the_place_of_what_is_not_true(
        self, studio: Studio, puppet: Puppet, stage: Stage
    ) -> None:
        sets("Nobody archived anything.", tool="archive_document", outcome="not_attempted")
        self.asks(studio, puppet)
        puppet.says("I've archived the Launch plan.")
        stage.settles()
        assert replies(studio.thread) == ["Nobody archived anything."]

    def test_the_edited_phrasing_in_a_reply_that_breaks_off(self, studio: Studio, puppet: Puppet, stage: Stage) -> None:
        sets("Nobody archived anything.", tool="archive_document", outcome="not_attempted")
        self.asks(studio, puppet)
        puppet.says("I've archived the Launch plan. It was old. And then I", calls=[("ask_person", "{")])
        puppet.is_asked()
        puppet.breaks(RuntimeError("gone"))
        stage.settles()
        (reply,) = replies(studio.thread)
        assert reply.startswith("Nobody archived anything.")
        assert "turn_ended" in types(studio.thread)

    def test_the_edited_phrasing_of_a_refusal_with_its_reason(
        self, studio: Studio, puppet: Puppet, stage: Stage
    ) -> None:
        sets("It was not allowed{because}.", outcome="refused")
        for codename in ("change_document", "propose_document"):
            grant_take(by=studio.ana.actor, holder=studio.robin.user, codename=codename, obj=studio.workspace)
        self.asks(studio, puppet)
        puppet.calls("edit_document", **RAISE)
        puppet.is_asked()
        puppet.says("I've changed the Launch plan.")
        stage.settles()
        (reply,) = replies(studio.thread)
        assert reply.startswith("It was not allowed: Robin may not change")
