from importlib import import_module

from django.apps import AppConfig
from django.core.checks import register

from collab.processes import check_runners


class CollabConfig(AppConfig):
    name = "collab"
    verbose_name = "Threads and documents"

    def import_models(self) -> None:
        """Find the models of this app's files: packages here have an empty ``__init__``."""
        super().import_models()
        for room in ("workspaces", "threads", "documents", "proposals", "delegations", "grants"):
            import_module(f"collab.models.{room}")

    def ready(self) -> None:
        """Register this app's check, commands and items, and connect its sockets to sessions (DESIGN 3)."""
        register(check_runners)
        import_module("collab.web.wiring").connect()
