"""``manage.py audit``: does everything that the logs and the rows say keep the rules?"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.audit import anchors, reading
from agents.audit.anchors import BadAnchor
from agents.audit.rows import Finding
from agents.audit.run import Progress, audit


class Command(BaseCommand):
    """Check the invariants of every thread's log, and its hash chain (DESIGN 4 to 6)."""

    help = "Check every thread's log and what it records; print a line for each violation, and exit with 1 for any."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take ``--json`` and ``--anchor``."""
        parser.add_argument("--json", action="store_true", help="print each finding as a JSON object")
        parser.add_argument(
            "--anchor",
            type=Path,
            metavar="FILE",
            help="compare the heads kept in FILE with the logs; then, if nothing is wrong, keep those of now there",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Audit all threads.

        Raises:
            CommandError: something is wrong, and each thing has been named on a line of its own; or the file of
                anchors cannot be read or written.
        """
        progress, violations = Progress(), 0
        try:
            with reading.snapshot():
                for finding in self._findings(progress, options["anchor"]):
                    violations += not finding.is_note
                    self.stdout.write(_json(finding) if options["json"] else _line(finding))
        except (BadAnchor, OSError) as wrong:
            raise CommandError(f"{options['anchor']}: {wrong}") from wrong
        seen = f"{progress.threads} threads, {progress.events} events"
        if violations:
            raise CommandError(f"{violations} violations in {seen}")
        if not options["json"]:
            self.stdout.write(f"{seen}: no violation")

    def _findings(self, progress: Progress, anchor: Path | None) -> Iterator[Finding]:
        progress.tell = self._tell if self.stderr.isatty() else progress.tell
        if anchor is None:
            yield from audit(progress)
            return
        with anchors.replacing(anchor) as heads:
            if anchor.exists():
                yield from heads.distrusting(anchors.missing(anchor, reading.head))
            yield from heads.distrusting(audit(progress, heads.add))

    def _tell(self, progress: Progress) -> None:
        self.stderr.write(f"\r{progress.threads} threads, {progress.events:,} events", ending="")


def _line(finding: Finding) -> str:
    where = "" if finding.seq is None else f" event {finding.seq}"
    note = "note: " if finding.is_note else ""
    return f"{finding.rule} thread {finding.thread}{where}: {note}{finding.because}"


def _json(finding: Finding) -> str:
    return dumps(asdict(finding))
