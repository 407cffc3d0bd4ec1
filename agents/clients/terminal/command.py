"""What the terminal's commands share: where the server is, who asks, how they show things and how they end."""

from __future__ import annotations

import json
import logging
import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.text import Text

from agents.clients.terminal.api import Api, Denied, Unanswered
from agents.clients.terminal.show import Lines, plain
from agents.errors import AgentsError

DEFAULT_URL = "http://127.0.0.1:8000"

WAITS, REFUSED, ENDED = 3, 4, 130
"""What a command exits with when it waits for someone, when it was refused, and when it was interrupted; 1 is an
error."""

NEEDED = (
    "Set ACCORD_TOKEN to a token of yours: make one on your account page, under Clients. It is read from the "
    "environment alone, as arguments are seen by others and kept by shells."
)


class TerminalCommand(BaseCommand):
    """A command over the public API; it opens no database."""

    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    api: Api
    console: Console
    as_json: bool

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add what every one of them takes."""
        parser.add_argument("--url", default="", help=f"the server (ACCORD_URL, else {DEFAULT_URL})")
        parser.add_argument("--json", action="store_true", help="print JSON, one object a line, and nothing else")

    def handle(self, *_: Any, **options: Any) -> None:
        """Do it, and exit by how it went.

        Raises:
            CommandError: it was refused (exits with 4), or no server answers (exits with 1).
        """
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        self.as_json = options["json"]
        self.console = _console(options)
        token = os.environ.get("ACCORD_TOKEN", "").strip()
        if not token:
            raise CommandError(NEEDED)
        url = options["url"] or os.environ.get("ACCORD_URL", "") or DEFAULT_URL
        try:
            self.api = Api(url, token, notice=self.notice)
            code = self.act(**options)
        except AgentsError as error:
            status = REFUSED if isinstance(error, Denied) else 1
            raise CommandError(_told(error), returncode=status) from error
        except KeyboardInterrupt:
            sys.exit(ENDED)
        if code:
            sys.exit(code)

    def act(self, *_: Any, **options: Any) -> int:
        """Do what the command is for and return what it exits with. Raises :class:`Denied` and :class:`Unanswered`."""
        raise NotImplementedError

    def notice(self, because: str) -> None:
        """Say on the error output why something takes longer."""
        self.stderr.write(f"{plain(because)} Trying again.")

    def show(self, lines: Lines) -> None:
        """Print lines, unless what is printed is for programs."""
        for line in lines if not self.as_json else ():
            self.console.print(line, soft_wrap=True)

    def say(self, text: str, style: str = "") -> None:
        """Print one sentence, unless what is printed is for programs."""
        self.show([Text(plain(text), style)])

    def emit(self, found: Any) -> None:
        """Print one JSON object on a line, where what is printed is for programs."""
        if self.as_json:
            print(json.dumps(found, ensure_ascii=True), file=self.console.file, flush=True)


def _console(options: dict[str, Any]) -> Console:
    return Console(
        file=options.get("stdout") or sys.stdout,
        no_color=options.get("no_color") or None,
        force_terminal=options.get("force_color") or None,
        markup=False,
        emoji=False,
        highlight=False,
    )


def _told(error: AgentsError) -> str:
    said = plain(error.because)
    return f"refused ({plain(error.code)}): {said}" if isinstance(error, Denied) else said


def text_of(argument: str) -> str:
    """Return a text that is given as an argument, or by standard input where that is ``-``.

    Raises:
        Unanswered: standard input is no UTF-8.
    """
    if argument != "-":
        return argument
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise Unanswered(f"Standard input is no UTF-8: {error.reason}.") from error
