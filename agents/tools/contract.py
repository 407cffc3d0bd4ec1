"""What a tool is: a typed Python function with a contract (DESIGN 7)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_type_hints
from uuid import UUID

from pydantic import BaseModel, ConfigDict, JsonValue, create_model
from pydantic_ai.tools import ToolDefinition

from agents.errors import AgentsError
from collab.canonical import canonical
from collab.services.changes import ANYWHERE, Within
from permissions.actors import Agent

LONGEST_ARGS = 300_000
"""Bytes of a call's arguments; a call with more is refused."""

Effect = Literal["none", "read", "write"]

Consent = Literal["never", "unless_person", "always"]
"""Whether a person is asked before a call is sent: never; unless the turn began with nothing but persons; always."""


async def _undoes_nothing(name: str, tool: str) -> JsonValue:
    raise NotDone("Nothing is undone here.")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Who a call is made as, and where. It is made by the runtime; nothing in it can be an argument.

    Attributes:
        actor: the thread's agent, for whom the turn is: what every service called by a tool checks.
        workspace: the workspace of the thread.
        thread: the thread of the turn.
        turn: the turn.
        said: returns a text that the model wrote for people as they may read it, held to the record; "" where they may
            read none (REPLIES).
        key: the call's key. A keyed tool sends it along, so that what it asks for happens once however often it is
            sent; a lookup and an undo are given the key of the call they are about.
        within: what bounds a turn that no person began: its document tools hand it to the services they call.
        undoes: takes back what an earlier call of the thread did, by its name and its tool's, and returns what it was.
    """

    actor: Agent
    workspace: UUID
    thread: UUID
    turn: UUID
    said: Callable[[str], str]
    key: str = ""
    within: Within = ANYWHERE
    undoes: Callable[[str, str], Awaitable[JsonValue]] = _undoes_nothing


@dataclass(frozen=True, slots=True)
class Looked:
    """What a lookup found of a call whose outcome is not known: it happened (with this result), it did not, or, when
    ``happened`` is None, that is still not known."""

    happened: bool | None
    result: JsonValue = None
    because: str = ""


class NotDone(AgentsError):
    """A tool's certain failure: the other side said no, and nothing was done. ``because`` is a sentence for people.

    Anything else that a tool raises, a timeout and a lost connection too, leaves a sent call ``unknown``.
    """

    code = "not_done"


Lookup = Callable[[ToolContext, BaseModel], Awaitable[Looked]]
"""Asks the other side what became of a call: its context (with the call's key) and its arguments."""

Undo = Callable[[ToolContext, BaseModel, JsonValue], Awaitable[JsonValue]]
"""Takes back what a call did: its context (with its key), its arguments, its result. What it returns is not kept."""

Routes = Callable[[JsonValue], Sequence[tuple[str, str]]]
"""Names what a result is about, as (source name, subject) pairs: ``("restaurant", "reservation R1")``."""


@dataclass(frozen=True, slots=True)
class Asks:
    """A tool's result that is a question to people: the turn pauses until it is answered."""

    text: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recorded:
    """A tool's result that is recorded as another tool's: a lowered edit is a call of ``propose_change``."""

    tool: str
    result: JsonValue


@dataclass(frozen=True, slots=True)
class Tool:
    """A function and its contract.

    Attributes:
        local: it touches only this database, synchronously: its effect and its outcome are then one transaction, so
            they can never disagree. Others are stored with their key, sent, and stored again with their outcome.
        consent: see :data:`Consent`.
        keyed: the other side does what one key asks for once, so that sending it again is safe.
        permission: what its caller needs on the tool enabled in the workspace: ``use_tool``; "" where the services that
            it calls decide on the objects it touches.
        undo, lookup, routes: see :data:`Undo`, :data:`Lookup`, :data:`Routes`.
        per_turn: calls in one turn and its lineage, at most; None is no limit of its own.
        per_day: calls for one person (or for no one) in one workspace and day (UTC), at most.
        timeout: seconds a tool that is not local may take before its outcome is ``unknown``.
        args: the closed schema of its arguments.
        asks: it returns a question to people, in words that the model wrote.
    """

    name: str
    label: str
    effect: Effect
    local: bool
    consent: Consent
    keyed: bool
    permission: Literal["", "use_tool"]
    undo: Undo | None
    lookup: Lookup | None
    routes: Routes | None
    per_turn: int | None
    per_day: int | None
    timeout: float
    fn: Callable[..., Any]
    args: type[BaseModel]
    definition: ToolDefinition
    asks: bool


def written(tool: Tool, raw: object) -> str:
    """Return a call's arguments as its row keeps them: what goes to another side as the tool reads it, with what the
    model left out, so that one operation is written one way and consent shows all of it.

    Raises:
        ValidationError: they are not of the tool's schema.
    """
    args = tool.args.model_validate_json(canonical(raw))
    return canonical(raw if tool.local else args.model_dump(mode="json"))


def tool(
    *,
    effect: Effect,
    local: bool = False,
    consent: Consent | None = None,
    keyed: bool = False,
    permission: Literal["", "use_tool"] | None = None,
    undo: Undo | None = None,
    lookup: Lookup | None = None,
    routes: Routes | None = None,
    per_turn: int | None = None,
    per_day: int | None = None,
    timeout: float = 30.0,
    label: str = "",
) -> Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function whose first parameter is a :class:`ToolContext`.

    Its name, its description for the model and the schema of its arguments come from the function; a schema is
    closed: an argument it does not name is refused.

    Args:
        effect: whether it changes something (``write``), reads something, or neither.
        consent: "never" for a local tool and one that writes nothing, else "unless_person", when not given.
        keyed, undo, lookup, routes, per_turn, per_day: see :class:`Tool`.
        permission: ``use_tool`` for a tool that is not local, else "", when not given.
        local: see :class:`Tool`; a local tool is a plain function, any other a coroutine function.
        timeout: seconds.
        label: what people read; made from the name when empty.
    """

    def make(fn: Callable[..., Any]) -> Tool:
        name = fn.__name__
        args = _args_model(name, fn)
        description = inspect.cleandoc(fn.__doc__ or "")
        return Tool(
            name=name, label=label or name.replace("_", " ").capitalize(), effect=effect, local=local,
            consent=consent or ("unless_person" if effect == "write" and not local else "never"), keyed=keyed,
            permission=("" if local else "use_tool") if permission is None else permission,
            undo=undo, lookup=lookup, routes=routes, per_turn=per_turn, per_day=per_day, timeout=timeout,
            fn=fn, args=args,
            definition=ToolDefinition(
                name=name, description=description, parameters_json_schema=args.model_json_schema()
            ),
            asks=_may_ask(fn),
        )  # fmt: skip

    return make


def _may_ask(fn: Callable[..., Any]) -> bool:
    returned = get_type_hints(fn).get("return")
    return Asks in {returned, *get_args(returned)}


def _args_model(name: str, fn: Callable[..., Any]) -> type[BaseModel]:
    hints = get_type_hints(fn, include_extras=True)
    _, *parameters = inspect.signature(fn).parameters.values()
    fields: dict[str, Any] = {
        parameter.name: (hints[parameter.name], ... if parameter.default is parameter.empty else parameter.default)
        for parameter in parameters
    }
    config = ConfigDict(extra="forbid", strict=True, frozen=True)
    return create_model(f"{name}_args", __config__=config, **fields)
