"""What a document was: its history, any two versions compared, one brought back or downloaded (DESIGN 4 and 11)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collab import events
from collab.errors import Conflict, Invalid, NoSuchVersion
from collab.models.documents import Document, Revision
from collab.models.proposals import Proposal
from collab.services.documents import (
    document_archive,
    document_create,
    document_edit,
    document_restore,
    document_restore_version,
    document_save,
)
from collab.services.proposals import proposal_accept
from collab.services.threads import thread_create, thread_mode_set
from collab.services.workspaces import member_role_set
from collab.web.comparing import comparison, earlier
from collab.web.documents import filename
from collab.web.pane import mark, pane
from collab.web.versions import PAGE, history
from permissions.errors import NotFound, Refused
from permissions.roles import Role
from permissions.services import grant_give
from tests.support.cast import PLAN, Someone, Studio
from tests.support.reading import facts, text_of

pytestmark = pytest.mark.django_db


def saves(someone: Someone, document: Document, text: str, **more: Any) -> Document:
    """Save a document's text on its newest version."""
    base = Document.objects.values_list("version", flat=True).get(pk=document.pk)
    document_save(actor=someone.actor, document=document.pk, text=text, base_version=base, **more)
    return Document.objects.get(pk=document.pk)


def restores(actor: Any, document: Document, version: int, **more: Any) -> Any:
    base = Document.objects.values_list("version", flat=True).get(pk=document.pk)
    return document_restore_version(
        actor=actor, document=document.pk, version=version, base_version=more.pop("base_version", base), **more
    )


def reads(someone: Someone, name: str, document: Document, **query: Any) -> tuple[int, str]:
    browser = Client()
    browser.force_login(someone.user)
    answer = browser.get(reverse(name, args=[document.pk]), query)
    return answer.status_code, answer.content.decode()


class TestRestoring:
    def test_an_old_version_becomes_the_next_one_and_says_where_it_came_from(self, studio: Studio) -> None:
        saves(studio.ben, studio.document, "Nothing left.")
        written = restores(studio.ben.actor, studio.document, 1, thread=studio.thread.id)
        assert (written.version, written.summary) == (3, "Launch plan is at version 3.")
        first, last = (Revision.objects.get(document=studio.document, version=version) for version in (1, 3))
        assert (last.data, last.title) == (first.data, first.title)
        assert last.patch[-1] == {"restored": 1}
        assert facts(studio.thread)[-1] == events.DocumentChanged(studio.document.id, 3)

    def test_its_title_comes_back_with_it(self, studio: Studio) -> None:
        document_edit(actor=studio.ana.actor, document=studio.document.id, title="Big plan")
        restores(studio.ana.actor, studio.document, 1)
        assert Document.objects.get(pk=studio.document.pk).title == "Launch plan"

    def test_one_that_reads_as_the_newest_changes_nothing(self, studio: Studio) -> None:
        written = restores(studio.ana.actor, studio.document, 1)
        assert (written.version, written.summary) == (1, "Launch plan is unchanged, at version 1.")

    def test_who_may_only_propose_suggests_it_and_accepting_brings_it_back(self, studio: Studio) -> None:
        saves(studio.ana, studio.document, "Nothing left.")
        member_role_set(
            actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.CONTRIBUTOR
        )
        written = restores(studio.ben.actor, studio.document, 1, thread=studio.thread.id)
        proposal = written.proposal
        assert (written.document, proposal.rationale) == (None, "Brings version 1 back.")
        assert text_of(studio.document) == "Nothing left."
        proposal_accept(actor=studio.ana.actor, proposal=proposal.id)
        assert text_of(studio.document) == PLAN

    def test_who_may_change_may_suggest_it(self, studio: Studio) -> None:
        saves(studio.ana, studio.document, "Nothing left.")
        written = restores(
            studio.ben.actor, studio.document, 1, thread=studio.thread.id, propose=True, rationale="We need it."
        )
        assert (written.document, written.proposal.rationale) == (None, "We need it.")

    def test_an_agent_in_suggest_mode_only_suggests_it(self, studio: Studio) -> None:
        saves(studio.ana, studio.document, "Nothing left.")
        thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
        assert restores(studio.robin.acting_for(studio.ana, studio.thread), studio.document, 1).proposal is not None

    def test_what_cannot_be_is_refused_with_its_own_code(self, studio: Studio, zoe: Someone) -> None:
        document = saves(studio.ana, studio.document, "Nothing left.")
        with pytest.raises(NoSuchVersion, match="has no version 9; it is at version 2") as none:
            restores(studio.ana.actor, document, 9)
        assert none.value.code == "no_such_version"
        with pytest.raises(Conflict, match="changed since version 1"):
            restores(studio.ana.actor, document, 1, base_version=1)
        with pytest.raises(Refused, match="Vera may only view Launch plan"):
            restores(studio.vera.actor, document, 1)
        with pytest.raises(NotFound):
            restores(zoe.actor, document, 1)
        document_archive(actor=studio.ana.actor, document=document.pk)
        with pytest.raises(Invalid, match="is archived; bring it back"):
            restores(studio.ana.actor, document, 1)
        assert Revision.objects.filter(document=document).count() == 3

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(texts=st.lists(st.text("ab c\n-[]x", max_size=30), min_size=1, max_size=5), data=st.data())
    def test_whatever_was_written_a_version_comes_back_as_it_was(
        self, studio: Studio, texts: list[str], data: st.DataObject
    ) -> None:
        kind = data.draw(st.sampled_from(["markdown", "checklist"]))
        made = document_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Notes", kind=kind)
        assert made.document is not None
        for text in texts:
            saves(studio.ana, made.document, text)
        last = Revision.objects.filter(document=made.document).count()
        version = data.draw(st.integers(1, last))
        restores(studio.ana.actor, made.document, version)
        was = Revision.objects.get(document=made.document, version=version)
        assert Document.objects.get(pk=made.document.pk).data == was.data


