"""``manage.py tail``: shows a thread over the API as it goes on (DESIGN 11)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from rich.status import Status

from agents.clients.terminal.api import Told
from agents.clients.terminal.command import TerminalCommand
from agents.clients.terminal.finding import thread_named
from agents.clients.terminal.show import lines_of, live, message

FOLLOWING = "Following; Ctrl+C ends it"


class Command(TerminalCommand):
    """Show the newest messages of a thread, then all that happens in it."""

    help = "Show the newest messages of a thread of a running server, then all that happens in it, until Ctrl+C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("thread", help="the thread's id, or its title")
        parser.add_argument("-n", dest="lines", type=int, default=10, help="messages shown first, 0 to 200 (10)")
        parser.add_argument("--no-follow", action="store_true", help="end after these")
        super().add_arguments(parser)

    def act(self, *, thread: str, lines: int, no_follow: bool, **_: Any) -> int:
        """Show what was posted, then follow."""
        found = thread_named(self.api, thread)
        shown = self.api.read(f"/threads/{found}")
        if lines > 0:
            self._messages(found, min(lines, 200), shown["head_seq"])
        if no_follow:
            return 0
        with self.console.status(FOLLOWING, spinner="dots") as status:
            for told in self.api.follow(found, shown["cursor"]):
                self._see(told, status)
        return 0

    def _messages(self, thread: str, limit: int, upto: int) -> None:
        """What was posted after ``upto`` was read is shown as it is followed."""
        for item in self.api.read(f"/threads/{thread}/messages", limit=limit)["items"]:
            if item["seq"] <= upto:
                self.emit(item)
                self.show(message(item))

    def _see(self, told: Told, status: Status) -> None:
        if told.event == "live":
            status.update(live(told.data["text"]))
        if told.event == "event":
            self.emit(told.data)
            self.show(lines_of(told.data))
            if told.data["event"] == "turn_ended":
                status.update(FOLLOWING)
