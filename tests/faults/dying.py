"""Accord's processes with the tools of ``tables.py``, which die where a test says: ``python -m tests.faults.dying``.

``manage …`` runs a management command. ``idle manage …`` runs one whose process stores deliveries and never comes to
act on them. ``die CASE …`` works cases of ``deaths.py``, each in a process of its own that kills itself.
"""

from __future__ import annotations

import importlib
import os
import sys

import django
from django.core.management import execute_from_command_line

ENTRY = ("-m", "tests.faults.dying")


def main(arguments: list[str]) -> None:
    """Run what the arguments say."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collab.settings")
    django.setup()
    deaths = importlib.import_module("tests.faults.deaths")  # it imports models, so Django is set up before it
    deaths.tables_registered()
    match arguments:
        case ["die", *cases]:
            deaths.work_to_death(cases)
        case ["idle", "manage", *command]:
            deaths.deliveries_left()
            execute_from_command_line(["manage.py", *command])
        case ["manage", *command]:
            execute_from_command_line(["manage.py", *command])


if __name__ == "__main__":
    main(sys.argv[1:])