class TestHistory:
    def test_it_says_who_changed_what_for_whom_and_what_it_went_through(self, studio: Studio) -> None:
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        edit = [{"find": "Budget: 900.", "replace": "Budget: 950."}]
        document_edit(actor=robin, document=studio.document.id, edits=edit)
        suggested = document_edit(
            actor=robin, document=studio.document.id, edits=[{"find": "for 12", "replace": "for 14"}], propose=True
        )
        assert suggested.proposal is not None
        proposal_accept(actor=studio.ben.actor, proposal=suggested.proposal.id)
        restores(studio.ben.actor, studio.document, 2)
        document_archive(actor=studio.ben.actor, document=studio.document.id)
        document_restore(actor=studio.ben.actor, document=studio.document.id)
        told = history(studio.vera.actor, Document.objects.get(pk=studio.document.pk)).versions
        assert [(one.version, one.by, one.change) for one in told] == [
            (6, "Ben", "Brought back from the archive."),
            (5, "Ben", "Archived."),
            (4, "Ben", "Brought version 2 back. 1 line changed."),
            (3, "Proposed by Robin for Ana, accepted by Ben", "1 line changed."),
            (2, "Robin for Ana", "1 line changed."),
            (1, "Ana", "Made."),
        ]
        assert told[4].glimpse == (("same", "Budget: "), ("del", "900"), ("ins", "950"), ("same", "."))

    def test_a_proposal_that_was_accepted_with_edits_says_so(self, studio: Studio) -> None:
        suggested = document_edit(
            actor=studio.robin.acting_for(studio.ana, studio.thread), document=studio.document.id, propose=True,
            edits=[{"find": "for 12", "replace": "for 14"}],
        )  # fmt: skip
        assert suggested.proposal is not None
        proposal_accept(actor=studio.ben.actor, proposal=suggested.proposal.id, text=PLAN.replace("12", "16"))
        (last, _) = history(studio.ana.actor, Document.objects.get(pk=studio.document.pk)).versions
        assert last.by == "Proposed by Robin for Ana, accepted by Ben with edits"

    def test_the_thread_is_named_only_to_who_may_see_it(self, studio: Studio, zoe: Someone) -> None:
        saves(studio.ben, studio.document, "Shorter.", thread=studio.thread.id)
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.document)
        status, page = reads(studio.vera, "document-history", studio.document)
        assert (status, page.count("in <a class")) == (200, 2)
        status, page = reads(zoe, "document-history", studio.document)
        assert status == 200
        assert "Launch dinner" not in page
        assert str(studio.thread.id) not in page

    def test_older_versions_come_a_step_at_a_time(self, studio: Studio) -> None:
        for number in range(PAGE + 4):
            saves(studio.ana, studio.document, f"Version {number}.")
        document = Document.objects.get(pk=studio.document.pk)
        first = history(studio.ana.actor, document)
        second = history(studio.ana.actor, document, before=first.before)
        versions = [one.version for step in (first, second) for one in step.versions]
        assert versions == list(range(PAGE + 5, 0, -1))
        assert (first.before, second.before) == (6, None)
        _, page = reads(studio.ana, "document-history", document)
        assert "?before=6" in page
        _, page = reads(studio.ana, "document-history", document, before=6)
        assert "before=" not in page

    def test_a_document_of_another_workspace_has_none_for_who_may_not_see_it(
        self, studio: Studio, zoe: Someone
    ) -> None:
        for name in ("document-history", "document-compare", "document-version", "document-download"):
            assert reads(zoe, name, studio.document)[0] == 404


