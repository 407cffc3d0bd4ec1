"""Workspaces, their members, their invites (DESIGN 4 and 5)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError

import pytest
from django.db import connection

from collab import selectors
from collab.errors import Gone, Invalid
from collab.models.workspaces import Invite
from collab.services import workspaces
from collab.services.workspaces import (
    agent_disable,
    agent_enable,
    invite_accept,
    invite_create,
    invite_revoke,
    member_add,
    member_remove,
    member_role_set,
    workspace_create,
    workspace_rename,
)
from permissions.actors import Person, System
from permissions.decisions import Action, Level
from permissions.errors import LastOwner, NotForAgents, NotFound, Refused
from permissions.gate import decide_on
from permissions.models import GrantChange, User
from permissions.roles import ROLE_GRANTS, Role
from permissions.services import account_deactivate, grant_give, group_join, role_set
from tests.support.permitted import team

DAY = 86_400


def role(workspace, someone):
    return next((member.role for member in selectors.people_of(workspace.id) if member.id == someone.id), None)


def test_who_makes_a_workspace_owns_it_and_has_its_first_place(ana):
    workspace = workspace_create(actor=ana.actor, name="  Studio   launch ")
    assert workspace.name == "Studio launch"
    (member,) = selectors.people_of(workspace.id)
    assert (member.id, member.role, member.place, member.hue) == (ana.id, Role.OWNER, 1, 1)


def test_only_a_person_makes_a_workspace(studio, desk):
    for actor in (desk.acting_for(studio.ana), studio.robin.acting_for(studio.ana, studio.thread), System()):
        with pytest.raises(Refused):
            workspace_create(actor=actor, name="Mine")


def test_a_name_no_database_keeps_is_refused(ana):
    with pytest.raises(Invalid, match="NUL"):
        workspace_create(actor=ana.actor, name="Studio\0")
    assert selectors.workspaces_of(ana.actor) == []


def test_only_who_manages_renames(studio):
    with pytest.raises(Refused, match="Ben may not manage Studio launch"):
        workspace_rename(actor=studio.ben.actor, workspace=studio.workspace.id, name="Ben's")
    workspace_rename(actor=studio.ana.actor, workspace=studio.workspace.id, name="Studio")
    assert selectors.workspace_for(studio.ana.actor, studio.workspace.id).name == "Studio"


def test_each_member_has_the_next_place_and_keeps_it(studio, zoe):
    member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.VIEWER)
    places = {member.name: member.place for member in selectors.people_of(studio.workspace.id)}
    assert places == {"Ana": 1, "Ben": 2, "Vera": 3, "Zoe": 4}
    member_remove(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id)
    assert "Ben" not in {member.name for member in selectors.people_of(studio.workspace.id)}
    member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="ben", role=Role.VIEWER)
    places = {member.name: member.place for member in selectors.people_of(studio.workspace.id)}
    assert places == {"Ana": 1, "Ben": 2, "Vera": 3, "Zoe": 4}


def test_the_seventh_place_has_the_first_hue_again():
    hues = [selectors.Member(None, "", "", place, None).hue for place in (None, 1, 6, 7)]
    assert hues == [0, 1, 6, 1]


@pytest.mark.parametrize("wanted", list(Role))
def test_a_role_is_exactly_its_grants(studio, zoe, wanted):
    member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.OWNER)
    member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=zoe.id, role=wanted)
    held = studio.workspace.workspaceusergrant_set.filter(user=zoe.user).values_list("permission__codename", flat=True)
    assert set(held) == ROLE_GRANTS[wanted]
    assert role(studio.workspace, zoe) is wanted


def test_an_editor_neither_adds_nor_promotes_nor_removes(studio, zoe):
    for attempt in (
        lambda: member_add(actor=studio.ben.actor, workspace=studio.workspace.id, username="zoe", role=Role.VIEWER),
        lambda: member_role_set(
            actor=studio.ben.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.OWNER
        ),
        lambda: member_remove(actor=studio.ben.actor, workspace=studio.workspace.id, user=studio.vera.id),
        lambda: invite_create(actor=studio.ben.actor, workspace=studio.workspace.id, role=Role.VIEWER, days=1),
    ):
        with pytest.raises(Refused, match="Ben may not manage Studio launch"):
            attempt()
    assert role(studio.workspace, studio.ben) is Role.EDITOR
    assert role(studio.workspace, studio.vera) is Role.VIEWER


def test_a_stranger_learns_nothing_of_user_names(studio, zoe):
    for username in ("ben", "nobody"):
        with pytest.raises(NotFound):
            member_add(actor=zoe.actor, workspace=studio.workspace.id, username=username, role=Role.VIEWER)


def test_a_member_is_not_added_twice_and_keeps_their_role(studio):
    with pytest.raises(Invalid, match="Ben is a member already"):
        member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="ben", role=Role.VIEWER)
    assert role(studio.workspace, studio.ben) is Role.EDITOR


def test_no_account_but_a_persons_is_added(studio, desk):
    for username in (desk.user.username, studio.robin.user.username, "nobody"):
        with pytest.raises(Invalid, match="No person has this user name"):
            member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username=username, role=Role.VIEWER)


def test_the_last_owner_stays(studio):
    with pytest.raises(LastOwner):
        member_remove(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ana.id)
    with pytest.raises(LastOwner):
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ana.id, role=Role.EDITOR)
    assert role(studio.workspace, studio.ana) is Role.OWNER


def test_removing_a_member_takes_their_grants_on_threads_and_documents_too(studio):
    for codename, obj in (("start_turn", studio.thread), ("view", studio.thread), ("change_document", studio.document)):
        grant_give(by=studio.ana.actor, holder=studio.ben.user, codename=codename, obj=obj)
    member_remove(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id)
    for action, obj in ((Action.VIEW, studio.thread), (Action.CHANGE_DOCUMENT, studio.document)):
        assert decide_on(studio.ben.actor, action, obj).level is Level.DENY
    assert selectors.workspaces_of(studio.ben.actor) == []


def test_who_never_belonged_cannot_be_given_a_role(studio, zoe):
    with pytest.raises(NotFound):
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=zoe.id, role=Role.VIEWER)


def test_an_agent_never_manages(studio):
    with pytest.raises(NotForAgents):
        agent_enable(
            actor=studio.ana.actor, workspace=studio.workspace.id, agent_account=studio.robin.id, role=Role.OWNER
        )
    (agent,) = selectors.agents_of(studio.workspace.id)
    assert (agent.name, agent.role, agent.hue) == ("Robin", Role.EDITOR, 0)


def test_a_disabled_agent_may_nothing_not_even_for_the_owner(studio):
    grant_give(by=studio.ana.actor, holder=studio.robin.user, codename="change_document", obj=studio.document)
    agent_disable(actor=studio.ana.actor, workspace=studio.workspace.id, agent_account=studio.robin.id)
    for_ana = studio.robin.acting_for(studio.ana, studio.thread)
    assert decide_on(for_ana, Action.CHANGE_DOCUMENT, studio.document).level is Level.DENY
    assert selectors.agents_of(studio.workspace.id) == []


def test_a_persons_account_is_no_agent(studio):
    with pytest.raises(NotFound):
        agent_enable(
            actor=studio.ana.actor, workspace=studio.workspace.id, agent_account=studio.ben.id, role=Role.VIEWER
        )


class TestInvites:
    def test_an_invite_gives_its_role_and_a_place(self, studio, zoe):
        _, token = invite_create(actor=studio.ana.actor, workspace=studio.workspace.id, role=Role.EDITOR, days=7)
        assert invite_accept(actor=zoe.actor, token=token) == studio.workspace
        member = next(member for member in selectors.people_of(studio.workspace.id) if member.id == zoe.id)
        assert (member.role, member.place) == (Role.EDITOR, 4)
        change = GrantChange.objects.filter(account=zoe.user).first()
        assert (change.by, change.reason) == (studio.ana.actor, "accepted an invite")

    def test_its_token_is_kept_nowhere(self, studio):
        invite, token = invite_create(actor=studio.ana.actor, workspace=studio.workspace.id, role=Role.VIEWER, days=1)
        row = Invite.objects.filter(pk=invite.pk).values().get()
        assert token not in str(row)

    def test_it_is_good_for_one_person(self, studio, zoe, db, django_user_model):
        _, token = invite_create(actor=studio.ana.actor, workspace=studio.workspace.id, role=Role.VIEWER, days=1)
        invite_accept(actor=zoe.actor, token=token)
        other = django_user_model.objects.create_user("yan")
        with pytest.raises(Gone, match="used already"):
            invite_accept(actor=Person(other.pk), token=token)
        assert selectors.workspaces_of(Person(other.pk)) == []

    def test_it_ends_by_the_databases_clock(self, studio, zoe, clock):
        _, token = invite_create(actor=studio.ana.actor, workspace=studio.workspace.id, role=Role.VIEWER, days=2)
        clock(2 * DAY + 1)
        with pytest.raises(Gone, match="has expired"):
            invite_accept(actor=zoe.actor, token=token)
        clock(2 * DAY - 60)
        assert invite_accept(actor=zoe.actor, token=token) == studio.workspace

    def test_a_revoked_one_is_worth_nothing(self, studio, zoe):
        invite, token = invite_create(actor=studio.ana.actor, workspace=studio.workspace.id, role=Role.VIEWER, days=1)
        with pytest.raises(Refused):
            invite_revoke(actor=studio.ben.actor, invite=invite.id)
        invite_revoke(actor=studio.ana.actor, invite=invite.id)
        with pytest.raises(Gone, match="was revoked"):
            invite_accept(actor=zoe.actor, token=token)

    def test_a_used_one_cannot_be_revoked(self, studio, zoe):
        invite, token = invite_create(actor=studio.ana.actor, workspace=studio.workspace.id, role=Role.VIEWER, days=1)
        invite_accept(actor=zoe.actor, token=token)
        with pytest.raises(Gone, match="used already"):
            invite_revoke(actor=studio.ana.actor, invite=invite.id)

    def test_it_is_worth_nothing_once_its_inviter_may_not_invite(self, studio, zoe):
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.OWNER)
        _, token = invite_create(actor=studio.ben.actor, workspace=studio.workspace.id, role=Role.OWNER, days=1)
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.EDITOR)
        with pytest.raises(Gone, match="may not invite any more"):
            invite_accept(actor=zoe.actor, token=token)
        assert Invite.objects.get().used_at is None
        assert role(studio.workspace, zoe) is None

    def test_a_member_who_holds_as_much_leaves_it_for_another(self, studio, zoe):
        _, token = invite_create(actor=studio.ana.actor, workspace=studio.workspace.id, role=Role.VIEWER, days=1)
        invite_accept(actor=studio.ben.actor, token=token)
        assert role(studio.workspace, studio.ben) is Role.EDITOR
        assert invite_accept(actor=zoe.actor, token=token) == studio.workspace

    def test_an_unknown_token_an_agent_or_an_inactive_account_gets_nowhere(self, studio, zoe, desk):
        _, token = invite_create(actor=studio.ana.actor, workspace=studio.workspace.id, role=Role.VIEWER, days=1)
        with pytest.raises(NotFound):
            invite_accept(actor=zoe.actor, token=token + "x")
        for actor in (desk.acting_for(zoe), studio.robin.acting_for(zoe, studio.thread)):
            with pytest.raises(Refused):
                invite_accept(actor=actor, token=token)
        account_deactivate(by=_superuser(), account=zoe.user)
        with pytest.raises(Refused):
            invite_accept(actor=zoe.actor, token=token)

    @pytest.mark.parametrize("days", [0, 31, -1])
    def test_it_stands_for_one_to_thirty_days(self, studio, days):
        with pytest.raises(Invalid, match="1 to 30 days"):
            invite_create(actor=studio.ana.actor, workspace=studio.workspace.id, role=Role.VIEWER, days=days)

    def test_only_who_manages_sees_them_and_only_those_that_stand(self, studio, zoe, clock):
        made = [
            invite_create(actor=studio.ana.actor, workspace=studio.workspace.id, role=Role.VIEWER, days=days)
            for days in (1, 5, 5, 5)
        ]
        invite_accept(actor=zoe.actor, token=made[1][1])
        invite_revoke(actor=studio.ana.actor, invite=made[2][0].id)
        clock(2 * DAY)
        assert selectors.invites_of(studio.ana.actor, studio.workspace.id) == [made[3][0]]
        with pytest.raises(Refused):
            selectors.invites_of(studio.ben.actor, studio.workspace.id)


def _superuser() -> Person:
    return Person(User.objects.create_superuser("root").pk)


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    """Two that would each wait for the other, if they took what they change in another order."""

    @pytest.fixture
    def at_once(self, monkeypatch):
        """Do both; neither goes past the function of that name before the other is there, or cannot get there."""

        def done(name, *acts):
            both = Barrier(2)
            real = getattr(workspaces, name)

            def waits(*args, **kwargs):
                found = real(*args, **kwargs)
                with suppress(BrokenBarrierError):
                    both.wait(timeout=0.5)
                return found

            def act(one):
                try:
                    return one()
                finally:
                    connection.close()

            monkeypatch.setattr(workspaces, name, waits)
            with ThreadPoolExecutor(2) as pool:
                return list(pool.map(act, acts))

        return done

    def test_two_rename_a_workspace(self, studio, at_once):
        def rename(name):
            return lambda: workspace_rename(actor=studio.ana.actor, workspace=studio.workspace.id, name=name)

        at_once("line", rename("One"), rename("Two"))
        assert selectors.workspace_for(studio.ana.actor, studio.workspace.id).name in {"One", "Two"}

    def test_an_invite_is_accepted_while_it_is_revoked(self, studio, zoe, at_once):
        invite, token = invite_create(actor=studio.ana.actor, workspace=studio.workspace.id, role=Role.VIEWER, days=1)

        def accept():
            with suppress(Gone):
                invite_accept(actor=zoe.actor, token=token)

        def revoke():
            with suppress(Gone):
                invite_revoke(actor=studio.ana.actor, invite=invite.id)

        at_once("require", accept, revoke)
        row = Invite.objects.get(pk=invite.pk)
        assert (row.used_at is None) is not (row.revoked_at is None)
        assert (role(studio.workspace, zoe) is None) is (row.used_at is None)

    @pytest.mark.parametrize("taken", ["member", "agent"])
    def test_someone_is_removed_while_they_join_a_group(self, studio, at_once, taken):
        group = team("Editors")
        role_set(by=System(), holder=group, role=Role.EDITOR, scope=studio.workspace)
        account = {"member": studio.ben, "agent": studio.robin}[taken].user
        where = {"actor": studio.ana.actor, "workspace": studio.workspace.id}
        removals = {
            "member": lambda: member_remove(**where, user=account.pk),
            "agent": lambda: agent_disable(**where, agent_account=account.pk),
        }
        at_once("_held_for_removal", removals[taken], lambda: group_join(by=System(), account=account, group=group))
        assert account.groups.get() == group
        assert not studio.workspace.workspaceusergrant_set.filter(user=account).exists()
