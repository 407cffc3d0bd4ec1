"""Commands: everything of the command registry, each at an address of its own, carried out once (DESIGN 9)."""

from __future__ import annotations

from typing import Annotated, Any

from ninja import Header, Router

from agents.clients.rest.asking import Asked
from collab.commands import HANDLERS, Args, Handler, run
from permissions.ids import new_id

router = Router(tags=["Commands"])

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=102,
        description="Made by the sender, different for each command: 1 to 100 letters, digits and `._:-`, as they are "
        "or in double quotes. Sent again with the same body, the command is answered as the first time; with another "
        "body it is refused. Without one every request is a command of its own.",
    ),
]

IN_PERSON = frozenset(
    {"action_approve", "action_decline", "call_repeat", "call_share", "call_undo", "message_mean", "read_mark_set"}
)
"""What people do themselves: a client is told so."""


def _add(name: str, handler: Handler) -> None:
    def command(request: Asked, body: Args, key: Key = None) -> dict[str, Any]:
        # What was left out stays out, so that the same request has the same digest whatever defaults become.
        sent = body.model_dump(mode="json", exclude_unset=True)
        return run(request.auth.actor, name, _id_of(key), sent)

    command.__annotations__["body"] = handler.args
    router.post(
        f"/commands/{name}",
        response=dict[str, Any],
        operation_id=name,
        url_name=f"command_{name}",
        summary=name.replace("_", " ").capitalize(),
        description=_described(name),
    )(command)


def _id_of(key: str | None) -> str:
    """Return a command's id: what the sender made, with or without the quotes of a structured field, else a new one."""
    return key.removeprefix('"').removesuffix('"') if key is not None else str(new_id())


def _described(name: str) -> str:
    told = "The command of this name, with the arguments and the result that docs/protocol.md says."
    return f"{told} People do it in person: a client is refused." if name in IN_PERSON else told


for _name, _handler in HANDLERS.items():
    _add(_name, _handler)
