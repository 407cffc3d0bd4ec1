"""``make bench``: measure every figure, each in a process of its own: ``python -m tests.benchmarks [figure…]``.

``--quick`` measures a little of each, to see that it works; ``--publish`` keeps the results in the repository and
writes them into docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks import machine, report
from tests.benchmarks.places import POSTGRESQL, SQLITE, Places

FIGURES: dict[str, tuple[str, ...]] = {
    "fan_out": (SQLITE,),
    "decide": (SQLITE, POSTGRESQL),
    "latency": (SQLITE, POSTGRESQL),
    "statements": (SQLITE, POSTGRESQL),
    "commit": (SQLITE, POSTGRESQL),
    "long_threads": (SQLITE, POSTGRESQL),
    "inbox": (SQLITE, POSTGRESQL),
    "search": (SQLITE, POSTGRESQL),
    "access": (SQLITE, POSTGRESQL),
    "idle": (SQLITE,),
    "admission": (SQLITE, POSTGRESQL),
    "calls": (SQLITE, POSTGRESQL),
    "approvals": (SQLITE, POSTGRESQL),
    "clients": (SQLITE, POSTGRESQL),
}
"""Each figure, and the databases it is measured on."""

LONGEST = 300
"""Seconds that one figure may take on one database."""


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and keep the results when asked to; return 0 when every target is met."""
    asked = _arguments().parse_args(arguments)
    missing = [name for name in ("httpx", "websockets") if find_spec(name) is None]
    assert not missing, f"install the dev extra first: {missing}"
    found: dict[str, dict[str, Any]] = {}
    with TemporaryDirectory() as folder, ExitStack() as stack:
        places = Places(Path(folder), stack)
        for figure in asked.figures or FIGURES:
            found[figure] = _heading(quick=asked.quick) | {"runs": list(_runs(places, figure, quick=asked.quick))}
            sys.stdout.write(report.text(figure, found[figure]))
            sys.stdout.flush()
            if asked.publish:
                report.publish({figure: found[figure]})
    return 0 if report.all_met(found) else 1


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench", description="Measure Accord beside its peers.")
    parser.add_argument("figures", nargs="*", choices=[[], *FIGURES], help="which; all when none is named")
    parser.add_argument("--quick", action="store_true", help="measure a little of each, to see that it works")
    parser.add_argument("--publish", action="store_true", help="keep the results and write docs/performance.md")
    return parser


def _heading(*, quick: bool) -> dict[str, Any]:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return {"at": at, "quick": quick, "machine": machine.description(), "versions": machine.versions()}


def _runs(places: Places, figure: str, *, quick: bool) -> Iterator[dict[str, Any]]:
    for database in FIGURES[figure]:
        if database not in places.databases():
            yield {"database": database, "results": [], "not_measured": "no such database answers on this machine"}
            continue
        with places.place(database) as environment:
            yield {"database": database, **_run(environment, figure, database, quick=quick)}


def _run(environment: dict[str, str], figure: str, database: str, *, quick: bool) -> dict[str, Any]:
    out = Path(environment["ACCORD_DATA"]) / "results.json"
    size = "quick" if quick else "full"
    command = [sys.executable, "-m", "tests.benchmarks.one", figure, database, size, str(out)]
    try:
        subprocess.run(command, env=environment, check=True, timeout=LONGEST)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failed:
        return {"results": [], "not_measured": f"it failed: {type(failed).__name__}"}
    measured: dict[str, Any] = json.loads(out.read_text())
    return measured


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
