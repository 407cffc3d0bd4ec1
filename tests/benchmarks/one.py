"""Measure one figure on one database, in a process whose settings point there: ``python -m tests.benchmarks.one``."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path

import django

from tests.benchmarks import machine
from tests.benchmarks.run import Run


def main(figure: str, database: str, quick: str, out: str) -> None:
    """Measure, and write the results to a file."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collab.settings")
    django.setup()
    before = machine.load()
    results = import_module(f"tests.benchmarks.{figure}").measure(Run(database, quick == "quick"))
    rows = [{"database": database, **result.json()} for result in results]
    Path(out).write_text(json.dumps({"load": {"before": before, "after": machine.load()}, "results": rows}))


if __name__ == "__main__":
    main(*sys.argv[1:])
