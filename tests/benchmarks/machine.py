"""The machine a run was made on, how busy it was, and what a process of it costs."""

from __future__ import annotations

import os
import platform
import sqlite3
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("django", "channels", "daphne", "django-guardian", "mcp", "psycopg", "pydantic-ai-slim", "websockets")
TICKS = os.sysconf("SC_CLK_TCK")
KIB = 1024


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process has used so far: seconds of processor time, bytes of resident memory."""

    seconds: float
    resident: int


def usage(pid: int) -> Usage:
    """Read what a process has used."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{pid}/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return Usage((int(stat[11]) + int(stat[12])) / TICKS, int(resident.split()[1]) * KIB)


def load() -> list[float]:
    """Return the load averages of the last 1, 5 and 15 minutes."""
    return [round(value, 2) for value in os.getloadavg()]


def versions() -> dict[str, str]:
    """Return the versions of what was measured."""
    found = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version, **found}


def description() -> dict[str, object]:
    """Return what is worth knowing of the machine."""
    return {"cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}", "priority": os.nice(0)}
