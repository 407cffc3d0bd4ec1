"""System checks: what would make a decision wrong is found before the first request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.db import models

from permissions.grants import grant_models, scope_path
from permissions.models import Guarded
from permissions.roles import OBJECT_PERMISSIONS, TOOL_PERMISSIONS

KNOWN_SETS = tuple(
    frozenset(codename for codename, _ in declared) for declared in (OBJECT_PERMISSIONS, TOOL_PERMISSIONS)
)


def check_settings(*, app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Check that accounts are ours and that no one is signed in without an account."""
    found: list[CheckMessage] = []
    if settings.AUTH_USER_MODEL != "permissions.User":
        found.append(Error("AUTH_USER_MODEL must be 'permissions.User'.", id="permissions.E001"))
    if getattr(settings, "ANONYMOUS_USER_NAME", "AnonymousUser") is not None:
        hint = "Set ANONYMOUS_USER_NAME = None."
        found.append(
            Error("guardian must make no account for people who are not signed in.", hint, id="permissions.E002")
        )
    return found


def check_guarded_models(*, app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Check that every guarded model has its grant models, a scope, and one of the known sets of codenames."""
    guarded = [model for model in apps.get_models() if issubclass(model, Guarded)]
    return [message for model in guarded for message in _check_model(model)]


def _check_model(model: type[models.Model]) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    for required in (grant_models, scope_path):
        try:
            required(model)
        except LookupError as error:
            found.append(Error(f"{error}.", obj=model, id="permissions.E003"))
    if frozenset(codename for codename, _ in model._meta.permissions) not in KNOWN_SETS:
        hint = "Set Meta.permissions to OBJECT_PERMISSIONS or TOOL_PERMISSIONS of permissions.roles."
        found.append(Error("A guarded model declares every codename it is asked for.", hint, model, "permissions.E004"))
    return found
