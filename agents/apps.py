from importlib import import_module

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"
    verbose_name = "Agents"

    def import_models(self) -> None:
        """Find the models of this app's files: packages here have an empty ``__init__``."""
        super().import_models()
        for room in ("agents", "turns", "replies"):
            import_module(f"agents.models.{room}")

    def ready(self) -> None:
        """Connect the one signal, and register this app's commands and reads (DESIGN 3)."""
        import_module("agents.wiring").connect()
