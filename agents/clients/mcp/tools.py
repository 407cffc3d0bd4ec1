"""The tools of ``/mcp``: reads and commands by their own names, with what is true of each (DESIGN 11).

A command is the one that every surface knows, so what it takes, does and refuses is the same everywhere. What only a
person does, in person, is none of them (DESIGN 5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

from mcp.types import Tool, ToolAnnotations
from pydantic import Field, ValidationError

from agents.clients import reads
from collab import commands
from collab.commands import Args
from collab.errors import Invalid, first_fault
from permissions.actors import Actor
from permissions.ids import new_id

Json = dict[str, Any]

COMMAND_ID = "command_id"


class Nothing(Args):
    pass


class InWorkspace(Args):
    workspace: UUID
    archived: bool = Field(default=False, description="Those that were put away instead.")


class ThreadNamed(Args):
    thread: UUID


class ThreadRead(ThreadNamed):
    before: int | None = Field(
        default=None, ge=1, le=2**53 - 1, description="Only entries before this seq: a step back."
    )
    limit: int = Field(default=50, ge=1, le=200, description="How many entries of the log.")


class DocumentRead(Args):
    document: UUID
    version: int | None = Field(default=None, ge=1, le=2**31 - 1, description="As it was then; else as it is.")


class VersionsRead(Args):
    document: UUID
    before: int | None = Field(default=None, ge=1, le=2**31 - 1, description="Only versions before this one.")


class Search(Args):
    words: str
    kind: str = Field(default="messages", description="threads, documents or messages.")
    workspace: UUID | None = None
    before: UUID | None = Field(default=None, description="The `next` of the page before.")


@dataclass(frozen=True, slots=True)
class ClientTool:
    """A tool: what it is called, what it takes, and what is true of it.

    Attributes:
        reads: it changes nothing.
        adds: it changes nothing that is there already, itself or through a turn that it asks for.
        once: doing it again with the same arguments changes nothing more.
        beyond: it may reach what is outside of Accord, through the tools of a turn that it asks for.
    """

    name: str
    title: str
    description: str
    fn: Callable[[Actor, Json], Json]
    args: Callable[[], type[Args]]
    reads: bool = False
    adds: bool = False
    once: bool = False
    beyond: bool = False

    @property
    def described(self) -> Tool:
        """The tool as clients are told of it."""
        schema = self.args().model_json_schema()
        if not self.reads:
            schema.setdefault("properties", {})[COMMAND_ID] = _COMMAND_ID_SCHEMA
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema={"type": "object", **schema},
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=self.reads,
                destructive_hint=not (self.reads or self.adds),
                idempotent_hint=self.reads or self.once,
                open_world_hint=self.beyond,
            ),
        )


_COMMAND_ID_SCHEMA = {
    "type": "string",
    "pattern": "^[A-Za-z0-9._:-]{1,100}$",
    "description": "An id you make. Sent again with it, a command is carried out once and answered as the first time.",
}

ArgsT = TypeVar("ArgsT", bound=Args)


def _read(name: str, title: str, description: str, args: type[ArgsT], fn: Callable[[Actor, ArgsT], Json]) -> ClientTool:
    def read(actor: Actor, given: Json) -> Json:
        try:
            wanted = args.model_validate(given)
        except ValidationError as error:
            raise Invalid(first_fault(error)) from error
        return fn(actor, wanted)

    return ClientTool(name, title, description, read, lambda: args, reads=True)


def _command(
    name: str, title: str, description: str, *, adds: bool = False, once: bool = False, beyond: bool = False
) -> ClientTool:
    def run(actor: Actor, given: Json) -> Json:
        id = given.get(COMMAND_ID, str(new_id()))
        if not isinstance(id, str):
            raise Invalid(f"{COMMAND_ID}: it is a text that you make.")
        return commands.run(actor, name, id, {key: value for key, value in given.items() if key != COMMAND_ID})

    def args() -> type[Args]:
        return commands.HANDLERS[name].args

    return ClientTool(name, title, description, run, args, adds=adds, once=once, beyond=beyond)


READS = (
    _read(
        "workspace_list",
        "List workspaces",
        "The workspaces you see, or a part of which (`whole` is false then).",
        Nothing,
        lambda actor, args: {"workspaces": reads.workspaces(actor)},
    ),
    _read(
        "thread_list",
        "List threads",
        "The threads of a workspace, the last to grow first.",
        InWorkspace,
        lambda actor, args: {"threads": reads.threads(actor, args.workspace, archived=args.archived)},
    ),
    _read(
        "thread_read",
        "Read a thread",
        "A thread: what was said and done in it (messages, turns, calls, proposals, questions, actions), what stands "
        "open, and what you may do there and why not.",
        ThreadRead,
        lambda actor, args: reads.thread(actor, args.thread, before=args.before, limit=args.limit),
    ),
    _read(
        "document_list",
        "List documents",
        "The documents of a workspace, by title.",
        InWorkspace,
        lambda actor, args: {"documents": reads.documents(actor, args.workspace, archived=args.archived)},
    ),
    _read(
        "document_read",
        "Read a document",
        "A document's text, as it is or was at a version, and what you may do to it and why not.",
        DocumentRead,
        lambda actor, args: reads.document(actor, args.document, version=args.version),
    ),
    _read(
        "document_versions",
        "List a document's versions",
        "The versions a document had, newest first: who made each, for whom and when.",
        VersionsRead,
        lambda actor, args: {"versions": reads.versions(actor, args.document, before=args.before)},
    ),
    _read(
        "proposal_list",
        "List open proposals",
        "The proposals of a thread that nobody accepted or rejected yet, and whether you may.",
        ThreadNamed,
        lambda actor, args: {"proposals": reads.standing(actor, args.thread, "proposal")},
    ),
    _read(
        "question_list",
        "List open questions",
        "What a thread's agent asked people and waits to be answered.",
        ThreadNamed,
        lambda actor, args: {"questions": reads.standing(actor, args.thread, "question")},
    ),
    _read(
        "action_list",
        "List pending actions",
        "What a thread's agent asks consent for. Only the person it is addressed to approves or declines it, "
        "in person.",
        ThreadNamed,
        lambda actor, args: {"actions": reads.standing(actor, args.thread, "action")},
    ),
    _read(
        "search",
        "Search",
        "Find threads, documents or messages by words in them, the newest first.",
        Search,
        lambda actor, args: reads.found(actor, args.words, args.kind, workspace=args.workspace, before=args.before),
    ),
)

COMMANDS = (
    _command(
        "thread_create",
        "Open a thread",
        "Open a thread in a workspace, for its people and an agent; a `text` is its first message, which asks the "
        "agent for a turn.",
        beyond=True,
    ),
    _command(
        "message_post",
        "Post a message",
        "Post to a thread: a `message` asks its agent for a turn, which acts for you with no more than your rights, "
        "and may change documents and call tools; a `comment` is for people and asks for nothing.",
        beyond=True,
    ),
    _command("message_cancel", "Cancel a message", "Take back a message of yours that no turn has taken.", once=True),
    _command(
        "document_create",
        "Write a document",
        "Make a document in a thread or a workspace; with `propose`, or where you may only propose, a proposal of it.",
        adds=True,
    ),
    _command(
        "document_save",
        "Change a document",
        "Save a document's whole text over the version you read (`base_version`); with `propose`, or where you may "
        "only propose, in a `thread`, a proposal of it. Versions are kept.",
    ),
    _command("document_archive", "Archive a document", "Put a document away, or propose it."),
    _command("document_restore", "Bring a document back", "Bring back a document that was put away."),
    _command(
        "document_restore_version",
        "Restore a version",
        "Make a document say again what it said at a version, as a new version, or propose it.",
    ),
    _command(
        "proposal_accept",
        "Accept a proposal",
        "Accept what someone else proposed, as it is or with edits. Neither yours nor your person's.",
        once=True,
    ),
    _command("proposal_reject", "Reject a proposal", "Reject what someone else proposed.", once=True),
    _command("proposal_withdraw", "Withdraw a proposal", "Take back a proposal of yours.", once=True),
    _command(
        "question_answer",
        "Answer a question",
        "Answer what the agent asked. Its turn goes on for you, and may change documents and call tools.",
        once=True,
        beyond=True,
    ),
    _command("question_dismiss", "Dismiss questions", "End a paused turn of yours without an answer.", once=True),
    _command("turn_stop", "Stop a turn", "Stop a turn that acts for you.", once=True),
    _command(
        "turn_ask_again",
        "Ask again",
        "Ask again for a turn that failed or was stopped; it may change documents and call tools.",
        beyond=True,
    ),
)


@lru_cache
def tools() -> Mapping[str, ClientTool]:
    """Return the tools by name."""
    return {tool.name: tool for tool in (*READS, *COMMANDS)}


@lru_cache
def described() -> tuple[Tool, ...]:
    """Return the tools as clients are told of them; every command is registered by then."""
    return tuple(tool.described for tool in tools().values())
