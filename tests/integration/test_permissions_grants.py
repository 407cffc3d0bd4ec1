"""What the database says decides, at the moment it is asked, for one object and for lists alike (DESIGN 5)."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import transaction

from collab.models.documents import Document
from collab.models.grants import DocumentUserGrant, WorkspaceUserGrant
from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from permissions.actors import Agent, Client, Person, Source, System
from permissions.decisions import AccountKind, Action, Level, Lowering
from permissions.errors import NotFound, Refused
from permissions.gate import decide_on, decisions_on, require
from permissions.grants import grant_models, names_of, readable, scope_path
from permissions.models import User
from permissions.roles import Role
from permissions.services import grant_give, grant_take, group_leave
from tests.support.permitted import account, place, team

pytestmark = pytest.mark.django_db

CHANGE = Action.CHANGE_DOCUMENT
ALLOW, PROPOSE, DENY = Level.ALLOW, Level.PROPOSE, Level.DENY


@pytest.fixture
def here():
    return place()


@pytest.fixture
def ben():
    return account("Ben")


@pytest.fixture
def robin():
    return account("Robin", AccountKind.AGENT)


@pytest.fixture
def desk():
    return account("Desk", AccountKind.CLIENT)


def test_a_grant_on_the_workspace_reaches_its_threads_and_documents(here, ben):
    here.give(ben, "change_document")
    assert decide_on(Person(ben.pk), CHANGE, here.document).level is ALLOW
    assert decide_on(Person(ben.pk), CHANGE, here.thread).level is ALLOW


def test_a_grant_on_a_document_reaches_nothing_else(here, ben):
    here.give(ben, "change_document", on=here.document)
    assert decide_on(Person(ben.pk), CHANGE, here.document).level is ALLOW
    assert decide_on(Person(ben.pk), CHANGE, here.thread).level is DENY
    assert decide_on(Person(ben.pk), CHANGE, here.workspace).level is DENY
    assert decide_on(Person(ben.pk), CHANGE, place("Elsewhere").document).level is DENY


@pytest.mark.parametrize("on", ["workspace", "document"])
def test_a_groups_grant_is_its_members_and_ends_with_membership(here, ben, on):
    editors = team("Editors", ben)
    here.give(editors, "change_document", on=getattr(here, on))
    decision = decide_on(Person(ben.pk), CHANGE, here.document)
    assert decision.level is ALLOW
    assert "through group Editors" in decision.because
    group_leave(by=System(), account=ben, group=editors)
    assert decide_on(Person(ben.pk), CHANGE, here.document).level is DENY


def test_the_account_is_read_afresh_at_every_decision(here, ben):
    here.give(ben, "change_document")
    User.objects.filter(pk=ben.pk).update(is_active=False)
    assert (
        decide_on(Person(ben.pk), CHANGE, here.document).because == "Ben may not change Launch plan: Ben is inactive."
    )


def test_a_model_wide_permission_of_django_gives_nothing(here, ben):
    users, _ = grant_models(Document)
    assert users is DocumentUserGrant
    here.give(ben, "view", on=here.document)
    ben.user_permissions.add(DocumentUserGrant.objects.get(user=ben).permission)
    DocumentUserGrant.objects.filter(user=ben).delete()
    assert decide_on(Person(ben.pk), Action.VIEW, here.document).level is DENY
    assert not readable(Document.objects.all(), Person(ben.pk)).exists()


def test_a_grant_ends_at_its_moment_by_the_databases_clock(here, ben, clock):
    here.give(ben, "change_document", expires_at=datetime.now(UTC) + timedelta(minutes=10))
    assert decide_on(Person(ben.pk), CHANGE, here.document).level is ALLOW
    assert Document.objects.count() == readable(Document.objects.all(), Person(ben.pk), CHANGE).count() == 1
    clock(11 * 60)
    assert decide_on(Person(ben.pk), CHANGE, here.document).level is DENY
    assert not readable(Document.objects.all(), Person(ben.pk), CHANGE).exists()


def test_a_deleted_objects_grants_do_not_pass_to_a_later_one(here, ben):
    here.give(ben, "view", on=here.document)
    id = here.document.pk
    here.document.delete()
    later = Document.objects.create(id=id, workspace=here.workspace, title="Another", kind="markdown", data={})
    assert decide_on(Person(ben.pk), Action.VIEW, later).level is DENY


def test_a_superuser_in_person_is_allowed_and_their_agent_only_what_it_was_granted(here, robin):
    root = account("Root", is_superuser=True)
    agent = Agent(robin.pk, here.thread.pk, Person(root.pk))
    assert decide_on(Person(root.pk), CHANGE, here.document).level is ALLOW
    assert decide_on(agent, CHANGE, here.document).level is DENY
    here.give(robin, "propose_document")
    assert decide_on(agent, CHANGE, here.document).level is PROPOSE


def test_the_lowest_of_agent_client_and_person_decides(here, ben, robin, desk):
    for holder in (ben, robin, desk):
        here.give(holder, "view", "change_document")
    agent = Agent(robin.pk, here.thread.pk, Client(desk.pk, ben.pk))
    assert decide_on(agent, CHANGE, here.document).level is ALLOW
    grant_take(by=System(), holder=desk, codename="change_document", obj=here.workspace)
    assert (
        decide_on(agent, CHANGE, here.document).because
        == "Desk may only view Launch plan (Robin and Ben may change it)."
    )


def test_what_lowers_is_told_in_the_decision(here, robin):
    here.give(robin, "change_document")
    agent = Agent(robin.pk, here.thread.pk)
    decision = decide_on(agent, CHANGE, here.document, lowers=[Lowering("Launch dinner is in suggest mode")])
    assert (decision.level, decision.lowered_by) == (PROPOSE, "Launch dinner is in suggest mode")


def test_the_owner_of_a_timer_caps_a_turn(here, ben, robin):
    here.give(robin, "change_document")
    agent = Agent(robin.pk, here.thread.pk)
    assert decide_on(agent, CHANGE, here.document, cap=ben.pk).level is DENY
    assert not readable(Document.objects.all(), agent, CHANGE, cap=ben.pk).exists()
    here.give(ben, "change_document")
    assert decide_on(agent, CHANGE, here.document, cap=ben.pk).level is ALLOW


def test_an_account_without_a_display_name_is_called_by_its_username(here, ben):
    User.objects.filter(pk=ben.pk).update(display_name="")
    assert decide_on(Person(ben.pk), CHANGE, here.document).because.startswith(ben.username)


def test_a_decision_is_one_query_and_one_more_for_a_write(here, ben, robin, desk, django_assert_num_queries):
    team("Editors", ben)
    agent = Agent(robin.pk, here.thread.pk, Client(desk.pk, ben.pk))
    with django_assert_num_queries(1):
        decide_on(agent, CHANGE, here.document)
    with django_assert_num_queries(1):
        decisions_on(agent, here.document)
    with django_assert_num_queries(2), pytest.raises(NotFound):
        require(agent, CHANGE, here.document, for_write=True)
    with django_assert_num_queries(0):
        decide_on(System(), CHANGE, here.document)


def test_a_refusal_to_someone_who_sees_it_says_why(here, ben):
    here.give(ben, "view")
    with pytest.raises(Refused, match=r"^Ben may only view Launch plan\.$") as refused:
        require(Person(ben.pk), CHANGE, here.document)
    assert refused.value.code == "forbidden"
    assert refused.value.decision.level is DENY


def test_a_refusal_to_someone_who_may_not_see_it_says_no_more_than_that_there_is_nothing(here, ben):
    with pytest.raises(NotFound) as unseen:
        require(Person(ben.pk), CHANGE, here.document)
    assert unseen.value.because == "There is no such thing, or you may not see it."


def test_proposing_is_enough_where_proposing_is_asked_for(here, ben):
    here.give(ben, "view", "propose_document")
    assert require(Person(ben.pk), CHANGE, here.document, at_least=PROPOSE).level is PROPOSE
    with pytest.raises(Refused, match="may only propose"):
        require(Person(ben.pk), CHANGE, here.document)


def test_a_decision_for_a_write_carries_the_grants_epoch(here, ben):
    here.give(ben, "change_document")
    before = require(Person(ben.pk), CHANGE, here.document, for_write=True).grants_epoch
    here.give(ben, "comment")
    after = require(Person(ben.pk), CHANGE, here.document, for_write=True).grants_epoch
    assert after == before + 1
    assert decide_on(Person(ben.pk), CHANGE, here.document).grants_epoch is None


def test_a_write_in_a_workspace_that_is_gone_finds_nothing(here, ben):
    ghost = Document(workspace_id=uuid4(), title="Ghost", kind="markdown", data={})
    with pytest.raises(NotFound):
        decide_on(Person(ben.pk), CHANGE, ghost, for_write=True)


@pytest.mark.django_db(transaction=True)
def test_a_right_that_a_write_relies_on_is_checked_inside_its_transaction(here, ben):
    with pytest.raises(transaction.TransactionManagementError):
        decide_on(Person(ben.pk), CHANGE, here.document, for_write=True)


def test_several_decisions_of_one_page_agree_with_single_ones(here, ben):
    here.role(ben, Role.CONTRIBUTOR)
    together = decisions_on(Person(ben.pk), here.thread)
    assert together == {action: decide_on(Person(ben.pk), action, here.thread) for action in Action}


def population(rng: random.Random) -> tuple[list, list]:
    people = [account("Ann"), account("Bo"), account("Cy", is_active=False), account("Di", is_superuser=True)]
    people.append(account("Ed", is_active=False, is_superuser=True))
    robin, desk = account("Robin", AccountKind.AGENT), account("Desk", AccountKind.CLIENT)
    teams = [team(f"team {number}", *rng.sample([*people, robin, desk], 3)) for number in range(2)]
    places = [place(name) for name in ("one", "two")]
    past, future = (datetime.now(UTC) + timedelta(hours=hours) for hours in (-1, 1))
    for _ in range(60):
        here = rng.choice(places)
        on = rng.choice([here.workspace, here.thread, here.document])
        expires_at = rng.choice([None, None, past, future])
        codename = rng.choice(["view", "comment", "change_document", "propose_document"])
        here.give(rng.choice([*people, robin, desk, *teams]), codename, on=on, expires_at=expires_at)
    clients = [Client(desk.pk), *(Client(desk.pk, person.pk) for person in people)]
    principals = [*(Person(person.pk) for person in people), *clients]
    agents = [Agent(robin.pk, uuid4(), principal) for principal in (None, *principals)]
    sources = [Source(uuid4()), *(Source(uuid4(), person.pk) for person in people)]
    objects = [obj for here in places for obj in (here.workspace, here.thread, here.document)]
    return [*principals, *agents, *sources, System(), Person(robin.pk), Client(people[3].pk), Person(uuid4())], objects


@pytest.mark.parametrize("seed", range(4))
def test_a_list_holds_exactly_what_single_decisions_allow(seed):
    actors, objects = population(random.Random(seed))
    for actor in actors:
        for action in (Action.VIEW, CHANGE, Action.MANAGE):
            listed = {
                row.pk
                for model in (Workspace, Thread, Document)
                for row in readable(model.objects.all(), actor, action)
            }
            allowed = {obj.pk for obj in objects if decide_on(actor, action, obj).level is ALLOW}
            assert listed == allowed, (actor, action)


def test_a_list_is_one_query(here, ben, robin, django_assert_num_queries):
    here.give(ben, "view")
    here.give(robin, "view")
    with django_assert_num_queries(1):
        assert list(readable(Thread.objects.all(), Agent(robin.pk, here.thread.pk, Person(ben.pk)))) == [here.thread]


def test_a_list_by_a_codename_that_is_no_action_is_refused(ben):
    with pytest.raises(ValueError, match="propose_document"):
        readable(Thread.objects.all(), Person(ben.pk), "propose_document")


def test_a_row_that_lets_an_agent_manage_gives_it_nothing(here, ben, robin):
    here.give(ben, "manage")
    permission = WorkspaceUserGrant.objects.get(user=ben).permission
    WorkspaceUserGrant.objects.create(user=robin, permission=permission, content_object=here.workspace)
    agent = Agent(robin.pk, here.thread.pk)
    assert decide_on(agent, Action.MANAGE, here.workspace).level is DENY
    assert not readable(Workspace.objects.all(), agent, Action.MANAGE).exists()


def test_names_of_a_chain_are_read_at_once(here, ben, robin, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert names_of(Agent(robin.pk, here.thread.pk, Person(ben.pk)), System()) == {ben.pk: "Ben", robin.pk: "Robin"}


def test_a_guarded_model_finds_its_scope():
    assert (scope_path(Workspace), scope_path(Thread), scope_path(Document)) == ("pk", "workspace_id", "workspace_id")


def test_a_model_that_no_grants_are_kept_for_is_refused():
    with pytest.raises(LookupError, match="User needs"):
        grant_models(User)


def test_giving_then_taking_is_seen_by_the_very_next_decision(here, ben):
    grant_give(by=System(), holder=ben, codename="change_document", obj=here.document)
    assert decide_on(Person(ben.pk), CHANGE, here.document).level is ALLOW
    grant_take(by=System(), holder=ben, codename="change_document", obj=here.document)
    assert decide_on(Person(ben.pk), CHANGE, here.document).level is DENY
