"""The pages that say why, who can reach an object, and what was given and taken (DESIGN 11)."""

from __future__ import annotations

import asyncio
import csv
import io
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.test import AsyncRequestFactory, Client
from django.urls import reverse

from collab.models.threads import Event
from collab.services.documents import document_edit
from collab.services.threads import thread_mode_set
from collab.services.workspaces import member_role_set, workspace_create
from collab.web import reach
from permissions.actors import System
from permissions.models import GrantChange, User
from permissions.roles import Role
from permissions.services import grant_give, grant_take
from tests.support.cast import Someone, Studio
from tests.support.permitted import team
from tests.support.tampering import Tampered

pytestmark = pytest.mark.django_db

OBJECTS = ["workspace", "thread", "document"]


def signed_in(someone: Someone) -> Client:
    browser = Client()
    browser.force_login(someone.user)
    return browser


def why(studio: Studio, kind: str = "document", **asked: object) -> str:
    query = "&".join(f"{name}={value}" for name, value in asked.items())
    return f"{reverse(f'why-{kind}', args=[getattr(studio, kind).id])}?{query}"


def access(studio: Studio, kind: str) -> str:
    return reverse(f"access-{kind}", args=[getattr(studio, kind).id])


def crowd(studio: Studio, size: int) -> None:
    """Give this many more people view on the document."""
    for _ in range(size):
        name = uuid4().hex
        account = User.objects.create_user(name, display_name=name)
        grant_give(by=studio.ana.actor, holder=account, codename="view", obj=studio.document)


def text(answer) -> str:
    return answer.content.decode()


class TestWhy:
    @pytest.mark.parametrize("kind", OBJECTS)
    def test_everyone_may_ask_about_themselves_on_what_they_may_view(self, studio, kind):
        for someone in (studio.ana, studio.ben, studio.vera):
            answer = signed_in(someone).get(why(studio, kind, do="manage"))
            assert answer.status_code == 200
            assert f"{someone.name}, in person" in text(answer)

    def test_a_viewer_is_told_what_would_have_to_change(self, studio):
        shown = text(signed_in(studio.vera).get(why(studio, do="change_document")))
        assert "Vera may only view Launch plan." in shown
        assert "Give Vera change document on Launch plan or its workspace" in shown

    def test_a_viewer_may_ask_about_the_agent_working_for_them(self, studio):
        asked = why(studio, do="change_document", who=studio.robin.id, **{"for": studio.vera.id})
        assert "Vera may only view Launch plan (Robin may change it)." in text(signed_in(studio.vera).get(asked))

    @pytest.mark.parametrize("named", ["ben", "zoe"])
    def test_who_manages_nothing_learns_nothing_of_others(self, studio, zoe, named):
        about = {"ben": studio.ben, "zoe": zoe}[named]
        browser = signed_in(studio.vera)
        assert browser.get(why(studio, who=about.id)).status_code == 404
        assert browser.get(why(studio, who=studio.robin.id, **{"for": about.id})).status_code == 404

    def test_an_owner_asks_about_everyone_who_ever_held_a_grant_there(self, studio, zoe):
        ana = signed_in(studio.ana)
        assert "Ben may change Launch plan" in text(ana.get(why(studio, who=studio.ben.id, do="change_document")))
        assert ana.get(why(studio, who=zoe.id)).status_code == 404
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.thread, reason="to look")
        grant_take(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.thread)
        shown = text(ana.get(why(studio, "thread", who=zoe.id, do="view")))
        assert "Zoe may not view Launch dinner." in shown
        assert "“to look”" in shown

    def test_an_agent_in_suggest_mode_is_told_with_the_mode_to_set(self, studio):
        thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
        asked = why(studio, who=studio.robin.id, do="change_document", **{"for": studio.ben.id, "in": studio.thread.id})
        shown = text(signed_in(studio.ana).get(asked))
        assert "Only as a proposal" in shown
        assert "Set Launch dinner to edit mode" in shown
        assert "In person, Ben may change Launch plan." in shown

    @pytest.mark.parametrize("asked", [{"who": "x"}, {"for": "x"}, {"in": "x"}])
    def test_what_is_no_id_is_nothing(self, studio, asked):
        assert signed_in(studio.ana).get(why(studio, **asked)).status_code == 404

    @pytest.mark.parametrize("action", ["nothing", "use_tool", "start_turn", "\0"])
    def test_an_action_that_nobody_does_there_is_refused(self, studio, action):
        assert signed_in(studio.ana).get(why(studio, do=action)).status_code == 400

    def test_it_costs_the_same_however_many_people_there_are(self, studio, queries):
        ana, asked = signed_in(studio.ana), why(studio, who=studio.ben.id)
        counts = []
        for _ in range(2):
            with queries() as sent:
                ana.get(asked)
            counts.append(len(sent))
            crowd(studio, 10)
        assert counts[0] == counts[1]


