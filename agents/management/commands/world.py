"""``manage.py world``: a fake restaurant and a fake shop in a process of their own, for trying tools with."""

from __future__ import annotations

from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from agents.world.ledger import BadLedger, Ledger
from agents.world.server import World, serve


class Command(BaseCommand):
    """Serve the fake world on this machine until it is told to end. It needs no database."""

    help = "Serve a fake restaurant and a fake shop on this machine, with a ledger of what they did."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8200, help="the port on 127.0.0.1; 0 takes a free one (8200)")
        parser.add_argument("--ledger", default="", help="its ledger (world.jsonl in the folder of data)")

    def handle(self, *_: Any, port: int, ledger: str, **options: Any) -> None:
        """Serve until SIGTERM or SIGINT.

        Raises:
            CommandError: the port is taken, or the file is no ledger.
        """
        path = Path(ledger) if ledger else Path(settings.DATA_DIR) / "world.jsonl"
        try:
            with closing(Ledger(path)) as kept, World(kept, port) as world:
                serve(world, self._told)
        except (BadLedger, OSError, OverflowError) as error:
            raise CommandError(f"the world does not start: {error}") from error

    def _told(self, line: str) -> None:
        self.stdout.write(line, ending="")
        self.stdout.flush()
