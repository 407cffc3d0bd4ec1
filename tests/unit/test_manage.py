"""The command line says what to do where it cannot start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MANAGE = Path(__file__).resolve().parent.parent.parent / "manage.py"


def manage(*before: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *before, MANAGE, "version"], env=environment, capture_output=True, text=True, check=False
    )


def test_a_python_without_django_is_told_which_one_to_run():
    told = manage("-S")
    assert told.returncode == 1
    assert told.stderr.strip() == "This Python has no Django: run .venv/bin/python manage.py, which `make run` makes."


def test_an_empty_database_address_is_none(tmp_path):
    told = manage(DATABASE_URL="", ACCORD_DATA=str(tmp_path))
    assert (told.returncode, told.stderr) == (0, "")
