from importlib import import_module

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AgentsConfig(AppConfig):
    name = "agents"
    verbose_name = "Agents"

    def import_models(self) -> None:
        """Find the models of this app's files: packages here have an empty ``__init__``."""
        super().import_models()
        for room in ("agents", "turns", "replies", "tools", "actions", "sources", "timers", "clients"):
            import_module(f"agents.models.{room}")

    def ready(self) -> None:
        """Connect the one signal, and register this app's commands and reads (DESIGN 3)."""
        import_module("agents.wiring").connect()
        synced = import_module("agents.tools.enabling").tools_synced
        post_migrate.connect(synced, sender=self, dispatch_uid="agents.tools")
