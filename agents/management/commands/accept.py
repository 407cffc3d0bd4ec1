"""``manage.py accept``: accepts a proposal over the API (DESIGN 5 and 11)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from agents.clients.terminal.command import REFUSED, TerminalCommand
from agents.clients.terminal.finding import open_proposal, thread_named
from agents.clients.terminal.show import proposal as lines_of_proposal


class Command(TerminalCommand):
    """Show a proposal, and accept it."""

    help = (
        "Show a proposal of a running server, and accept it. Exits with 0 when it was accepted (with --look: when it "
        "may be), 4 when that was refused, 1 on an error."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("proposal", help="its id; with --thread, the title of the document it is for")
        parser.add_argument("--thread", default="", help="the thread it stands open in: its id, or its title")
        parser.add_argument(
            "--look", action="store_true", help="show it, and whether it may be accepted; accept nothing"
        )
        super().add_arguments(parser)

    def act(self, *, proposal: str, thread: str, look: bool, **_: Any) -> int:
        """Show what it changes, then accept it or say why not."""
        found = open_proposal(self.api, thread_named(self.api, thread), proposal) if thread else proposal
        shown = self.api.read(f"/proposals/{found}")
        self.show(lines_of_proposal(shown))
        if look:
            self.emit(shown)
            may = shown["may"]["accept"]
            self.say(may["because"], "green" if may["ok"] else "red")
            return 0 if may["ok"] else REFUSED
        # A proposal is accepted once, so its id makes it the same command when it is sent again.
        accepted = self.api.command("proposal_accept", f"accept-{found}", proposal=found)
        self.emit(accepted)
        self.say(accepted["summary"] or f"Accepted; it is version {accepted['version']}.", "green")
        return 0
