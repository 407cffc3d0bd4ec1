from importlib import import_module

from django.apps import AppConfig
from django.core.checks import register
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate

from collab.processes import check_runners
from collab.searches.install import prepare_connection, restore_triggers


class CollabConfig(AppConfig):
    name = "collab"
    verbose_name = "Threads and documents"

    def import_models(self) -> None:
        """Find the models of this app's files: packages here have an empty ``__init__``."""
        super().import_models()
        for room in ("workspaces", "threads", "documents", "proposals", "delegations", "grants", "searches"):
            import_module(f"collab.models.{room}")

    def ready(self) -> None:
        """Register this app's check, commands and items, and connect its sockets to sessions (DESIGN 3)."""
        register(check_runners)
        connection_created.connect(prepare_connection, dispatch_uid="accord_words")
        post_migrate.connect(restore_triggers, sender=self, dispatch_uid="accord_words")
        import_module("collab.web.wiring").connect()
