"""``manage.py tool``: the tools there are, enabling one in a workspace, and beginning a new pack (docs/tools.md)."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from agents.models.tools import WorkspaceTool
from agents.tools.enabling import workspace_tool_enable
from agents.tools.registry import TOOLS
from agents.tools.scaffold import BadName, NoPlace, files_of, lines_of, registered
from collab.errors import CollabError
from collab.models.workspaces import Workspace
from collab.naming import Unnamed, actor_named, object_named
from permissions.actors import Person, account_of
from permissions.errors import PermissionsError
from permissions.models import User
from permissions.roles import USE_TOOL
from permissions.services import grant_give

REGISTRY = "agents/tools/registry.py"


class Command(BaseCommand):
    """Tools, by hand."""

    help = "List the tools, enable one in a workspace, or begin a new pack."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take one of three actions."""
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="every tool with its effect, and the workspaces where it is enabled")
        enable = actions.add_parser("enable", help="enable a tool in a workspace, and give it to some")
        enable.add_argument("name")
        enable.add_argument("--workspace", required=True, help="its name or id")
        enable.add_argument("--by", required=True, metavar="USERNAME", help="who manages the workspace")
        enable.add_argument("--for", dest="holders", nargs="+", default=[], metavar="ACCOUNT",
                            help="user names, and names of agents and clients, that may use it")  # fmt: skip
        new = actions.add_parser("new", help="make a pack with one working tool, its words and its test")
        new.add_argument("name", help="like weather")
        new.add_argument("--into", type=Path, default=settings.BASE_DIR, metavar="FOLDER", help="the project's folder")

    def handle(self, *_: Any, **options: Any) -> None:
        """Do the action.

        Raises:
            CommandError: something is named that there is not, or may not be done; nothing is changed.
        """
        try:
            match options["action"]:
                case "list":
                    self._list()
                case "enable":
                    self._enable(options)
                case _:
                    self._new(options["name"], Path(options["into"]))
        except (Unnamed, BadName) as wrong:
            raise CommandError(str(wrong)) from wrong
        except (CollabError, PermissionsError) as refused:
            raise CommandError(refused.because) from refused

    def _list(self) -> None:
        where: dict[str, list[str]] = {}
        for row in WorkspaceTool.objects.select_related("workspace").order_by("workspace__name", "pk"):
            where.setdefault(row.tool_id, []).append(row.workspace.name)
        for name in sorted({*TOOLS, *where}):
            tool = TOOLS.get(name)
            effect = tool.effect if tool else "gone"
            needed = tool is None or tool.permission
            enabled = ", ".join(where.get(name, ())) or "nowhere yet"
            self.stdout.write(f"{name:24} {effect:6} {f'enabled: {enabled}' if needed else 'needs no enabling'}")

    @transaction.atomic
    def _enable(self, options: dict[str, Any]) -> None:
        by = actor_named(options["by"], None, None)
        if not isinstance(by, Person):
            raise CommandError(f"{options['by']} is no person, and only a person enables tools.")
        place = _workspace_named(options["workspace"])
        holders = [_account_named(name) for name in options["holders"]]
        row = workspace_tool_enable(actor=by, workspace=place.id, tool=options["name"])
        for holder in holders:
            grant_give(by=by, holder=holder, codename=USE_TOOL, obj=row, reason="enabled for them")
        others = f", for {', '.join(holder.name for holder in holders)}" if holders else ""
        self.stdout.write(f"{row.tool_id} is enabled in {place.name}{others}.")

    def _new(self, pack: str, into: Path) -> None:
        files = {into / path: text for path, text in files_of(pack).items()}
        if there := [path for path in files if path.exists()]:
            raise CommandError(f"{there[0].relative_to(into)} is there already.")
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            self.stdout.write(f"made     {path.relative_to(into)}")
        self._add(pack, into / REGISTRY)
        self.stdout.write(f"test it: python -m pytest tests/integration/test_{pack}_pack.py")

    def _add(self, pack: str, registry: Path) -> None:
        try:
            registry.write_text(registered(registry.read_text("utf-8"), pack), "utf-8")
        except (NoPlace, FileNotFoundError):
            imported, name = lines_of(pack)
            self.stdout.write(f"add to {REGISTRY}: {imported}; and {name} to PACKS")
        else:
            self.stdout.write(f"added to {REGISTRY}")


def _workspace_named(name: str) -> Workspace:
    found = object_named(f"workspace:{name}")
    if not isinstance(found, Workspace):
        raise Unnamed(f"There is no workspace called {name!r}.")
    return found


def _account_named(name: str) -> User:
    account = account_of(actor_named(name, None, None))
    if account is None:
        raise Unnamed(f"There is no account called {name!r}.")
    return User.objects.get(pk=account)
