"""The addresses of the API, held against everyone who may call it: what comes of each for clients, and for browsers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from collab.commands import HANDLERS

TOKEN = "asks for a token"
"""Answered that there is no token, or none that is good."""
SHOWN = "shown"
NIL = "nothing"
NO = "refused"
METHOD = "wrong method"

CLIENTS = ("nobody", "zoe", "blind", "vera", "ben", "ana", "desk")
"""Who calls: no token; a client of each person, of Ana's also one that was let in nowhere; Desk, which acts for no one.
Zoe's token is for a workspace of her own."""


@dataclass(frozen=True, slots=True)
class Read:
    """A read by the name of its address: what it is about in the scene, what it asks, what comes of it by client."""

    name: str
    args: tuple[str, ...]
    outcomes: tuple[str, ...]
    asks: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def reads(name: str, /, *outcomes: str, args: tuple[str, ...] = (), **asks: str) -> Read:
    return Read(name, args, outcomes, asks)


W, T, D = ("workspace",), ("thread",), ("document",)
PHRASING = ("create_document", "done", "en")
KINDS = ("turns", "calls", "questions", "actions", "proposals", "timers")
ONE_OF_EACH = {
    "turn": "running", "call": "call", "question": "question", "action": "action", "proposal": "proposal",
    "timer": "timer", "message": "message",
}  # fmt: skip
SEES = (TOKEN, NIL, NIL, SHOWN, SHOWN, SHOWN, SHOWN)
"""What comes of what is about one thing of the studio."""

READS = (
    #                       nobody zoe    blind  vera   ben    ana    desk
    reads("start",          SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN),
    reads("openapi-json",   SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN),
    reads("openapi-view",   SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN),
    reads("api-root",       SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN),
    reads("me",             TOKEN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN),
    reads("workspaces",     TOKEN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN),
    reads("inbox",          TOKEN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN),
    reads("search",         TOKEN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, q="dinner"),
    reads("phrasings",      TOKEN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN),
    reads("phrasing",       TOKEN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, SHOWN, args=PHRASING),
    reads("nowhere",        TOKEN, NIL,   NIL,   NIL,   NIL,   NIL,   NIL,   args=("nowhere",)),
    reads("workspace",      *SEES, args=W),
    reads("threads_in",     *SEES, args=W),
    reads("documents_in",   *SEES, args=W),
    reads("thread",         *SEES, args=T),
    reads("events",         *SEES, args=T),
    reads("messages",       *SEES, args=T),
    reads("thread_items",   *SEES, args=T),
    reads("timeline",       *SEES, args=T),
    reads("document",       *SEES, args=D),
    reads("markdown",       *SEES, args=D),
    reads("versions",       *SEES, args=D),
    reads("compare",        *SEES, args=D),
    reads("proposals",      *SEES, args=D),
    reads("why",            *SEES, args=("kind", "document"), action="view"),
    *(reads(f"thread_{kind}", *SEES, args=T) for kind in KINDS),
    *(reads(name, *SEES, args=(thing,)) for name, thing in ONE_OF_EACH.items()),
)  # fmt: skip

OPEN = {"start", "api-root", "openapi-json", "openapi-view"}
"""What asks for no token."""

IN_PERSON = {"phrasings", "phrasing"}
"""What people who are signed in may read too."""

NAMES = {"kind": "document", "nowhere": "fly", **{part: part for part in PHRASING}}
"""What the arguments of addresses stand for that are no things of the scene."""


def browsers() -> Iterator[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    """Yield every address with its method and arguments, and what comes of it for nobody and four people who are
    signed in and have no token."""
    for read in READS:
        signed_in = SHOWN if read.name in OPEN | IN_PERSON else TOKEN
        yield read.name, "GET", read.args, (SHOWN if read.name in OPEN else TOKEN, *[signed_in] * 4)
        yield read.name, "POST", read.args, ((TOKEN,) if read.name == "nowhere" else (METHOD,)) * 5
    yield "phrasing_restored", "GET", PHRASING, (METHOD,) * 5
    yield "phrasing_restored", "POST", PHRASING, (TOKEN, NO, NO, NO, NO)
    for name in HANDLERS:
        yield f"command_{name}", "GET", (), (METHOD,) * 5
        yield f"command_{name}", "POST", (), (TOKEN,) * 5
