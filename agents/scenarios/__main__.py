"""``python -m agents.scenarios FOLDER NAME…``: plays scenarios and writes what each came to, a line of JSON each.

`manage.py scenario` starts it, with an environment in which the database is a file of the folder. The folder's database
is migrated once and copied for each scenario, which gets a process of its own, so that none knows of another.
"""

from __future__ import annotations

import json
import multiprocessing
import shutil
import sys
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connections


def main(folder: Path, names: Sequence[str]) -> None:
    """Play scenarios, one after another.

    Raises:
        SystemExit: the database of the settings is not one of the folder.
    """
    if settings.DATABASES["default"]["NAME"] != str(folder / "accord.sqlite3"):
        raise SystemExit("Scenarios are played on a database that is thrown away; use manage.py scenario.")
    call_command("migrate", verbosity=0)
    connections.close_all()
    for name in names:
        sys.stdout.write(json.dumps(_apart(folder, name)) + "\n")
        sys.stdout.flush()


def _apart(folder: Path, name: str) -> dict[str, Any]:
    """Play a scenario in a process of its own, on a copy of the database; what goes wrong is returned as ``error``."""
    own = folder / name
    own.mkdir()
    shutil.copy(folder / "accord.sqlite3", own)
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_child, args=(there, name, own))
    process.start()
    there.close()
    try:
        told: dict[str, Any] = here.recv()
    except EOFError:
        told = {"name": name, "error": "Its process died."}
    process.join()
    return told


def _child(told: Connection, name: str, folder: Path) -> None:
    try:
        told.send(played(load_scenario(name), folder))
    except Exception:
        told.send({"name": name, "error": traceback.format_exc()})


if __name__ == "__main__":
    django.setup()
    from agents.scenarios.acts import load_scenario
    from agents.scenarios.play import played

    _, where, *asked = sys.argv
    main(Path(where), asked)
