"""What a tool is: a typed Python function with a contract (DESIGN 7)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_type_hints
from uuid import UUID

from pydantic import BaseModel, ConfigDict, JsonValue, create_model
from pydantic_ai.tools import ToolDefinition

from permissions.actors import Agent

Effect = Literal["none", "read", "write"]


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
    """

    actor: Agent
    workspace: UUID
    thread: UUID
    turn: UUID
    said: Callable[[str], str]


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
        timeout: seconds a tool that is not local may take before its outcome is ``unknown``.
        args: the closed schema of its arguments.
        asks: it returns a question to people, in words that the model wrote.
    """

    name: str
    label: str
    effect: Effect
    local: bool
    timeout: float
    fn: Callable[..., Any]
    args: type[BaseModel]
    definition: ToolDefinition
    asks: bool


def tool(
    *, effect: Effect, local: bool = False, timeout: float = 30.0, label: str = ""
) -> Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function whose first parameter is a :class:`ToolContext`.

    Its name, its description for the model and the schema of its arguments come from the function; a schema is
    closed: an argument it does not name is refused.

    Args:
        effect: whether it changes something (``write``), reads something, or neither.
        local: see :class:`Tool`; a local tool is a plain function, any other a coroutine function.
        timeout: seconds.
        label: what people read; made from the name when empty.
    """

    def make(fn: Callable[..., Any]) -> Tool:
        name = fn.__name__
        args = _args_model(name, fn)
        description = inspect.cleandoc(fn.__doc__ or "")
        return Tool(
            name=name, label=label or name.replace("_", " ").capitalize(), effect=effect, local=local, timeout=timeout,
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
