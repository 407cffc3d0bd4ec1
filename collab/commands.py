"""The command registry: what every surface can ask for, by name, each carried out once (DESIGN 3, 4 and 9).

A command has an id its sender made. The id, the sender and what was asked are stored in the transaction that carries
it out, so the same command sent again, to any process and after a restart, gets the answer of the first time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import transaction
from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError

from collab.canonical import BadJson, canonical
from collab.errors import Invalid, Reused, UnknownCommand, first_fault
from collab.models.threads import Command
from permissions.actors import Actor

Result = dict[str, Any]

_ID = re.compile(r"[A-Za-z0-9._:-]{1,100}")


class Args(BaseModel):
    """The arguments of a command: a closed model. A subclass adds the fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    _command_id: str = PrivateAttr(default="")

    @property
    def command_id(self) -> str:
        """The id the sender gave the command; a posted message carries it as its ``client_id``."""
        return self._command_id


ArgsT = TypeVar("ArgsT", bound=Args)


@dataclass(frozen=True, slots=True)
class Handler:
    """What carries out one command: its arguments, and a function that returns the JSON data of its result.

    Attributes:
        stored: False where doing it twice does no more than doing it once, so that nothing is kept of it.
        apart: it consists of commands of its own, each of which is carried out once, in its own transaction.
    """

    args: type[Args]
    fn: Callable[[Actor, Any], Result]
    stored: bool = True
    apart: bool = False


HANDLERS: dict[str, Handler] = {}


def register(
    name: str, args: type[ArgsT], fn: Callable[[Actor, ArgsT], Result], *, stored: bool = True, apart: bool = False
) -> None:
    """Add a command. Registering a name again replaces its handler. See :class:`Handler`."""
    HANDLERS[name] = Handler(args, fn, stored, apart)


def run(actor: Actor, name: str, command_id: str, body: dict[str, Any]) -> Result:
    """Carry out a command once and return its result; sent again, return the result of the first time.

    A command that is refused stores nothing, so the same id may be tried again.

    Args:
        actor: the person or client that sends it.
        command_id: made by the sender: 1 to 100 letters, digits and ``._:-``.
        body: the arguments, as they were sent.

    Raises:
        Invalid: there is no such command, or the id or an argument is not valid.
        Reused: the sender used the id for something else.
        Exception: whatever the service refuses (:mod:`permissions.errors`, :mod:`collab.errors`).
    """
    handler, args = _parsed(name, command_id, body)
    digest = _digest(name, args)
    if handler.apart:
        return _run_apart(actor, handler, args, digest)
    with transaction.atomic():
        if not handler.stored:
            return handler.fn(actor, args)
        # The row is the claim: a second sender of the id waits here until the first commits, then reads its result.
        claim, is_new = Command.objects.get_or_create(
            actor=actor, command_id=command_id, defaults={"body_hash": digest, "result": {}}
        )
        if not is_new:
            return _earlier(claim, digest)
        result = claim.result = handler.fn(actor, args)
        claim.save(update_fields=["result"])
        return result


def _run_apart(actor: Actor, handler: Handler, args: Args, digest: str) -> Result:
    """What it consists of is carried out once each, so two that do it at once do no more than one."""
    claim = Command.objects.filter(actor=actor, command_id=args.command_id).first()
    if claim is None:
        result = handler.fn(actor, args)
        claim, _ = Command.objects.get_or_create(
            actor=actor, command_id=args.command_id, defaults={"body_hash": digest, "result": result}
        )
    return _earlier(claim, digest)


def _parsed(name: str, command_id: str, body: dict[str, Any]) -> tuple[Handler, Args]:
    handler = HANDLERS.get(name)
    if handler is None:
        raise UnknownCommand()
    if not _ID.fullmatch(command_id):
        raise Invalid("A command's id is 1 to 100 letters, digits and . _ : -")
    try:
        args = handler.args.model_validate(body)
    except ValidationError as error:
        raise Invalid(first_fault(error)) from error
    args._command_id = command_id
    return handler, args


def _digest(name: str, args: Args) -> str:
    try:
        text = canonical([name, args.model_dump(mode="json")])
    except BadJson as error:
        raise Invalid(error.because) from error
    return hashlib.sha256(text.encode()).hexdigest()


def _earlier(claim: Command, digest: str) -> Result:
    if claim.body_hash != digest:
        raise Reused()
    earlier: Result = claim.result
    return earlier
