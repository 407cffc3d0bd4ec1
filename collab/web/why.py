"""The page that says why: who may do what, what decides it, what would change it; and why a past write was allowed.

Who manages the workspace asks about everyone who ever held a grant in it; anyone else about themselves, and about an
agent or a client that acts for them, on what they may view (DESIGN 11).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collab import selectors
from collab.asking import ACTIONS, DECIDED, LOADS, Object, decided, explained, explained_event, needed
from collab.errors import Invalid
from collab.models.documents import Document
from collab.models.threads import Event, Thread
from collab.models.workspaces import Workspace
from collab.web import pages
from collab.web.actors import Book
from collab.web.answers import actor, id_in, page, reader
from collab.web.grant_history import Line, told_lines
from collab.web.timeline import entry_of
from permissions.actors import Actor, Agent, Client, Party, Person, person
from permissions.decisions import AccountKind, Action, Level, accounts_of
from permissions.errors import NotFound, Refused
from permissions.gate import require
from permissions.grants import readable
from permissions.history import Wanted, history_of
from permissions.models import User
from permissions.reach import NOWHERE, accounts_of_scope, party_of
from permissions.why import Explanation, Link

OFFERED = 300
"""How many accounts and threads a list offers; any other can still be named in the address."""

LINES = 8
"""Lines of the history of grants that are shown beside an answer."""

VERDICTS: Mapping[Level, tuple[str, str]] = {
    Level.ALLOW: ("check", "Allowed"),
    Level.PROPOSE: ("pencil", "Only as a proposal"),
    Level.DENY: ("ban", "Refused"),
}


@dataclass(frozen=True, slots=True)
class Choices:
    """Who can be asked about, for whom, and where."""

    accounts: Sequence[User]
    people: Sequence[User]
    threads: Sequence[Thread]
    alone: bool
    """An agent or a client may be asked about for no one."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked."""

    account: User
    whom: User | None
    action: Action
    thread: Thread | None

    @property
    def actor(self) -> Actor:
        """The actor it is about."""
        kind = AccountKind(self.account.kind)
        whom = self.whom.pk if self.whom and kind is not AccountKind.PERSON else None
        return party_of(self.account.pk, kind, whom, self.thread.pk if self.thread else NOWHERE)


@dataclass(frozen=True, slots=True)
class Shown:
    """A party as the page draws it."""

    link: Link
    look: str
    hue: int
    level: str


@require_safe
@page
def why(request: HttpRequest, id: UUID, kind: str) -> HttpResponse:
    """Show why someone may or may not do something with an object, at present."""
    obj = LOADS[kind](actor(request), id)
    side = side_of(request, obj)
    choices = _choices(request, obj, manages=side.may["manage"])
    asked = _question(request, kind, obj, choices)
    explanation = explained(asked.actor, asked.action, obj, asked.thread)
    context = {
        "side": side,
        "kind": kind,
        "object": obj,
        "choices": choices,
        "asked": asked,
        "actions": [(action.value, action.value.replace("_", " ")) for action in ACTIONS[kind]],
        "lines": _lines(obj, asked.actor) if side.may["manage"] else None,
        **_answer(explanation, obj),
    }
    return render(request, "why.html", context)


@require_safe
@page
def why_event(request: HttpRequest, id: UUID, seq: int) -> HttpResponse:
    """Show why what an event of a thread's log records was allowed, by the facts of its moment."""
    thread = selectors.thread_for(actor(request), id)
    event = Event.objects.filter(thread=thread, seq=seq).select_related("thread__workspace").first()
    if event is None:
        raise NotFound()
    side = side_of(request, thread)
    found = decided(event) if side.may["manage"] or person(event.actor) == actor(request) else None
    if found is None:
        raise _not_told(event, manages=side.may["manage"])
    action, obj = found
    require(actor(request), Action.VIEW, obj)
    explanation = explained_event(event, action, obj)
    context = {
        "side": side,
        "thread": thread,
        "event": event,
        "entry": entry_of(actor(request), thread, event),
        "contradicted": explanation.decision.level < needed(event),
        **_answer(explanation, obj),
    }
    return render(request, "why.html", context)


def side_of(request: HttpRequest, obj: Object) -> pages.Side:
    """Return the sidebar beside a page about an object."""
    place = _workspace_of(obj)
    thread = obj.id if isinstance(obj, Thread) else None
    document = obj.id if isinstance(obj, Document) else None
    return pages.side(reader(request), place, thread=thread, document=document)


def _workspace_of(obj: Object) -> Workspace:
    match obj:
        case Workspace():
            return obj
        case Thread() | Document():
            return obj.workspace
        case _:
            return Workspace.objects.get(pk=obj.scope_id)