class TestWhyAnEvent:
    @pytest.fixture
    def written(self, studio: Studio) -> Event:
        acting = studio.robin.acting_for(studio.ben, studio.thread)
        document_edit(
            actor=acting, document=studio.document.id, thread=studio.thread.id, edits=[{"find": "900", "replace": "9"}]
        )
        return Event.objects.get(thread=studio.thread, type="document_changed")

    def asked(self, event: Event) -> str:
        return reverse("why-event", args=[event.thread_id, event.seq])

    def test_it_tells_the_grants_of_its_moment(self, studio, written):
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
        thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
        shown = text(signed_in(studio.ana).get(self.asked(written)))
        assert "Robin for Ben may change Launch plan" in shown
        assert "What the record does not show" in shown
        assert "should not have been allowed" not in shown
        assert "What would change it" not in shown

    def test_whom_it_was_for_may_ask_and_others_may_not(self, studio, zoe, written):
        assert signed_in(studio.ben).get(self.asked(written)).status_code == 200
        assert signed_in(studio.vera).get(self.asked(written)).status_code == 403
        assert signed_in(zoe).get(self.asked(written)).status_code == 404

    def test_the_timeline_links_what_its_reader_may_ask_about(self, studio, written):
        timeline = reverse("timeline", args=[studio.thread.id])
        for someone, linked in ((studio.ana, True), (studio.ben, True), (studio.vera, False)):
            assert (self.asked(written) in text(signed_in(someone).get(timeline))) is linked

    def test_every_link_of_the_timeline_leads_to_an_answer(self, studio, written):
        ana = signed_in(studio.ana)
        timeline = text(ana.get(reverse("timeline", args=[studio.thread.id])))
        seqs = [event.seq for event in Event.objects.filter(thread=studio.thread)]
        linked = [seq for seq in seqs if reverse("why-event", args=[studio.thread.id, seq]) in timeline]
        assert linked
        for seq in linked:
            assert ana.get(reverse("why-event", args=[studio.thread.id, seq])).status_code == 200

    @pytest.mark.corrupts
    def test_a_write_that_no_grant_of_its_moment_explains_is_told_as_that(self, studio, written):
        Tampered(studio, None).rewrites("document_changed", grants_epoch=1)
        assert "should not have been allowed" in text(signed_in(studio.ana).get(self.asked(written)))

    @pytest.mark.parametrize("seq", [0, 10**6, 10**30])
    def test_an_event_that_is_not_there_is_nothing(self, studio, seq):
        assert signed_in(studio.ana).get(reverse("why-event", args=[studio.thread.id, seq])).status_code == 404


class TestAccess:
    @pytest.mark.parametrize("kind", OBJECTS)
    def test_it_is_for_who_manages(self, studio, zoe, kind):
        for someone, status in ((studio.ana, 200), (studio.ben, 403), (studio.vera, 403), (zoe, 404)):
            assert signed_in(someone).get(access(studio, kind)).status_code == status
            assert signed_in(someone).get(f"{access(studio, kind)}?as=csv").status_code == status

    def test_it_tells_everyone_and_through_what(self, studio, zoe):
        readers = team("Readers", zoe.user)
        grant_give(by=System(), holder=readers, codename="view", obj=studio.document)
        shown = text(signed_in(studio.ana).get(access(studio, "document")))
        assert "editor on its workspace" in shown
        assert "view on Launch plan, through group Readers" in shown
        assert "Robin" in shown

    def test_who_manages_a_document_alone_is_not_shown_who_is_in_its_workspace(self, studio, zoe):
        for codename in ("view", "manage"):
            grant_give(by=System(), holder=zoe.user, codename=codename, obj=studio.document)
        browser = signed_in(zoe)
        for answer in (text(browser.get(access(studio, "document"))), self.csv(browser, studio, "document")):
            assert "Zoe" in answer
            for name in ("Ana", "Ben", "Vera", "Robin", "editor"):
                assert name not in answer

    def test_a_name_that_a_spreadsheet_would_run_is_text(self, studio, zoe):
        User.objects.filter(pk=zoe.id).update(display_name="=HYPERLINK(1)", username="@sum")
        grant_give(by=System(), holder=zoe.user, codename="view", obj=studio.document)
        rows = list(csv.DictReader(io.StringIO(self.csv(signed_in(studio.ana), studio, "document"))))
        line = next(row for row in rows if "HYPERLINK" in row["name"])
        assert (line["name"], line["account"], line["view"]) == ("'=HYPERLINK(1)", "'@sum", "allow")
        assert all(cell[:1] not in {"=", "+", "-", "@"} for row in rows for cell in row.values())

    def test_the_table_says_what_the_page_says(self, studio):
        found = csv.DictReader(io.StringIO(self.csv(signed_in(studio.ana), studio, "workspace")))
        levels = {row["name"]: (row["view"], row["change_document"], row["manage"]) for row in found}
        assert levels == {
            "Ana": ("allow", "allow", "allow"), "Ben": ("allow", "allow", "deny"),
            "Vera": ("allow", "deny", "deny"), "Robin": ("allow", "allow", "deny"),
        }  # fmt: skip

    def test_a_server_of_sockets_streams_it_too(self, studio):
        request = AsyncRequestFactory().get("/", {"as": "csv"})
        request.user = studio.ana.user
        answer = reach.access(request, studio.workspace.id, "workspace")

        async def sent() -> bytes:
            return b"".join([part async for part in answer.streaming_content])

        assert answer.is_async
        assert asyncio.run(sent()).startswith(b"name,account,kind,view,")

    def test_it_is_paged_and_costs_the_same_however_many_there_are(self, studio, queries):
        ana, counts = signed_in(studio.ana), []
        for _ in range(2):
            with queries() as sent:
                ana.get(access(studio, "document"))
            counts.append(len(sent))
            crowd(studio, 55)
        crowd(studio, 1)
        assert counts[0] == counts[1]
        assert "Page 1 of 2" in text(ana.get(access(studio, "document")))
        assert "Page 2 of 2" in text(ana.get(f"{access(studio, 'document')}?page=999"))

    def csv(self, browser: Client, studio: Studio, kind: str) -> str:
        answer = browser.get(f"{access(studio, kind)}?as=csv")
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        return b"".join(answer.streaming_content).decode()


