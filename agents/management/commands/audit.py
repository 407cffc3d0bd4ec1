"""``manage.py audit``: does everything that the logs and the rows say keep the rules?"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.audit import anchors, reading
from agents.audit.anchors import Anchors, BadAnchor
from agents.audit.rows import Finding
from agents.audit.run import Progress, audit


class Command(BaseCommand):
    """Check the invariants of every thread's log and its hash chain (DESIGN 4 to 6)."""

    help = "Check every thread's log and what it records; print a line for each violation, and exit with 1 for any."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take ``--json`` and ``--anchor``."""
        parser.add_argument("--json", action="store_true", help="print JSON objects, one a line")
        parser.add_argument(
            "--anchor",
            type=Path,
            metavar="FILE",
            help="compare the heads kept in FILE with the logs; then, if nothing is wrong, keep the present ones there",
        )

    def handle(self, *_: Any, json: bool = False, anchor: Path | None = None, **options: Any) -> None:
        """Audit all threads.

        Raises:
            CommandError: something is wrong; each thing has been named on a line of its own. Or FILE holds no anchors.
        """
        progress, violations = Progress(), 0
        try:
            with reading.snapshot():
                for finding in self._findings(progress, anchor):
                    violations += not finding.is_note
                    self.stdout.write(_as_json(finding) if json else _as_text(finding))
        except (BadAnchor, OSError) as wrong:
            raise CommandError(f"{anchor}: {wrong}") from wrong
        if violations:
            raise CommandError(f"{violations} violations in {progress.threads} threads, {progress.events} events")
        if not json:
            self.stdout.write(f"{progress.threads} threads, {progress.events} events: nothing is wrong")
