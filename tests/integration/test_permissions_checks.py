"""What would make a decision wrong is found by the system checks, and an actor is kept as one line of text."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.core import serializers
from django.core.checks import run_checks
from django.test.utils import isolate_apps

from permissions import checks
from permissions.actors import Agent, Client, Person, System
from permissions.models import GrantChange, GrantScope, Guarded
from tests.support.permitted import account, place

ANA, DESK, ROBIN, DINNER = (UUID(int=number) for number in range(1, 5))


def ids(messages) -> list[str]:
    return sorted(message.id for message in messages)


def test_the_project_passes():
    assert [message for message in run_checks() if message.id.startswith("permissions.")] == []
    assert checks.check_settings(app_configs=None) == []
    assert checks.check_guarded_models(app_configs=None) == []


def test_another_user_model_is_found(settings):
    settings.AUTH_USER_MODEL = "auth.User"
    assert ids(checks.check_settings(app_configs=None)) == ["permissions.E001"]


@pytest.mark.parametrize("name", ["AnonymousUser", "nobody", ""])
def test_an_account_for_those_who_are_not_signed_in_is_found(settings, name):
    settings.ANONYMOUS_USER_NAME = name
    assert ids(checks.check_settings(app_configs=None)) == ["permissions.E002"]


@isolate_apps("permissions")
def test_a_guarded_model_without_grants_a_scope_or_codenames_is_found(monkeypatch):
    class Adrift(Guarded):
        class Meta:
            app_label = "permissions"
            permissions = [("veiw", "May see it")]

    class Alone(GrantScope, Guarded):
        class Meta:
            app_label = "permissions"
            permissions = checks.OBJECT_PERMISSIONS

    monkeypatch.setattr(checks.apps, "get_models", lambda: [Adrift, Alone])
    found = checks.check_guarded_models(app_configs=None)
    assert [(message.obj, message.id) for message in found] == [
        (Adrift, "permissions.E003"),
        (Adrift, "permissions.E003"),
        (Adrift, "permissions.E004"),
        (Alone, "permissions.E003"),
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "actor",
    [Person(ANA), Client(DESK), Client(DESK, ANA), Agent(ROBIN, DINNER, Client(DESK, ANA)), System()],
)
def test_an_actor_comes_back_from_its_column_as_itself(actor):
    made = GrantChange(by=actor, account=account("Zoe"), codename="view", given=True, epoch=1)
    made.object_id = made.scope_id = place().workspace.pk
    made.save()
    assert GrantChange.objects.get(by=actor).by == actor
    [copied] = serializers.deserialize("json", serializers.serialize("json", [made]))
    assert copied.object.by == actor