class TestGrantHistory:
    def address(self, studio: Studio, **asked: object) -> str:
        query = "&".join(f"{name}={value}" for name, value in asked.items())
        return f"{reverse('grant-history', args=[studio.workspace.id])}?{query}"

    def test_it_is_for_who_manages_the_workspace(self, studio, zoe):
        for someone, status in ((studio.ana, 200), (studio.ben, 403), (studio.vera, 403), (zoe, 404)):
            assert signed_in(someone).get(self.address(studio)).status_code == status

    @pytest.fixture
    def given(self, studio: Studio, zoe: Someone) -> Studio:
        until = datetime.now(UTC) + timedelta(days=1)
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="comment", obj=studio.document, reason="for a day",
                   expires_at=until)  # fmt: skip
        grant_take(by=System(), holder=zoe.user, codename="comment", obj=studio.document, reason="enough")
        return studio

    @pytest.mark.parametrize(
        ("asked", "gave", "took"),
        [
            ({}, True, True),
            ({"whom": "ZO"}, True, True),
            ({"whom": "nobody"}, False, False),
            ({"by": "ana", "whom": "zoe"}, True, False),
            ({"by": "system", "whom": "zoe"}, False, True),
            ({"on": "plan"}, True, True),
            ({"on": "dinner"}, False, False),
            ({"codename": "comment", "did": "given", "whom": "zoe"}, True, False),
            ({"did": "taken"}, False, True),
            ({"reason": "day"}, True, False),
            ({"since": "2000-01-01"}, True, True),
            ({"until": "2000-01-01"}, False, False),
        ],
    )
    def test_it_is_searched_by_each_thing_it_tells(self, given, asked, gave, took):
        shown = text(signed_in(given.ana).get(self.address(given, **asked)))
        assert ("gave comment to Zoe on Launch plan" in shown) is gave
        assert ("took comment from Zoe on Launch plan" in shown) is took

    @pytest.mark.parametrize(
        "asked",
        [
            *({"after": "x"}, {"after": "0190aaaa-0000-7000-8000-000000000000"}, {"since": "soon"}, {"did": "stolen"}),
            *({"codename": "x"}, {"by": "x" * 300}, {"until": "9999-12-31"}, {"whom": "%00"}),
        ],
    )
    def test_what_cannot_be_asked_is_refused(self, studio, asked):
        assert signed_in(studio.ana).get(self.address(studio, **asked)).status_code == 400

    def test_another_workspaces_lines_are_not_among_them(self, studio, given, zoe):
        other = workspace_create(actor=zoe.actor, name="Garden")
        shown = text(signed_in(studio.ana).get(self.address(studio)))
        assert "Garden" not in shown
        line = GrantChange.objects.filter(scope_id=other.id).first()
        assert signed_in(studio.ana).get(self.address(studio, after=line.pk)).status_code == 400

    def test_its_pages_hold_every_line_once_and_cost_the_same(self, studio, queries):
        crowd(studio, 60)
        ana, seen, counts, address = signed_in(studio.ana), [], [], self.address(studio, on="plan")
        while address:
            with queries() as sent:
                shown = text(ana.get(address))
            counts.append(len(sent))
            seen += [line for line in shown.split("<li>") if "gave" in line]
            older = shown.partition('href="?')[2].partition('">Older')[0] if ">Older<" in shown else ""
            address = f"{self.address(studio)}{older.replace('&amp;', '&')}" if older else ""
        assert len(seen) == len(set(seen)) == GrantChange.objects.filter(object_id=studio.document.id).count()
        assert len(counts) == 2
        assert counts[1] <= counts[0] + 1