class TestComparing:
    def test_any_two_versions_are_compared_word_by_word_in_either_order(self, studio: Studio) -> None:
        saves(studio.ben, studio.document, PLAN.replace("Friday", "Saturday"))
        saves(studio.ana, studio.document, PLAN.replace("Friday", "Saturday").replace("900", "950"))
        _, page = reads(studio.vera, "document-compare", studio.document, **{"from": 1, "to": 3})
        assert '<del><span class="vh">removed: </span>Friday</del>' in page
        assert '<ins><span class="vh">added: </span>Saturday</ins>' in page
        assert "2 lines changed." in page
        _, swapped = reads(studio.vera, "document-compare", studio.document, **{"from": 3, "to": 1})
        assert swapped.split('id="part"')[1] == page.split('id="part"')[1]
        _, newest = reads(studio.vera, "document-compare", studio.document)
        assert "From version 2 to version 3" in newest

    def test_a_changed_title_is_shown_and_so_are_the_rows_of_a_checklist(self, studio: Studio) -> None:
        made = document_create(
            actor=studio.ana.actor, workspace=studio.workspace.id, title="Guests", kind="checklist",
            text="- [ ] Ada\n- [ ] Bob",
        ).document  # fmt: skip
        assert made is not None
        document_edit(actor=studio.ana.actor, document=made.id, title="People", edits=[{"check": "Bob"}])
        _, page = reads(studio.vera, "document-compare", made)
        assert "removed: </span>Guests</del>" in page
        assert "added: </span>People</ins>" in page
        assert "1 line changed." in page

    def test_what_a_version_holds_is_text_and_never_markup(self, studio: Studio) -> None:
        saves(studio.ben, studio.document, "<script>alert(1)</script> <b>bold</b>")
        _, page = reads(studio.vera, "document-compare", studio.document)
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page

    @pytest.mark.parametrize("name", ["document-compare", "document-version", "document-download", "document-history"])
    @pytest.mark.parametrize("value", ["-1", "1.5", "one", "١", "9" * 400, "1e3", "0x1", " 1", "%00"])
    def test_what_is_no_version_is_said_to_be_none(self, studio: Studio, name: str, value: str) -> None:
        key = {"document-compare": "from", "document-history": "before"}.get(name, "version")
        status, page = reads(studio.vera, name, studio.document, **{key: value})
        assert status == 400
        assert "A version is a whole number, like 3." in page

    @pytest.mark.parametrize("name", ["document-compare", "document-version", "document-download"])
    @pytest.mark.parametrize("value", ["0", "2", "999999999"])
    def test_a_version_that_never_was_is_not_found(self, studio: Studio, name: str, value: str) -> None:
        key = "to" if name == "document-compare" else "version"
        status, page = reads(studio.vera, name, studio.document, **{key: value})
        assert status == 404
        assert f"Launch plan has no version {value}; it is at version 1." in page

    def test_beside_a_thread_of_another_workspace_there_is_nothing(self, studio: Studio, zoe: Someone) -> None:
        for value in ("no id", "5b0f2c5e-0000-7000-8000-000000000000"):
            for name in ("document-pane", "document-compare", "document-version", "document-history"):
                assert reads(studio.ana, name, studio.document, thread=value)[0] == 404


