"""``manage.py propose``: suggests a document's new text over the API (DESIGN 5 and 11)."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from agents.clients.terminal.api import Unanswered
from agents.clients.terminal.command import TerminalCommand, text_of
from agents.clients.terminal.finding import document_named, thread_named
from agents.clients.terminal.show import proposal


class Command(TerminalCommand):
    """Suggest that a document should say what a file says."""

    help = (
        "Suggest, in a thread of a running server, that a document should say what a file says. "
        "Exits with 0 when it is proposed, 4 when it was refused, 1 on an error."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("document", help="the document's id, or its title")
        parser.add_argument("file", help="its whole new text; - reads standard input")
        parser.add_argument("--thread", required=True, help="the thread it is suggested in: its id, or its title")
        parser.add_argument("--base", type=int, default=0, help="the version that the file was made from (the newest)")
        parser.add_argument("--because", default="", help="why, for whoever reads it")
        parser.add_argument("--key", default="", help="the same key is the same proposal, however often it is sent")
        super().add_arguments(parser)

    def act(self, *, document: str, file: str, thread: str, base: int, because: str, key: str, **_: Any) -> int:
        """Propose it, and show the proposal as others see it."""
        text = _text(file)
        found, place = document_named(self.api, document), thread_named(self.api, thread)
        version = base or self.api.read(f"/documents/{found}")["version"]
        made = self.api.command(
            "document_save", key, document=found, text=text, base_version=version, thread=place, rationale=because,
            propose=True,
        )  # fmt: skip
        shown = self.api.read(f"/proposals/{made['proposal']}")
        self.emit(shown)
        self.show(proposal(shown))
        return 0


def _text(file: str) -> str:
    if file == "-":
        return text_of(file)
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Unanswered(f"{file} cannot be read: {getattr(error, 'strerror', None) or 'it is no UTF-8'}.") from error
