"""The app that decides who may do what."""

from importlib import import_module

from django.apps import AppConfig
from django.core.checks import register
from django.db.backends.signals import connection_created

from permissions.clock import prepare_connection


class PermissionsConfig(AppConfig):
    name = "permissions"
    verbose_name = "Rights"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # The checks import models, which exist only from here on.
        checks = import_module("permissions.checks")
        register(checks.check_settings)
        register(checks.check_guarded_models)
        connection_created.connect(prepare_connection, dispatch_uid="accord_clock")
