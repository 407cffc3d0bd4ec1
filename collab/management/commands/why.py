"""``manage.py why``: may an actor do something, what decides it, and what would have to change (DESIGN 11)."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from json import dumps
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from collab.asking import Object, explained, explained_at
from collab.errors import Invalid
from collab.models.threads import Thread
from collab.naming import Unnamed, actor_named, object_named, thread_named
from collab.services.checks import valid
from collab.text import clean_text
from permissions.actors import Actor
from permissions.decisions import Action, Level
from permissions.replay import Moment
from permissions.why import Explanation, json_of, lines_of

EXITS = {Level.ALLOW: 0, Level.PROPOSE: 3, Level.DENY: 4}
"""What the command exits with; 1 is an error."""

LONGEST_NAME = 1_000
"""Bytes of what an argument names something by."""


class Command(BaseCommand):
    help = (
        "Say whether someone may do something, what decides it, and what would have to change. "
        "Exits with 0 when it is allowed, 3 when it may only be proposed, 4 when it is refused, 1 on an error."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("actor", help="a user name, an agent's or a client's name, or an account's id")
        parser.add_argument("action", choices=[action.value for action in Action], metavar="action",
                            help=", ".join(action.value for action in Action))  # fmt: skip
        parser.add_argument("object", help="an id, or workspace:NAME, thread:TITLE or document:TITLE")
        parser.add_argument("--for", dest="person", metavar="PERSON", help="whom the agent or the client acts for")
        parser.add_argument("--in", dest="thread", metavar="THREAD", help="the thread it is done in, whose mode counts")
        parser.add_argument("--at", metavar="TIME", help="a moment in the past, as 2026-06-12T10:00+00:00")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_: Any, **options: Any) -> None:
        """Explain one decision.

        Raises:
            CommandError: an argument names nothing, several things, or nothing that can be asked.
        """
        names = {name: options[name] for name in ("object", "thread", "actor", "person") if options[name]}
        try:
            with valid():
                for name, text in names.items():
                    clean_text(text, limit_bytes=LONGEST_NAME, name=f"the {name}'s name", allow_blank=True)
            obj = object_named(options["object"])
            thread = thread_named(options["thread"], obj)
            actor = actor_named(options["actor"], options["person"], thread)
        except (Unnamed, Invalid) as wrong:
            raise CommandError(str(wrong)) from wrong
        told = _told(actor, Action(options["action"]), obj, thread, options["at"])
        self.stdout.write(dumps(json_of(told), ensure_ascii=False) if options["json"] else "\n".join(lines_of(told)))
        if code := EXITS[told.decision.level]:
            sys.exit(code)


def _told(actor: Actor, action: Action, obj: Object, thread: Thread | None, at: str | None) -> Explanation:
    if at is None:
        return explained(actor, action, obj, thread)
    return explained_at(actor, action, obj, Moment(_moment(at)), thread)


def _moment(text: str) -> datetime:
    try:
        found = parse_datetime(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise CommandError(f"{text!r} is no moment with a time zone, like 2026-06-12T10:00+00:00.")
    if found > timezone.now():
        raise CommandError(f"{text} is in the future.")
    try:
        return found.astimezone(UTC)
    except OverflowError:
        raise CommandError(f"{text} is too long ago.") from None
