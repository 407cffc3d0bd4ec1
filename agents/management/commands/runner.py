"""``manage.py runner``: works turns, beside web processes that only serve pages."""

from __future__ import annotations

import asyncio
import signal
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.providers.errors import ModelConfigError
from agents.turns import dispatch
from collab import doorbell
from collab.processes import require_migrated, require_runners


class Command(BaseCommand):
    """Work turns in this process."""

    help = "Work turns, as many processes of this as you like, beside `manage.py serve --web-only`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--concurrency", type=int, default=dispatch.AT_ONCE, help=f"turns at once ({dispatch.AT_ONCE})"
        )

    def handle(self, *_: Any, concurrency: int, **options: Any) -> None:
        """Work until SIGTERM or SIGINT, then let turns park at their next boundary.

        Raises:
            CommandError: PostgreSQL, Redis or ACCORD_RUNNERS is not set, a migration is not applied, or the model
                cannot be set up.
        """
        require_runners("manage.py runner")
        require_migrated("manage.py runner")
        try:
            asyncio.run(self._work(concurrency))
        except ModelConfigError as wrong:
            raise CommandError(f"it did not start: {wrong}") from wrong

    async def _work(self, concurrency: int) -> None:
        loop, asked_to_end = asyncio.get_running_loop(), asyncio.Event()
        for signal_ in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signal_, asked_to_end.set)
        doorbell.attach(loop)
        stop = await dispatch.start(at_once=concurrency)
        self.stdout.write("Accord works turns")
        self.stdout.flush()
        await asked_to_end.wait()
        await stop()
