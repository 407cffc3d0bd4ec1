"""The frames of the socket protocol ``accord.v1`` (DESIGN 9, docs/protocol.md). Pure.

What a client sends is validated with these models. What the server sends is built as plain dictionaries, once for
all viewers; the tests hold it, and every example of the documentation, against these models.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

SUBPROTOCOL = "accord.v1"

FRAME_BYTES = 64 * 1024
"""The most one frame of a client may take, in bytes of UTF-8."""


class Close:
    """The codes a socket is closed with, each with the sentence that goes with it."""

    BAD_SUBPROTOCOL = 4400
    NOT_SIGNED_IN = 4401
    NOT_FOUND = 4403
    RESUME = 4408
    TOO_MANY = 4429
    TOO_LONG = 1009

    SENTENCES = {
        BAD_SUBPROTOCOL: "This server speaks accord.v1.",
        NOT_SIGNED_IN: "You are not signed in.",
        NOT_FOUND: "There is no such thread, or you may not see it.",
        RESUME: "Too much was not acknowledged; connect again and resume.",
        TOO_MANY: "Too many sockets or frames.",
        TOO_LONG: "A frame holds at most 64 KiB.",
    }


class Frame(BaseModel):
    """A frame: a closed model with a ``type``."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Hello(Frame):
    """The first frame of a client: send what was committed after this seq, or the newest ``at_most`` of it; go on."""

    type: Literal["hello"]
    after_seq: Annotated[int, Field(strict=True)]
    at_most: Annotated[int, Field(strict=True, ge=1)] | None = None


class Ack(Frame):
    """How far a client has read: the last event's seq, and how many frames the socket brought it in all."""

    type: Literal["ack"]
    seq: Annotated[int, Field(strict=True, ge=0)]
    frames: Annotated[int, Field(strict=True, ge=0)] | None = None


class CommandFrame(Frame):
    """Something a client wants done, once, under an id it made."""

    type: Literal["command"]
    id: Annotated[str, Field(strict=True, min_length=1, max_length=100)]
    name: Annotated[str, Field(strict=True, max_length=100)]
    args: dict[str, Any]


class Writing(Frame):
    """The client's person writes in a document, and says so again every 20 seconds; null: no longer."""

    type: Literal["writing"]
    document: UUID | None


class Ping(Frame):
    """A client asks whether the server is there."""

    type: Literal["ping"]


ClientFrame = Annotated[Hello | Ack | CommandFrame | Writing | Ping, Field(discriminator="type")]
CLIENT_FRAME: TypeAdapter[Hello | Ack | CommandFrame | Writing | Ping] = TypeAdapter(ClientFrame)


class ActorJson(Frame):
    """Who did something. ``for`` is whom they act for."""

    kind: Literal["person", "client", "agent", "source", "system"]
    id: str | None
    name: str
    hue: Annotated[int, Field(ge=0, le=6)]
    acts_for: Annotated[ActorJson | None, Field(alias="for")]


class May(Frame):
    """Whether a viewer may do something, and the sentence that says why."""

    ok: bool
    because: str


class ViewerJson(Frame):
    """The person the socket belongs to, and what they may do here."""

    id: str
    name: str
    hue: Annotated[int, Field(ge=0, le=6)]
    role: str | None
    may: dict[str, May]


class PersonJson(Frame):
    """Someone who has the thread open."""

    id: str
    name: str
    hue: Annotated[int, Field(ge=0, le=6)]


class ItemJson(BaseModel):
    """The full view of one entity, as this viewer may read it; the rest depends on ``item``."""

    model_config = ConfigDict(frozen=True, extra="allow")

    item: str
    id: str


class Welcome(Frame):
    """The answer to ``hello``."""

    type: Literal["welcome"]
    head_seq: int
    at: str
    viewer: ViewerJson
    thread: ItemJson
    running: str | None


class EventFrame(Frame):
    """One entry of the log, with the current view of every entity it touches."""

    type: Literal["event"]
    seq: int
    event: str
    at: str
    actor: ActorJson
    turn: str | None
    data: dict[str, Any]
    items: list[ItemJson]


class Skipped(Frame):
    """The events after ``after_seq`` up to ``upto_seq`` are not sent: ``hello`` asked for fewer."""

    type: Literal["skipped"]
    after_seq: int
    upto_seq: int


class CaughtUp(Frame):
    """Everything committed before was sent. ``items`` are current: what waits, runs, stands open or is followed."""

    type: Literal["caught_up"]
    seq: int
    items: list[ItemJson]


class Live(Frame):
    """Text of the running turn: cut its text at ``offset`` characters and its blocks at ``block``, then append."""

    type: Literal["live"]
    turn: str
    offset: Annotated[int, Field(ge=0)]
    text: str
    block: Annotated[int, Field(ge=0)]
    html: list[str]


class PresenceFrame(Frame):
    """Everyone who has the thread open."""

    type: Literal["presence"]
    here: list[PersonJson]


class EditingFrame(Frame):
    """Someone else writes in a document; null: no longer. Who has not said so for 45 seconds is forgotten."""

    type: Literal["editing"]
    person: PersonJson
    document: str | None


class DocumentChanged(Frame):
    """A document the thread follows was changed, here or elsewhere. ``items`` holds its current view."""

    type: Literal["document_changed"]
    document: str
    version: int
    items: list[ItemJson]


class Rights(Frame):
    """What the viewer may do here has changed."""

    type: Literal["rights"]
    viewer: ViewerJson


class Standing(Frame):
    """The open proposals, as the viewer may act on them since grants have changed."""

    type: Literal["standing"]
    items: list[ItemJson]


class InboxFrame(Frame):
    """How much waits for the person of an inbox's socket: in all, and in each thread where anything does; and how much
    of theirs waits for others."""

    type: Literal["inbox"]
    count: Annotated[int, Field(ge=0)]
    threads: dict[str, Annotated[int, Field(ge=1)]]
    for_others: Annotated[int, Field(ge=0)]


class ResultFrame(Frame):
    """A command was carried out and committed."""

    type: Literal["result"]
    id: str
    data: dict[str, Any]


class RefusedFrame(Frame):
    """A command, or a frame that is none (``id`` is null), was refused; nothing was stored."""

    type: Literal["refused"]
    id: str | None
    code: str
    because: str


class BusyFrame(Frame):
    """A command was not looked at, or could not be carried out yet: send it again after so many seconds."""

    type: Literal["busy"]
    id: str | None
    retry_after: Annotated[float, Field(gt=0)]


class Pong(Frame):
    """The answer to ``ping``."""

    type: Literal["pong"]


ServerFrame = Annotated[
    Welcome
    | EventFrame
    | Skipped
    | CaughtUp
    | Live
    | PresenceFrame
    | EditingFrame
    | DocumentChanged
    | Rights
    | Standing
    | InboxFrame
    | ResultFrame
    | RefusedFrame
    | BusyFrame
    | Pong,
    Field(discriminator="type"),
]
SERVER_FRAME: TypeAdapter[Any] = TypeAdapter(ServerFrame)
