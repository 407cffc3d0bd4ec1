#!/usr/bin/env python
"""Accord's command line."""

import os
import sys

try:
    from django.core.management import execute_from_command_line
except ModuleNotFoundError as missing:
    if missing.name != "django":
        raise
    sys.exit("This Python has no Django: run .venv/bin/python manage.py, which `make run` makes.")

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collab.settings")
    execute_from_command_line(sys.argv)