def _not_told(event: Event, *, manages: bool) -> Invalid | Refused:
    if not manages and event.type in DECIDED:
        return Refused("You may ask why about what was done by you or for you; who manages the workspace, about all.")
    return Invalid("No right decided this event: it follows from another.")


def _choices(request: HttpRequest, obj: Object, *, manages: bool) -> Choices:
    threads = _threads(actor(request), obj)
    if manages:
        accounts = list(accounts_of_scope(obj.scope_id)[:OFFERED])
        people = [account for account in accounts if account.kind == AccountKind.PERSON.value]
        return Choices(accounts, people, threads, alone=True)
    me = reader(request)
    agents = User.objects.filter(kind=AccountKind.AGENT.value, pk__in=_agents(actor(request), obj))
    return Choices([me, *agents.order_by("display_name", "pk")], [me], threads, alone=False)


def _agents(me: Person, obj: Object) -> list[UUID]:
    """The agents that the reader meets: those of the workspace if they may view it, or the thread's own."""
    seen = readable(Workspace.objects.filter(pk=obj.scope_id), me).exists()
    if seen:
        return [agent.id for agent in selectors.agents_of(obj.scope_id)]
    return [obj.agent_id] if isinstance(obj, Thread) and obj.agent_id else []


def _threads(me: Person, obj: Object) -> list[Thread]:
    if isinstance(obj, Thread):
        return [obj]
    threads = Thread.objects.filter(workspace=obj.scope_id, archived_at__isnull=True)
    if isinstance(obj, Document):
        threads = threads.filter(follows__document=obj)
    return list(readable(threads, me).order_by("title", "pk")[:OFFERED])


def _question(request: HttpRequest, kind: str, obj: Object, choices: Choices) -> Question:
    asked = request.GET
    account = _account(asked.get("who", ""), obj, choices, choices.accounts) or _first(request, choices)
    default = None if choices.alone else reader(request)
    whom = _account(asked.get("for", ""), obj, choices, choices.people) or default
    try:
        action = Action(asked["do"]) if asked.get("do") else ACTIONS[kind][1]
    except ValueError:
        raise Invalid("There is no such action.") from None
    if action not in ACTIONS[kind]:
        raise Invalid(f"Nobody does that to a {kind}.")
    return Question(account, whom, action, _thread(asked.get("in"), obj, choices))


def _first(request: HttpRequest, choices: Choices) -> User:
    me = reader(request)
    return next((account for account in choices.accounts if account.pk == me.pk), me)


def _account(text: str, obj: Object, choices: Choices, offered: Sequence[User]) -> User | None:
    """Find an account that may be asked about; nobody learns of any other, not even that there is one."""
    id = id_in(text)
    if id is None:
        return None
    found = next((account for account in offered if account.pk == id), None)
    if found is None and choices.alone:
        found = accounts_of_scope(obj.scope_id).filter(pk=id).first()
    if found is None:
        raise NotFound()
    return found


def _thread(text: str | None, obj: Object, choices: Choices) -> Thread | None:
    if isinstance(obj, Thread):
        return obj
    if text is None:
        return next(iter(choices.threads), None) if isinstance(obj, Document) else None
    id = id_in(text)
    if id is None:
        return None
    found = next((thread for thread in choices.threads if thread.pk == id), None)
    if found is None:
        raise NotFound()
    return found


def _answer(explanation: Explanation, obj: Object) -> dict[str, Any]:
    icon, verdict = VERDICTS[explanation.decision.level]
    book = Book(obj.scope_id, [link.party for link in explanation.links])
    return {
        "told": explanation,
        "level": explanation.decision.level.name.lower(),
        "icon": icon,
        "verdict": verdict,
        "parties": [_shown(link, book) for link in explanation.links],
        "ways": [(way, VERDICTS[way.level][1].lower()) for way in explanation.ways],
    }


def _shown(link: Link, book: Book) -> Shown:
    return Shown(link, _look(link.party), _hue(link.party, book), link.level.name.lower())


def _look(party: Party) -> str:
    match party:
        case Person():
            return "person"
        case Agent():
            return "agent"
        case Client():
            return "client"
        case _:
            return "source"


def _hue(party: Party, book: Book) -> int:
    return book.hue(party.id) if isinstance(party, Person) else 0


def _lines(obj: Object, asked: Actor) -> list[Line]:
    wanted = Wanted(objects={obj.pk, obj.scope_id}, accounts=accounts_of(asked))
    return told_lines(history_of(obj.scope_id, wanted).lines[:LINES])
