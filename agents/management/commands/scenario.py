"""``manage.py scenario``: plays a scenario on a database that is thrown away (docs/scenarios.md)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from agents.scenarios.acts import ScenarioError, load_scenario, names
from agents.scenarios.printing import printed

LOGS = Path(settings.BASE_DIR) / "tests" / "scenarios" / "logs"


class Command(BaseCommand):
    """Play scenarios and print what came of them. The database of the settings is not touched."""

    help = "Play a scenario on a throw-away database with a clock that stands, and print its timeline."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="a scenario; several are played one after another")
        parser.add_argument("--list", action="store_true", help="list the scenarios, with what each shows")
        parser.add_argument("--all", action="store_true", help="play every scenario")
        parser.add_argument("--history", action="store_true", help="print what the model of each turn read and said")
        parser.add_argument("--json", action="store_true", help="print a line of JSON each")
        parser.add_argument("--record", action="store_true", help=f"write the timelines to {LOGS.name}/NAME.txt")

    def handle(self, *_: Any, **options: Any) -> None:
        """Play what is named.

        Raises:
            CommandError: nothing is named, there is no such scenario, a file is none, or a scenario broke off.
        """
        chosen = names() if options["all"] or options["list"] else options["names"]
        try:
            found = [load_scenario(name) for name in chosen]
        except ScenarioError as wrong:
            raise CommandError(str(wrong)) from wrong
        if options["list"]:
            for one in found:
                self.stdout.write(f"{one.name:<28} {one.scenario.shows}")
            return
        if not chosen:
            raise CommandError("name a scenario, or use --list or --all")
        for told in played(chosen):
            self._tell(told, options)

    def _tell(self, told: dict[str, Any], options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(told))
            return
        if "error" in told:
            raise CommandError(f"the scenario {told['name']} broke off:\n{told['error']}")
        if options["record"]:
            LOGS.mkdir(parents=True, exist_ok=True)
            (LOGS / f"{told['name']}.txt").write_text(printed(told), encoding="utf-8")
        self.stdout.write(printed(told, history=options["history"]))


def played(chosen: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Play scenarios in a process with a database of its own, and yield what each came to.

    Raises:
        CommandError: that process failed.
    """
    with tempfile.TemporaryDirectory(prefix="accord-scenario-") as folder:
        command = [sys.executable, "-m", "agents.scenarios", folder, *chosen]
        with subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=_environment(folder), stdout=subprocess.PIPE, text=True
        ) as process:
            for line in process.stdout or ():
                yield json.loads(line)
        if process.returncode:
            raise CommandError("the scenarios could not be played; what was said above tells why")


def _environment(folder: str) -> dict[str, str]:
    """The environment without what it says of Accord, and with a database of the folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ACCORD_")}
    return {
        **kept,
        "ACCORD_DATA": folder,
        "ACCORD_LOG_LEVEL": "WARNING",
        "DATABASE_URL": f"sqlite:///{folder}/accord.sqlite3",
        "DJANGO_SETTINGS_MODULE": "collab.settings",
        "REDIS_URL": "",
    }