class TestAnOldVersion:
    def test_it_is_shown_as_it_was_with_what_the_reader_may_do(self, studio: Studio) -> None:
        saves(studio.ben, studio.document, "Nothing left.", thread=studio.thread.id)
        _, page = reads(studio.ben, "document-version", studio.document, version=1)
        assert "Dinner on Friday for 12." in page
        assert "Nothing left." not in page
        assert "Restore version 1" in page
        assert "Suggest restoring it" in page
        _, page = reads(studio.vera, "document-version", studio.document, version=1)
        assert "Dinner on Friday for 12." in page
        assert "Restore" not in page

    def test_a_form_brings_it_back(self, studio: Studio) -> None:
        saves(studio.ben, studio.document, "Nothing left.")
        browser = Client()
        browser.force_login(studio.ben.user)
        form = {"act": "restore", "version": 1, "base_version": 2}
        answer = browser.post(reverse("document-act", args=[studio.document.pk]), form, follow=True)
        assert "Launch plan is at version 3." in answer.content.decode()
        assert text_of(studio.document) == PLAN
        again = browser.post(reverse("document-act", args=[studio.document.pk]), form, follow=True)
        assert "Launch plan changed since version 2" in again.content.decode()

    def test_a_suggestion_from_a_documents_own_page_stands_in_a_thread_that_follows_it(self, studio: Studio) -> None:
        thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Elsewhere")
        browser = Client()
        browser.force_login(studio.ben.user)
        page = browser.get(reverse("document", args=[studio.document.pk])).content.decode()
        assert f'name="thread" value="{studio.thread.id}"' in page
        form = {
            "text": "Shorter.", "base_version": 1, "propose": "on", "thread": str(studio.thread.id), "rationale": "Why"
        }  # fmt: skip
        answer = browser.post(reverse("document-save", args=[studio.document.pk]), form, follow=True)
        assert "A change to Launch plan was suggested; someone else must accept it." in answer.content.decode()
        assert (Proposal.objects.get().rationale, text_of(studio.document)) == ("Why", PLAN)


class TestDownloading:
    def test_it_is_markdown_and_a_checklists_items_are_boxes(self, studio: Studio) -> None:
        made = document_create(
            actor=studio.ana.actor, workspace=studio.workspace.id, title="Gäste: A/B", kind="checklist",
            text="- [ ] Ada\n- [x] Bob",
        ).document  # fmt: skip
        assert made is not None
        document_edit(actor=studio.ana.actor, document=made.id, edits=[{"check": "Ada"}])
        browser = Client()
        browser.force_login(studio.vera.user)
        answer = browser.get(reverse("document-download", args=[made.pk]), {"version": 1})
        assert answer.content.decode() == "- [ ] Ada\n- [x] Bob\n"
        assert answer["Content-Type"] == "text/markdown; charset=utf-8"
        assert answer["Content-Disposition"] == "attachment; filename*=utf-8''G%C3%A4ste%20A%20B%20v1.md"
        newest = browser.get(reverse("document-download", args=[made.pk]))
        assert newest.content.decode() == "- [x] Ada\n- [x] Bob\n"

    @given(title=st.text(max_size=300), version=st.integers(1, 999_999_999))
    def test_whatever_its_title_the_name_of_the_file_is_one_name(self, title: str, version: int) -> None:
        name = filename(title, version)
        assert name.endswith(f" v{version}.md")
        assert not set(name) & set('/\\:*?"<>|\r\n\0')
        assert not name.startswith(".")
        assert len(name) < 120


class TestQueries:
    """What a pane and a page of a document's past read does not grow with its versions, people or threads."""

    @pytest.fixture
    def long(self, studio: Studio) -> Document:
        for number in range(PAGE + 5):
            thread = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title=f"Thread {number}")
            who = studio.robin.acting_for((studio.ana, studio.ben)[number % 2], thread)
            written = document_edit(
                actor=who, document=studio.document.id, edits=[{"append": f"Line {number}."}], propose=number % 4 == 0
            )
            if written.proposal is not None and number % 8 == 0:
                proposal_accept(actor=studio.ben.actor, proposal=written.proposal.id)
        return Document.objects.get(pk=studio.document.pk)

    @pytest.fixture
    def short(self, studio: Studio) -> Document:
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        made = document_create(actor=robin, workspace=studio.workspace.id, title="Short", kind="markdown").document
        assert made is not None
        for number in range(2):
            suggested = document_edit(
                actor=robin, document=made.id, edits=[{"append": f"Line {number}."}], propose=True
            ).proposal
            assert suggested is not None
            if number == 0:
                proposal_accept(actor=studio.ben.actor, proposal=suggested.id)
        return Document.objects.get(pk=made.pk)

    @pytest.mark.parametrize(
        ("read", "allowed"),
        [
            (history, 6),
            (lambda who, document: comparison(who, document, 1, 2), 5),
            (lambda who, document: earlier(who, document, 1), 3),
            (lambda who, document: pane(who.id, document), 11),
            (lambda who, document: mark(document), 1),
        ],
        ids=["history", "compare", "version", "pane", "mark"],
    )
    def test_a_document_of_many_versions_costs_what_one_of_few_does(
        self, studio: Studio, long: Document, short: Document, queries: Any, read: Any, allowed: int
    ) -> None:
        costs = []
        for document in (short, long):
            with queries() as sent:
                read(studio.ben.actor, document)
            sent.at_most(allowed)
            costs.append(len(sent))
        assert costs[0] == costs[1]
