"""``manage.py post``: posts a message to a thread over the API, and shows what comes of it (DESIGN 11)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from rich.status import Status

from agents.clients.terminal.api import Told, Unanswered
from agents.clients.terminal.command import REFUSED, WAITS, TerminalCommand, text_of
from agents.clients.terminal.finding import thread_named
from agents.clients.terminal.show import lines_of, live
from agents.clients.terminal.waiting import COMPLETED, ENDED, HELD, PAUSED, Waiting

EXITS = {COMPLETED: 0, PAUSED: WAITS, HELD: WAITS, ENDED: 1}


class Command(TerminalCommand):
    """Post a message, and follow the turn that takes it until it ends."""

    help = (
        "Post a message to a thread of a running server and show the turn that takes it. Exits with 0 when the turn "
        "completed, 3 when it waits for someone, 4 when it was refused or passed over, 1 on an error."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("thread", help="the thread's id, or its title")
        parser.add_argument("text", help="what to say; - reads standard input")
        parser.add_argument("--comment", action="store_true", help="say it to the people, not to the agent")
        parser.add_argument("--no-wait", action="store_true", help="end as soon as it is posted")
        parser.add_argument("--key", default="", help="the same key is the same message, however often it is sent")
        super().add_arguments(parser)

    def act(self, *, thread: str, text: str, comment: bool, no_wait: bool, key: str, **_: Any) -> int:
        """Post it, and wait for what comes of it."""
        found = thread_named(self.api, thread)
        cursor = self.api.read(f"/threads/{found}")["cursor"]
        kind = "comment" if comment else "message"
        posted = self.api.command("message_post", key, thread=found, text=text_of(text), kind=kind)
        self.emit(posted)
        if no_wait or posted["kind"] != "message":
            self.say(f"Posted a {posted['kind']}, {posted['message']}.", "dim")
            return 0
        waiting = Waiting(posted["message"])
        with self.console.status("Waiting for the agent", spinner="dots") as status:
            for told in self.api.follow(found, cursor):
                self._see(told, waiting, status)
                if waiting.end:
                    return WAITS if waiting.actions else EXITS.get(waiting.end, REFUSED)
        raise Unanswered

    def _see(self, told: Told, waiting: Waiting, status: Status) -> None:
        if told.event == "live" and told.data["turn"] == waiting.turn:
            status.update(live(told.data["text"]))
        if told.event == "event":
            self.emit(told.data)
            waiting.read(told.data)
            self.show(lines_of(told.data))
