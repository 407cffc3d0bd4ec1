"""The access report says of everyone what a decision says (DESIGN 11)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from permissions.decisions import AccountKind
from permissions.gate import decide_on
from permissions.grants import grant_models
from permissions.models import User
from permissions.reach import actions_on, kept_by, party_of, reach_of, told_together
from permissions.roles import OBJECT_PERMISSIONS
from tests.support.permitted import account, place

pytestmark = pytest.mark.django_db

CODENAMES = [codename for codename, _ in OBJECT_PERMISSIONS]
WHO = ["ben", "vera", "root", "off", "robin", "desk", "editors", "readers"]
MEMBERS = ["ben", "vera", "robin", "off"]
GRANT = st.tuples(
    st.sampled_from(WHO), st.sampled_from(CODENAMES), st.sampled_from(["workspace", "thread", "document"]),
    st.sampled_from([None, -1, 1]),
)  # fmt: skip
MEMBER = st.tuples(st.sampled_from(MEMBERS), st.sampled_from(["editors", "readers"]))


@pytest.fixture
def everyone(db) -> dict[str, User | Group]:
    found: dict[str, User | Group] = {
        "ben": account("Ben"), "vera": account("Vera"), "root": account("Root", is_superuser=True),
        "off": account("Off", is_active=False), "robin": account("Robin", AccountKind.AGENT),
        "desk": account("Desk", AccountKind.CLIENT),
    }  # fmt: skip
    return {**found, **{name: Group.objects.create(name=name) for name in ("editors", "readers")}}


@pytest.fixture
def here(db):
    return place()


def hold(holder: User | Group, codename: str, obj, hours: int | None) -> None:
    """Make a holder hold a grant without asking whether anybody would give it."""
    users, groups = grant_models(type(obj))
    until = None if hours is None else timezone.now() + timedelta(hours=hours)
    permission = next(one for one in permissions_of(obj) if one.codename == codename)
    model, key = (users, "user") if isinstance(holder, User) else (groups, "group")
    model.objects.update_or_create(
        content_object=obj, permission=permission, **{key: holder}, defaults={"expires_at": until}
    )


def permissions_of(obj):
    return Permission.objects.filter(content_type__model=obj._meta.model_name, content_type__app_label="collab")


@pytest.mark.parametrize("kind", ["workspace", "thread", "document"])
@settings(max_examples=70, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(GRANT, max_size=12), st.lists(MEMBER, max_size=4))
def test_the_report_says_of_everyone_and_every_action_what_a_decision_says(everyone, here, kind, grants, members):
    obj = getattr(here, kind)
    with transaction.atomic():
        for who, codename, on, hours in grants:
            hold(everyone[who], codename, getattr(here, on), hours)
        for who, group in members:
            everyone[who].groups.add(everyone[group])
        found = {line.standing.account: line for line in reach_of(obj)}
        for one in (one for one in everyone.values() if isinstance(one, User)):
            actor = party_of(one.pk, AccountKind(one.kind))
            levels = {action: decide_on(actor, action, obj).level for action in actions_on(obj)}
            line = found.get(one.pk)
            assert (line.levels if line else dict.fromkeys(levels, 0)) == levels, one
            if line:
                assert kept_by([one.pk], obj).get(one.pk, ()) == line.kept
        transaction.set_rollback(True)


def test_it_takes_as_many_queries_however_many_hold_grants(here, queries):
    counts = []
    for _ in range(2):
        for number in range(20):
            here.give(account(f"P{number}"), "view", on=here.document)
        with queries() as sent:
            assert len(reach_of(here.document)) >= 20
        counts.append(len(sent))
    assert counts == [5, 5]


def test_without_the_workspace_only_what_is_held_on_the_object_is_told(here, everyone):
    here.give(everyone["ben"], "view")
    here.give(everyone["vera"], "view", on=here.document)
    assert [line.standing.name for line in reach_of(here.document, scope=False)] == ["Vera"]


def test_grants_are_told_together_and_a_whole_role_by_its_name(here, everyone):
    here.give(everyone["ben"], "view", "comment")
    here.give(everyone["ben"], "view", on=here.document)
    (line,) = [line for line in reach_of(here.document) if line.standing.name == "Ben"]
    assert told_together(line.kept, "Launch plan", narrowed=True) == [
        "view on Launch plan",
        "commenter on its workspace",
    ]


def test_a_person_is_never_asked_about_for_another(everyone):
    ben, vera = everyone["ben"].pk, everyone["vera"].pk
    assert party_of(ben, AccountKind.PERSON, ben) == party_of(ben, AccountKind.PERSON)
    with pytest.raises(ValueError, match="for themselves"):
        party_of(ben, AccountKind.PERSON, vera)
