"""The pages of people and of grants: seen, given until a moment, taken, left; and refused with a line in the log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from structlog.testing import capture_logs

from collab import selectors
from collab.models.grants import WorkspaceUserGrant
from collab.services.holders import workspace_leave
from collab.services.workspaces import member_add, member_role_set
from permissions.actors import Person, System
from permissions.decisions import Action, Level
from permissions.errors import LastOwner, NotFound, OverAlready, ThroughGroup
from permissions.gate import decide_on
from permissions.models import GrantChange, Guarded, User
from permissions.roles import Role
from permissions.services import account_deactivate, grant_give, role_set
from tests.support.cast import Desk, Someone, Studio
from tests.support.permitted import team

HOUR = 3_600
SOON = timedelta(hours=1)


def browser(someone: Someone) -> Client:
    found = Client()
    found.force_login(someone.user)
    return found


def posts(someone: Someone, name: str, id: Any, /, **form: Any) -> str:
    """Send a form and return the page it leads to."""
    content: bytes = browser(someone).post(reverse(name, args=[id]), form, follow=True).content
    return content.decode()


def people(studio: Studio, someone: Someone, **form: Any) -> str:
    return posts(someone, "people", studio.workspace.id, **form)


def sees(someone: Someone, name: str, id: Any) -> str:
    content: bytes = browser(someone).get(reverse(name, args=[id])).content
    return content.decode()


def may(someone: Someone, action: Action, obj: Guarded) -> bool:
    return decide_on(someone.actor, action, obj).level is Level.ALLOW


def moment(seconds: int) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


class TestGroups:
    def test_a_group_is_given_a_role_and_loses_it(self, studio, zoe):
        team("Editors", zoe.user)
        assert "Editors is editor now" in people(studio, studio.ana, act="group", team="Editors", role="editor")
        assert may(zoe, Action.CHANGE_DOCUMENT, studio.document)
        group = Group.objects.get()
        page = people(studio, studio.ana, act="group", group=group.pk, role="")
        assert "Editors holds nothing on the workspace now" in page
        assert not may(zoe, Action.VIEW, studio.document)

    def test_a_group_nobody_made_is_said_not_to_be_there(self, studio):
        assert "There is no such" in people(studio, studio.ana, act="group", team="Nobody's", role="viewer")

    def test_a_group_that_holds_nothing_here_is_not_found_by_its_number(self, studio):
        group = team("Elsewhere")
        assert "There is no such" in people(studio, studio.ana, act="group", group=group.pk, role="viewer")
        assert "Elsewhere" not in sees(studio.ana, "people", studio.workspace.id)

    def test_a_group_of_an_agent_never_manages(self, studio):
        team("Robots", studio.robin.user)
        assert "never manage" in people(studio, studio.ana, act="group", team="Robots", role="owner")

    def test_a_member_through_a_group_is_shown_as_one(self, studio, zoe):
        team("Editors", zoe.user)
        assert "editor through a group" in people(studio, studio.ana, act="group", team="Editors", role="editor")


class TestUntil:
    def test_a_role_until_a_moment_ends_by_the_databases_clock_and_is_shown_as_expired(self, studio, zoe, clock):
        page = people(studio, studio.ana, act="add", username="zoe", role="viewer", until=moment(HOUR))
        assert "Zoe" in page
        assert "until <time" in page
        clock(HOUR + 1)
        assert not may(zoe, Action.VIEW, studio.workspace)
        page = sees(studio.ana, "people", studio.workspace.id)
        assert "Not here at present" in page
        assert "<s>view</s> expired" in page

    def test_another_role_keeps_the_moment_it_stands_until(self, studio):
        until = datetime.now(UTC).replace(microsecond=0) + SOON
        member_role_set(
            actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER, until=until
        )
        people(studio, studio.ana, act="role", user=studio.ben.id, role="editor", until=until.isoformat())
        held = WorkspaceUserGrant.objects.filter(user=studio.ben.user).values_list("expires_at", flat=True)
        assert set(held) == {until}

    def test_a_moment_is_read_in_the_senders_time_zone(self, studio, zoe):
        local = datetime.now(UTC).replace(second=0, microsecond=0, tzinfo=None) + timedelta(days=1)
        posts(
            studio.ana, "grants-document", studio.document.id, act="give", username="zoe", what="view",
            until=f"{local:%Y-%m-%dT%H:%M}", zone="-120",
        )  # fmt: skip
        given = GrantChange.objects.get(account=zoe.user)
        assert given.expires_at == local.replace(tzinfo=UTC) - timedelta(hours=2)

    @pytest.mark.parametrize(
        ("until", "zone", "because"),
        [
            ("2020-01-01T00:00", "", "has passed"),
            ("never", "", "Until"),
            ("9999-12-31T23:59", "900", "too far away"),
            ("2026-13-01T00:00", "", "Until"),
            (moment(HOUR), "99999", "Zone"),
        ],
        ids=["past", "no moment", "too far", "no month", "no zone"],
    )
    def test_a_moment_that_cannot_be_is_refused(self, studio, zoe, until, zone, because):
        form = {"act": "add", "username": "zoe", "role": "viewer", "until": until, "zone": zone}
        assert because in people(studio, studio.ana, **form)
        assert not may(zoe, Action.VIEW, studio.workspace)

    def test_managing_is_given_for_good(self, studio, zoe):
        page = people(studio, studio.ana, act="add", username="zoe", role="owner", until=moment(HOUR))
        assert "for good or not at all" in page
        assert not may(zoe, Action.VIEW, studio.workspace)

    def test_the_service_gives_nothing_that_is_over_already(self, studio, zoe):
        past = datetime.now(UTC) - SOON
        with pytest.raises(OverAlready):
            grant_give(
                by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.document, expires_at=past
            )  # fmt: skip


class TestLeaving:
    def test_who_leaves_holds_nothing_there_any_more(self, studio):
        grant_give(by=studio.ana.actor, holder=studio.ben.user, codename="view", obj=studio.thread)
        grant_give(by=studio.ana.actor, holder=studio.ben.user, codename="manage", obj=studio.document)
        people(studio, studio.ben, act="leave")
        for obj in (studio.workspace, studio.thread, studio.document):
            assert not may(studio.ben, Action.VIEW, obj)
        lost = GrantChange.objects.filter(account=studio.ben.user, given=False)
        assert {(line.by, line.reason) for line in lost} == {(studio.ben.actor, "left")}
        assert "Ben" not in {member.name for member in selectors.people_of(studio.workspace.id)}

    def test_the_last_owner_is_told_why_they_stay(self, studio):
        page = people(studio, studio.ana, act="leave")
        assert "You are the last owner of Studio launch: make someone else owner before you leave." in page
        with pytest.raises(LastOwner):
            workspace_leave(actor=studio.ana.actor, workspace=studio.workspace.id)
        assert may(studio.ana, Action.MANAGE, studio.workspace)

    def test_an_owner_leaves_once_there_is_another(self, studio):
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.OWNER)
        workspace_leave(actor=studio.ana.actor, workspace=studio.workspace.id)
        assert not may(studio.ana, Action.VIEW, studio.workspace)

    def test_what_a_group_holds_stays_and_is_said_to(self, studio, zoe):
        viewers = team("Viewers", studio.ben.user, zoe.user)
        role_set(by=System(), holder=viewers, role=Role.VIEWER, scope=studio.workspace)
        assert "What a group of yours holds is still yours" in people(studio, studio.ben, act="leave")
        with pytest.raises(ThroughGroup):
            workspace_leave(actor=zoe.actor, workspace=studio.workspace.id)

    def test_a_stranger_leaves_nothing(self, studio, zoe):
        with pytest.raises(NotFound):
            workspace_leave(actor=zoe.actor, workspace=studio.workspace.id)

    def test_who_left_has_their_place_again_when_they_come_back(self, studio):
        workspace_leave(actor=studio.ben.actor, workspace=studio.workspace.id)
        member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="ben", role=Role.VIEWER)
        assert {one.name: one.place for one in selectors.people_of(studio.workspace.id)}["Ben"] == 2


class TestGrants:
    @pytest.mark.parametrize("kind", ["workspace", "thread", "document"])
    def test_a_grant_is_given_with_a_reason_and_taken(self, studio, zoe, kind):
        obj = getattr(studio, kind)
        page = posts(
            studio.ana, f"grants-{kind}", obj.id, act="give", username="zoe", what="view", reason="A look",
            until=moment(HOUR),
        )  # fmt: skip
        assert f"Zoe holds view on {obj}" in page
        assert may(zoe, Action.VIEW, obj)
        page = posts(
            studio.ana, f"grants-{kind}", obj.id, act="take", holder=f"account:{zoe.id}", what="view", reason="Seen"
        )
        assert f"Zoe no longer holds view on {obj}" in page
        lines = GrantChange.objects.filter(account=zoe.user).order_by("epoch")
        assert list(lines.values_list("reason", "given")) == [("A look", True), ("Seen", False)]

    def test_an_agent_and_a_client_hold_grants_on_the_same_page(self, studio, desk: Desk):
        for account in (studio.robin.user, desk.user):
            page = posts(
                studio.ana, "grants-document", studio.document.id, act="give", holder=f"account:{account.pk}",
                what="change_document",
            )  # fmt: skip
            assert f"{account.name} holds change document on Launch plan" in page
        refused = posts(
            studio.ana, "grants-document", studio.document.id, act="give", holder=f"account:{desk.user.pk}",
            what="manage",
        )  # fmt: skip
        assert "Agents and clients never manage" in refused

    def test_the_form_of_a_client_takes_nothing_from_a_member(self, studio):
        page = posts(studio.ana, "people", studio.workspace.id, act="client", user=str(studio.ben.id), role="")
        assert "There is no such client" in page
        assert may(studio.ben, Action.VIEW, studio.workspace)

    def test_a_role_is_given_on_the_workspace_alone(self, studio, zoe):
        page = posts(
            studio.ana, "grants-workspace", studio.workspace.id, act="give", username="zoe", what="role:editor"
        )
        assert "Zoe is editor in Studio launch now" in page
        page = posts(studio.ana, "grants-thread", studio.thread.id, act="give", username="ben", what="role:editor")
        assert "There is no such grant" in page

    @pytest.mark.parametrize(
        "form",
        [
            {"what": "view"},
            {"what": "view", "username": "zoe", "team": "Editors"},
            {"what": "view", "username": "nobody"},
            {"what": "view", "holder": "account:none"},
            {"what": "view", "holder": "group:9" + "9" * 20},
            {"what": "view", "holder": f"account:{uuid4()}"},
            {"what": "rule", "username": "zoe"},
            {"what": "role:emperor", "username": "zoe"},
            {"what": "view", "username": "zoe", "reason": "x" * 501},
            {"what": "view", "username": "zoe\0"},
            {},
        ],
    )
    @pytest.mark.parametrize("act", ["give", "take", "", "rule"])
    def test_a_form_that_cannot_be_changes_nothing(self, studio, zoe, act, form):
        team("Editors")
        before = GrantChange.objects.count()
        answer = browser(studio.ana).post(
            reverse("grants-workspace", args=[studio.workspace.id]), {"act": act, **form}, follow=True
        )
        assert answer.status_code == 200
        assert GrantChange.objects.count() == before

    def test_what_expired_is_shown_as_expired_and_can_be_taken(self, studio, zoe, clock):
        grant_give(
            by=studio.ana.actor,
            holder=zoe.user,
            codename="view",
            obj=studio.thread,
            expires_at=datetime.now(UTC) + SOON,
        )
        clock(HOUR + 1)
        assert "<s>view</s>" in sees(studio.ana, "grants-thread", studio.thread.id)
        posts(studio.ana, "grants-thread", studio.thread.id, act="take", holder=f"account:{zoe.id}", what="view")
        assert "<s>view</s>" not in sees(studio.ana, "grants-thread", studio.thread.id)

    def test_who_is_switched_off_is_shown_and_loses_what_they_held(self, studio):
        root = User.objects.create_superuser("root")
        account_deactivate(by=Person(root.pk), account=studio.ben.user)
        assert "switched off" in sees(studio.ana, "people", studio.workspace.id)
        ref = f"account:{studio.ben.id}"
        page = posts(studio.ana, "grants-workspace", studio.workspace.id, act="take", holder=ref, what="view")
        assert "Ben no longer holds view" in page

    def test_who_manages_a_thread_alone_is_shown_nothing_of_its_workspace(self, studio, zoe):
        for codename in ("view", "manage"):
            grant_give(by=studio.ana.actor, holder=zoe.user, codename=codename, obj=studio.thread)
        page = sees(zoe, "grants-thread", studio.thread.id)
        assert "Studio launch" not in page
        assert "Ben" not in page

    def test_a_page_of_many_costs_the_queries_of_one_of_few(self, studio, queries):
        def cost(name: str, id: Any) -> int:
            with queries() as sent:
                sees(studio.ana, name, id)
            return len(sent)

        pages = [("people", studio.workspace.id), ("grants-workspace", studio.workspace.id)]

        def more(*numbers: int) -> list[int]:
            for number in numbers:
                person = User.objects.create_user(f"more{number}")
                group = team(f"Team {number}", person)
                role_set(by=System(), holder=person, role=Role.EDITOR, scope=studio.workspace)
                role_set(by=System(), holder=group, role=Role.VIEWER, scope=studio.workspace)
            return [cost(*page) for page in pages]

        more(0)
        assert more(1) == more(*range(2, 14))


class TestRefusedForms:
    def test_a_form_one_may_not_send_is_logged_with_who_and_what(self, studio, zoe):
        with capture_logs() as logs:
            people(studio, studio.ben, act="role", user=studio.ben.id, role="owner")
            posts(zoe, "grants-document", studio.document.id, act="give", username="zoe", what="manage")
            posts(studio.vera, "grants-thread", studio.thread.id, act="give", username="vera", what="manage")
        refused = [line for line in logs if line["event"] == "form_refused"]
        assert [(line["person"], line["code"]) for line in refused] == [
            (str(studio.ben.id), "forbidden"), (str(zoe.id), "not_found"), (str(studio.vera.id), "forbidden"),
        ]  # fmt: skip
        assert [line["log_level"] for line in refused] == ["warning"] * 3
        assert (refused[0]["user"], refused[0]["role"]) == (str(studio.ben.id), "owner")
        assert refused[2]["path"] == reverse("grants-thread", args=[studio.thread.id])

    def test_one_who_manages_and_errs_is_not_logged(self, studio):
        with capture_logs() as logs:
            people(studio, studio.ana, act="add", username="nobody", role="viewer")
        assert not [line for line in logs if line["event"] == "form_refused"]

    def test_so_is_saving_a_document_one_may_not_change(self, studio):
        with capture_logs() as logs:
            assert "Not saved" in posts(studio.vera, "document-save", studio.document.id, text="Mine.", base_version=1)
        (line,) = [line for line in logs if line["event"] == "form_refused"]
        assert (line["person"], line["code"]) == (str(studio.vera.id), "forbidden")

    def test_the_admin_site_logs_them_too(self, studio, zoe):
        zoe.user.is_staff = True
        zoe.user.save()
        address = reverse("admin:collab_document_grants", args=[studio.document.id])
        with capture_logs() as logs:
            answer = browser(zoe).post(address, {"give": "", "account": zoe.id, "codename": "manage"})
        assert answer.status_code == 404
        (line,) = [line for line in logs if line["event"] == "form_refused"]
        assert (line["person"], line["codename"]) == (str(zoe.id), "manage")
