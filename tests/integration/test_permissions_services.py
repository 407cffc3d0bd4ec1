"""Giving and taking: who may, what stays, and the history it leaves (DESIGN 5)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import Group
from django.db import Error, IntegrityError, connection, transaction
from django.db.models import ProtectedError

from collab.models.grants import WorkspaceUserGrant
from collab.models.workspaces import Workspace
from permissions.actors import Agent, Client, Person, System
from permissions.decisions import AccountKind, Action, Level
from permissions.errors import LastOwner, NeverExpires, NotForAgents, NotFound, Refused
from permissions.gate import decide_on
from permissions.models import GrantChange, User
from permissions.roles import ROLE_GRANTS, Role
from permissions.services import (
    account_activate,
    account_create_service,
    account_deactivate,
    grant_give,
    grant_take,
    group_join,
    group_leave,
    role_set,
)
from tests.support.permitted import Place, account, place, team

pytestmark = pytest.mark.django_db

TOLD: list[tuple] = []


def told(*what) -> None:
    TOLD.append(what)


@pytest.fixture
def here():
    return place()


@pytest.fixture
def ana(here):
    owner = account("Ana")
    here.role(owner, Role.OWNER)
    return owner


@pytest.fixture
def ben(here):
    editor = account("Ben")
    here.role(editor, Role.EDITOR)
    return editor


@pytest.fixture
def zoe():
    return account("Zoe")


@pytest.fixture
def robin():
    return account("Robin", AccountKind.AGENT)


@pytest.fixture
def desk():
    return account("Desk", AccountKind.CLIENT)


def holds(holder: User, here: Place) -> set[str]:
    grants = WorkspaceUserGrant.objects.filter(user=holder, content_object=here.workspace)
    return set(grants.values_list("permission__codename", flat=True))


def history(**where) -> list[tuple[str, bool, str]]:
    changes = GrantChange.objects.filter(**where).order_by("id")
    return list(changes.values_list("codename", "given", "reason"))


def epoch(here: Place) -> int:
    return Workspace.objects.values_list("grants_epoch", flat=True).get(pk=here.workspace.pk)


def test_an_owner_gives_and_takes(here, ana, zoe):
    assert grant_give(by=Person(ana.pk), holder=zoe, codename="view", obj=here.document)
    assert decide_on(Person(zoe.pk), Action.VIEW, here.document).level is Level.ALLOW
    assert grant_take(by=Person(ana.pk), holder=zoe, codename="view", obj=here.document)
    assert decide_on(Person(zoe.pk), Action.VIEW, here.document).level is Level.DENY


def test_every_change_leaves_a_line_of_history(here, ana, zoe):
    until = datetime.now(UTC) + timedelta(days=1)
    grant_give(by=Person(ana.pk), holder=zoe, codename="view", obj=here.document, reason="A look", expires_at=until)
    grant_take(by=Person(ana.pk), holder=zoe, codename="view", obj=here.document, reason="Enough")
    given, taken = GrantChange.objects.filter(account=zoe).order_by("id")
    assert (given.by, given.codename, given.given, given.reason) == (Person(ana.pk), "view", True, "A look")
    assert (given.object_kind, given.object_id) == ("collab.document", here.document.pk)
    assert (given.scope_id, given.expires_at) == (here.workspace.pk, until)
    assert (taken.given, taken.reason, taken.epoch) == (False, "Enough", given.epoch + 1)
    assert epoch(here) == taken.epoch
    assert given.at < taken.at


def test_a_repeated_change_changes_nothing_and_leaves_no_line(here, ana, zoe):
    by = Person(ana.pk)
    assert not grant_take(by=by, holder=zoe, codename="view", obj=here.workspace)
    assert grant_give(by=by, holder=zoe, codename="view", obj=here.workspace)
    assert not grant_give(by=by, holder=zoe, codename="view", obj=here.workspace)
    assert history(account=zoe) == [("view", True, "")]


def test_a_grant_given_again_with_another_end_is_a_change(here, ana, zoe):
    by, until = Person(ana.pk), datetime.now(UTC) + timedelta(days=1)
    grant_give(by=by, holder=zoe, codename="view", obj=here.workspace, expires_at=until)
    assert grant_give(by=by, holder=zoe, codename="view", obj=here.workspace)
    assert list(WorkspaceUserGrant.objects.filter(user=zoe).values_list("expires_at", flat=True)) == [None]
    assert len(history(account=zoe)) == 2


def test_an_editor_gives_nothing(here, ana, ben, zoe):
    with pytest.raises(Refused, match="Ben may not manage Studio launch"):
        grant_give(by=Person(ben.pk), holder=zoe, codename="view", obj=here.workspace)
    with pytest.raises(Refused, match="Ben may not manage Studio launch"):
        grant_take(by=Person(ben.pk), holder=ana, codename="manage", obj=here.workspace)
    assert history(account=zoe) == []


def test_a_stranger_learns_nothing_of_what_they_may_not_grant(here, zoe):
    with pytest.raises(NotFound):
        grant_give(by=Person(zoe.pk), holder=zoe, codename="view", obj=here.workspace)


def test_nobody_grants_what_they_lack(here, zoe):
    keeper = account("Keeper")
    here.give(keeper, "view", "manage", "propose_document")
    by = Person(keeper.pk)
    with pytest.raises(Refused, match="Keeper may only propose changes to Studio launch"):
        grant_give(by=by, holder=zoe, codename="change_document", obj=here.workspace)
    with pytest.raises(Refused, match="Keeper may not comment on Studio launch"):
        grant_give(by=by, holder=keeper, codename="comment", obj=here.workspace)
    assert grant_give(by=by, holder=zoe, codename="propose_document", obj=here.workspace)


def test_whoever_manages_one_document_grants_on_that_one_only(here, zoe):
    keeper = account("Keeper")
    here.give(keeper, "view", "manage", on=here.document)
    assert grant_give(by=Person(keeper.pk), holder=zoe, codename="view", obj=here.document)
    with pytest.raises(NotFound):
        grant_give(by=Person(keeper.pk), holder=zoe, codename="view", obj=here.workspace)


def test_agents_and_clients_grant_nothing_even_for_an_owner(here, ana, zoe, robin, desk):
    for service in (robin, desk):
        here.role(service, Role.EDITOR)
    for actor in (Agent(robin.pk, here.thread.pk, Person(ana.pk)), Client(desk.pk, ana.pk), Client(desk.pk)):
        with pytest.raises(Refused, match="only people manage"):
            grant_give(by=actor, holder=zoe, codename="view", obj=here.workspace)


@pytest.mark.parametrize("kind", [AccountKind.AGENT, AccountKind.CLIENT])
def test_agents_and_clients_never_hold_manage(here, ana, kind):
    service = account_create_service(kind=kind, name="Robin")
    with pytest.raises(NotForAgents):
        grant_give(by=Person(ana.pk), holder=service, codename="manage", obj=here.workspace)
    with pytest.raises(NotForAgents):
        role_set(by=System(), holder=service, role=Role.OWNER, scope=here.workspace)
    with pytest.raises(NotForAgents):
        grant_give(by=System(), holder=team("Services", service), codename="manage", obj=here.workspace)
    assert holds(service, here) == set()


def test_an_agent_joins_no_group_that_manages(here, ana, robin):
    owners = team("Owners", ana)
    here.role(owners, Role.OWNER)
    with pytest.raises(NotForAgents):
        group_join(by=System(), account=robin, group=owners)


def test_manage_is_given_for_good_or_not_at_all(here, ana, zoe):
    with pytest.raises(NeverExpires):
        grant_give(by=Person(ana.pk), holder=zoe, codename="manage", obj=here.workspace, expires_at=datetime.now(UTC))


def test_a_codename_the_object_does_not_know_is_refused(here, zoe):
    with pytest.raises(ValueError, match="use_tool"):
        grant_give(by=System(), holder=zoe, codename="use_tool", obj=here.workspace)


@pytest.mark.parametrize("role", Role)
def test_a_role_is_exactly_its_grants_whatever_was_held_before(here, ana, zoe, role):
    for before in (None, Role.VIEWER, Role.OWNER):
        here.role(zoe, before)
        role_set(by=Person(ana.pk), holder=zoe, role=role, scope=here.workspace)
        assert holds(zoe, here) == ROLE_GRANTS[role]


def test_a_role_set_again_changes_nothing(here, ana, ben):
    lines = GrantChange.objects.count()
    assert not role_set(by=Person(ana.pk), holder=ben, role=Role.EDITOR, scope=here.workspace)
    assert GrantChange.objects.count() == lines


def test_a_role_makes_a_grant_that_would_end_one_for_good(here, ana, zoe):
    here.give(zoe, "view", expires_at=datetime.now(UTC) + timedelta(days=1))
    assert role_set(by=Person(ana.pk), holder=zoe, role=Role.VIEWER, scope=here.workspace)
    assert WorkspaceUserGrant.objects.get(user=zoe).expires_at is None


def test_losing_the_role_takes_every_workspace_grant_and_keeps_those_on_documents(here, ana, ben):
    here.give(ben, "view", on=here.document)
    role_set(by=Person(ana.pk), holder=ben, role=None, scope=here.workspace, reason="Left")
    assert holds(ben, here) == set()
    assert decide_on(Person(ben.pk), Action.VIEW, here.document).level is Level.ALLOW
    assert {(given, reason) for _, given, reason in history(account=ben, reason="Left")} == {(False, "Left")}


def test_an_editor_sets_no_role(here, ana, ben, zoe):
    with pytest.raises(Refused, match="Ben may not manage"):
        role_set(by=Person(ben.pk), holder=zoe, role=None, scope=here.workspace)


def removals(here: Place, ana: User) -> dict:
    return {
        "taking manage": lambda: grant_take(by=System(), holder=ana, codename="manage", obj=here.workspace),
        "taking the role": lambda: role_set(by=Person(ana.pk), holder=ana, role=None, scope=here.workspace),
        "a lower role": lambda: role_set(by=Person(ana.pk), holder=ana, role=Role.EDITOR, scope=here.workspace),
        "deactivating": lambda: account_deactivate(by=System(), account=ana),
    }


@pytest.mark.parametrize("way", ["taking manage", "taking the role", "a lower role", "deactivating"])
def test_the_last_owner_stays(here, ana, way):
    before = holds(ana, here), GrantChange.objects.count(), epoch(here)
    with pytest.raises(LastOwner) as refused:
        removals(here, ana)[way]()
    assert refused.value.code == "last_owner"
    assert (holds(ana, here), GrantChange.objects.count(), epoch(here)) == before
    assert User.objects.get(pk=ana.pk).is_active


@pytest.mark.parametrize("way", ["taking manage", "taking the role", "a lower role", "deactivating"])
def test_an_owner_goes_when_another_one_stays(here, ana, zoe, way):
    here.role(zoe, Role.OWNER)
    assert removals(here, ana)[way]()


def test_an_inactive_owner_is_no_owner_who_stays(here, ana, zoe):
    here.role(zoe, Role.OWNER)
    account_deactivate(by=System(), account=zoe)
    with pytest.raises(LastOwner):
        grant_take(by=System(), holder=ana, codename="manage", obj=here.workspace)


def test_an_owner_through_a_group_is_an_owner_who_stays(here, ana, zoe):
    owners = team("Owners", zoe)
    here.role(owners, Role.OWNER)
    assert role_set(by=System(), holder=ana, role=None, scope=here.workspace)
    with pytest.raises(LastOwner):
        group_leave(by=System(), account=zoe, group=owners)
    with pytest.raises(LastOwner):
        role_set(by=System(), holder=owners, role=None, scope=here.workspace)
    assert zoe.groups.filter(pk=owners.pk).exists()


def test_joining_a_group_needs_the_right_to_give_all_that_it_holds(here, ana, ben, zoe):
    editors = team("Editors")
    here.role(editors, Role.EDITOR)
    with pytest.raises(Refused, match="Ben may not manage"):
        group_join(by=Person(ben.pk), account=zoe, group=editors)
    elsewhere = place("Elsewhere")
    elsewhere.role(editors, Role.VIEWER)
    with pytest.raises(NotFound):
        group_join(by=Person(ana.pk), account=zoe, group=editors)
    elsewhere.role(editors, None)
    assert group_join(by=Person(ana.pk), account=zoe, group=editors)
    assert not group_join(by=Person(ana.pk), account=zoe, group=editors)


def test_nobody_gives_through_a_group_what_they_lack(here, ana, zoe):
    keeper = account("Keeper")
    here.give(keeper, "view", "manage")
    viewers, commenters = team("Viewers"), team("Commenters")
    here.role(viewers, Role.VIEWER)
    here.role(commenters, Role.COMMENTER)
    assert group_join(by=Person(keeper.pk), account=zoe, group=viewers)
    with pytest.raises(Refused, match="Keeper may not comment on Studio launch"):
        group_join(by=Person(keeper.pk), account=zoe, group=commenters)


def test_joining_and_leaving_a_group_are_in_the_history_of_the_account(here, ana, zoe):
    viewers = team("Viewers")
    here.role(viewers, Role.VIEWER)
    group_join(by=Person(ana.pk), account=zoe, group=viewers, reason="New here")
    group_leave(by=Person(ana.pk), account=zoe, group=viewers, reason="Left")
    assert history(account=zoe, through="Viewers") == [("view", True, "New here"), ("view", False, "Left")]


def test_only_an_administrator_of_all_fills_a_group_that_holds_nothing(ana, zoe):
    empty = team("Empty")
    with pytest.raises(Refused):
        group_join(by=Person(ana.pk), account=zoe, group=empty)
    assert group_join(by=Person(account("Root", is_superuser=True).pk), account=zoe, group=empty)


def test_a_deactivated_account_loses_everything_at_once_and_gets_it_back(here, ana, ben):
    root = Person(account("Root", is_superuser=True).pk)
    assert account_deactivate(by=root, account=ben)
    assert not account_deactivate(by=root, account=ben)
    assert decide_on(Person(ben.pk), Action.VIEW, here.document).level is Level.DENY
    assert account_activate(by=root, account=ben)
    assert decide_on(Person(ben.pk), Action.VIEW, here.document).level is Level.ALLOW


def test_deactivating_needs_an_administrator_in_person(here, ana, ben, robin):
    root = account("Root", is_superuser=True)
    for actor in (Person(ana.pk), Agent(robin.pk, here.thread.pk, Person(root.pk)), Client(robin.pk, root.pk)):
        with pytest.raises(Refused):
            account_deactivate(by=actor, account=ben)
    assert User.objects.get(pk=ben.pk).is_active


def test_a_deactivation_begins_an_epoch_in_every_workspace_it_touches(here, ana, zoe):
    elsewhere = place("Elsewhere")
    here.give(zoe, "view", on=here.document)
    elsewhere.role(team("Viewers", zoe), Role.VIEWER)
    before = epoch(here), epoch(elsewhere)
    account_deactivate(by=System(), account=zoe)
    assert (epoch(here), epoch(elsewhere)) == (before[0] + 1, before[1] + 1)


def test_after_commit_whoever_listens_is_told_whose_rights_changed(
    here, ana, zoe, settings, django_capture_on_commit_callbacks
):
    settings.ACCORD_ON_GRANTS_CHANGED = [f"{__name__}.told"]
    editors = team("Editors", ana, zoe)
    TOLD.clear()
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        here.give(zoe, "view")
        here.give(zoe, "view")
        here.give(editors, "comment", on=here.document)
        assert TOLD == []
    assert len(callbacks) == 2
    label = "collab.workspace"
    assert TOLD[0] == (label, here.workspace.pk, (zoe.pk,))
    assert (TOLD[1][:2], set(TOLD[1][2])) == ((label, here.workspace.pk), {ana.pk, zoe.pk})


@pytest.mark.parametrize("kind", [AccountKind.AGENT, AccountKind.CLIENT])
def test_a_service_account_can_never_sign_in(kind, client):
    service = account_create_service(kind=kind, name="Robin")
    assert service.name == "Robin"
    assert authenticate(username=service.username, password="") is None
    service.set_password("a long enough password")
    with pytest.raises(IntegrityError), transaction.atomic():
        service.save()
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(pk=service.pk).update(is_superuser=True)


def test_a_person_gets_no_service_account():
    with pytest.raises(ValueError, match="people sign up"):
        account_create_service(kind=AccountKind.PERSON, name="Ana")


def test_an_account_or_a_group_with_a_history_is_not_deleted(here, zoe):
    viewers = team("Viewers")
    here.role(viewers, Role.VIEWER)
    here.give(zoe, "view")
    for holder in (zoe, viewers):
        with pytest.raises(ProtectedError):
            holder.delete()
    assert Group.objects.filter(pk=viewers.pk).exists()


def test_postgresql_refuses_to_rewrite_the_history_of_grants(here, zoe):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no such trigger")
    here.give(zoe, "view")
    for rewrite in (lambda rows: rows.update(reason="never was"), lambda rows: rows.delete()):
        with pytest.raises(Error, match="append-only"), transaction.atomic():
            rewrite(GrantChange.objects.filter(account=zoe))
