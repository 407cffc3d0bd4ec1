"""Every address, every command and the socket, held against everyone (FAILURES H4, H5; promise 10).

What is not in these tables fails. An outcome is what someone observes, and whether anything changed.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from collab import commands
from collab.errors import CollabError
from collab.models.workspaces import Invite
from collab.protocol import Close
from collab.services.threads import thread_create
from collab.services.workspaces import member_role_set, workspace_create
from collab.web import documents
from collab.web.workspaces import ACTS
from permissions.errors import NotFound, PermissionsError
from permissions.roles import Role
from tests.support import cast, rest_routes
from tests.support.queries import queries
from tests.support.scene import Scene, nowhere, scene
from tests.support.sockets import Sockets
from tests.support.tools import book_boat, registered, reserve_table
from tests.support.world import World, added, changed, world

IN = "sign in"
"""Sent to the page that asks who they are."""
SHOWN = "shown"
"""Answered, and nothing changed."""
ON = "sent on"
"""Sent to another page, and nothing changed; a form that was refused says so there."""
NO = "refused"
"""Answered that it may not or cannot be, and nothing changed."""
NIL = "nothing"
"""Answered as if there were nothing there, and nothing changed."""
METHOD = "wrong method"
"""Answered that the address takes no such request."""
DONE = "done"
"""Something changed."""
PROPOSED = "proposed"
"""All that changed is that there is a proposal."""

CHANGES = {"collab_document", "collab_revision"}
NAMING = {"user", "agent", "invite", "thread", "proposal", "client", "token", "workspace", "workspaces"}
"""The fields of forms that name something of the scene."""

WRITE = re.compile(r"(INSERT|UPDATE|DELETE|REPLACE|WITH)\b", re.IGNORECASE)

PEOPLE = ("nobody", "zoe", "vera", "ben", "ana")


@dataclass(frozen=True, slots=True)
class Visit:
    """A request to an address, and what comes of it for each of ``PEOPLE``.

    ``args`` and the values of ``form`` that are names of the scene's ids stand for those.
    """

    name: str
    method: str
    outcomes: tuple[str, ...]
    args: tuple[str, ...] = ()
    form: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        told = self.form.get("act") or self.form.get("password") or self.form.get("old_password") or ""
        return f"{self.method} {self.name} {told}".strip()


def gets(name: str, /, *outcomes: str, args: tuple[str, ...] = ()) -> Visit:
    return Visit(name, "GET", outcomes, args)


def posts_to(name: str, /, *outcomes: str, args: tuple[str, ...] = (), **form: object) -> Visit:
    return Visit(name, "POST", outcomes, args, form)


def act(what: str, /, *outcomes: str, **form: object) -> Visit:
    return Visit("people", "POST", outcomes, ("workspace",), {"act": what, **form})


def acts(what: str, /, *outcomes: str, args: tuple[str, ...] = ("document",), **form: object) -> Visit:
    return Visit("document-act", "POST", outcomes, args, {"act": what, **form})


def gives(kind: tuple[str, ...], what: str, /, *outcomes: str, **form: object) -> Visit:
    return Visit(f"grants-{kind[0]}", "POST", outcomes, kind, {"act": what, **form})


W, T, D, TOOL = ("workspace",), ("thread",), ("document",), ("tool",)
ID = str(UUID(int=1))
WEEK = (datetime.now(UTC) + timedelta(days=7)).isoformat()
SOON = WEEK[:16]
NEW_PASSWORD = "an entirely different one"
VISITS = (
    #                              nobody  zoe     vera    ben     ana
    gets("healthz",                SHOWN,  SHOWN,  SHOWN,  SHOWN,  SHOWN),
    posts_to("healthz",            METHOD, METHOD, METHOD, METHOD, METHOD),
    gets("readyz",                 SHOWN,  SHOWN,  SHOWN,  SHOWN,  SHOWN),
    posts_to("readyz",             METHOD, METHOD, METHOD, METHOD, METHOD),
    gets("metrics",                NIL,    NIL,    NIL,    NIL,    NIL),
    posts_to("metrics",            METHOD, METHOD, METHOD, METHOD, METHOD),
    gets("sign-in",                SHOWN,  ON,     ON,     ON,     ON),
    posts_to("sign-in",            DONE,   DONE,   DONE,   DONE,   DONE, username="vera", password=cast.PASSWORD),
    posts_to("sign-in",            SHOWN,  SHOWN,  SHOWN,  SHOWN,  SHOWN, username="vera", password="wrong"),
    gets("sign-out",               METHOD, METHOD, METHOD, METHOD, METHOD),
    posts_to("sign-out",           IN,     IN,     IN,     IN,     IN),
    gets("home",                   IN,     SHOWN,  ON,     ON,     ON),
    posts_to("home",               METHOD, METHOD, METHOD, METHOD, METHOD),
    gets("inbox",                  IN,     ON,     SHOWN,  SHOWN,  SHOWN),
    posts_to("inbox",              IN,     NIL,    ON,     DONE,   DONE, act="accept", proposal="proposal", command=ID),
    posts_to("inbox",              IN,     NIL,    ON,     DONE,   DONE, act="reject", proposal="proposal", command=ID),
    gets("account",                IN,     SHOWN,  SHOWN,  SHOWN,  SHOWN),
    posts_to("account",            IN,     SHOWN,  SHOWN,  SHOWN,  SHOWN,
             old_password="wrong", new_password1=NEW_PASSWORD, new_password2=NEW_PASSWORD),
    posts_to("account",            IN,     DONE,   DONE,   DONE,   DONE,
             old_password=cast.PASSWORD, new_password1=NEW_PASSWORD, new_password2=NEW_PASSWORD),
    gets("clients",                IN,     ON,     SHOWN,  SHOWN,  SHOWN),
    posts_to("clients",            IN,     DONE,   DONE,   DONE,   DONE, act="register", name="Till"),
    posts_to("clients",            IN,     NIL,    ON,     ON,     DONE,
             act="enable", client="client", workspace="workspace", role="editor"),
    posts_to("clients",            IN,     NIL,    NIL,    NIL,    DONE,
             act="issue", client="client", name="Till", days=7, workspaces="workspace"),
    posts_to("clients",            IN,     NIL,    NIL,    NIL,    DONE, act="rotate", token="token"),
    posts_to("clients",            IN,     NIL,    NIL,    NIL,    DONE, act="revoke", token="token"),
    posts_to("clients",            IN,     NIL,    NIL,    NIL,    DONE, act="disable", client="client"),
    gets("connect",                IN,     NIL,    NIL,    NIL,    NIL),
    posts_to("connect",            IN,     NIL,    NIL,    NIL,    NIL,    act="allow", workspaces="workspace"),
    gets("search",                 IN,     ON,     SHOWN,  SHOWN,  SHOWN),
    posts_to("search",             METHOD, METHOD, METHOD, METHOD, METHOD),
    gets("join",                   IN,     SHOWN,  SHOWN,  SHOWN,  SHOWN, args=("invite",)),
    posts_to("join",               IN,     DONE,   DONE,   ON,     ON, args=("invite",)),
    gets("workspace-new",          IN,     SHOWN,  SHOWN,  SHOWN,  SHOWN),
    posts_to("workspace-new",      IN,     DONE,   DONE,   DONE,   DONE, name="Garden"),
    gets("workspace",              IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=W),
    posts_to("workspace",          IN,     NIL,    ON,     ON,     DONE, args=W, name="Garden"),
    gets("people",                 IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=W),
    act("role",                    IN,     NIL,    ON,     ON,     DONE, user="vera", role="editor"),
    act("remove",                  IN,     NIL,    ON,     ON,     DONE, user="vera"),
    act("add",                     IN,     NIL,    ON,     ON,     DONE, username="zoe", role="viewer"),
    act("invite",                  IN,     NIL,    ON,     ON,     DONE, role="viewer", days="7"),
    act("revoke",                  IN,     NIL,    ON,     ON,     DONE, invite="invite_id"),
    act("agent",                   IN,     NIL,    ON,     ON,     DONE, agent="robin", role="viewer"),
    act("group",                   IN,     NIL,    ON,     ON,     DONE, team="Editors", role="viewer"),
    act("client",                  IN,     NIL,    ON,     ON,     DONE, user="desk", role="viewer"),
    act("leave",                   IN,     NIL,    DONE,   DONE,   ON),
    act("nothing there is",        IN,     NIL,    ON,     ON,     ON),
    *(visit for kind in (W, T, D) for visit in (
        gets(f"grants-{kind[0]}",  IN,     NIL,    NO,     NO,     SHOWN, args=kind),
        gives(kind, "give",        IN,     NIL,    NO,     NO,     DONE, username="zoe", what="view"),
        gives(kind, "take",        IN,     NIL,    NO,     NO,     ON, holder="group:1", what="view"),
    )),
    gets("tools",                  IN,     NIL,    NO,     NO,     SHOWN, args=W),
    posts_to("tools",              IN,     NIL,    NO,     NO,     DONE, args=W, act="enable", tool="reserve_table"),
    posts_to("tools",              IN,     NIL,    NO,     NO,     DONE, args=W, act="disable", tool="reserve_table"),
    gets("grants-tool",            IN,     NIL,    NO,     NO,     SHOWN, args=TOOL),
    gives(TOOL, "give",            IN,     NIL,    NO,     NO,     DONE, username="zoe", what="use_tool"),
    gives(TOOL, "take",            IN,     NIL,    NO,     NO,     ON, holder="group:1", what="use_tool"),
    gets("why-tool",               IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=TOOL),
    posts_to("why-tool",           METHOD, METHOD, METHOD, METHOD, METHOD, args=TOOL),
    gets("access-tool",            IN,     NIL,    NO,     NO,     SHOWN, args=TOOL),
    posts_to("access-tool",        METHOD, METHOD, METHOD, METHOD, METHOD, args=TOOL),
    gets("grant-history",          IN,     NIL,    NO,     NO,     SHOWN, args=W),
    posts_to("grant-history",      METHOD, METHOD, METHOD, METHOD, METHOD, args=W),
    *(visit for kind in (W, T, D) for visit in (
        gets(f"why-{kind[0]}",     IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=kind),
        posts_to(f"why-{kind[0]}", METHOD, METHOD, METHOD, METHOD, METHOD, args=kind),
        gets(f"access-{kind[0]}",  IN,     NIL,    NO,     NO,     SHOWN, args=kind),
        posts_to(f"access-{kind[0]}", METHOD, METHOD, METHOD, METHOD, METHOD, args=kind),
    )),
    gets("thread-new",             METHOD, METHOD, METHOD, METHOD, METHOD, args=W),
    posts_to("thread-new",         IN,     NIL,    ON,     DONE,   DONE, args=W, title="Garden", text="Hello."),
    gets("document-new",           METHOD, METHOD, METHOD, METHOD, METHOD, args=W),
    posts_to("document-new",       IN,     NIL,    ON,     DONE,   DONE, args=W, title="Menu", kind="markdown"),
    gets("thread",                 IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=T),
    posts_to("thread",             METHOD, METHOD, METHOD, METHOD, METHOD, args=T),
    gets("thread-items",           IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=T),
    posts_to("thread-items",       METHOD, METHOD, METHOD, METHOD, METHOD, args=T),
    gets("timeline",               IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=T),
    posts_to("timeline",           METHOD, METHOD, METHOD, METHOD, METHOD, args=T),
    gets("why-event",              IN,     NIL,    NO,     NO,     SHOWN, args=("thread", "seq")),
    posts_to("why-event",          METHOD, METHOD, METHOD, METHOD, METHOD, args=("thread", "seq")),
    gets("document",               IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=D),
    posts_to("document",           METHOD, METHOD, METHOD, METHOD, METHOD, args=D),
    gets("document-pane",          IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=D),
    posts_to("document-pane",      METHOD, METHOD, METHOD, METHOD, METHOD, args=D),
    gets("document-save",          METHOD, METHOD, METHOD, METHOD, METHOD, args=D),
    posts_to("document-save",      IN,     NIL,    NO,     DONE,   DONE, args=D, text="Dinner.", base_version="1"),
    gets("document-history",       IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=D),
    posts_to("document-history",   METHOD, METHOD, METHOD, METHOD, METHOD, args=D),
    gets("document-compare",       IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=D),
    posts_to("document-compare",   METHOD, METHOD, METHOD, METHOD, METHOD, args=D),
    gets("document-version",       IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=D),
    posts_to("document-version",   METHOD, METHOD, METHOD, METHOD, METHOD, args=D),
    gets("document-download",      IN,     NIL,    SHOWN,  SHOWN,  SHOWN, args=D),
    posts_to("document-download",  METHOD, METHOD, METHOD, METHOD, METHOD, args=D),
    gets("document-act",           METHOD, METHOD, METHOD, METHOD, METHOD, args=D),
    acts("archive",                IN,     NIL,    ON,     DONE,   DONE),
    acts("bring back",             IN,     NIL,    ON,     DONE,   DONE, args=("archived",)),
    acts("restore",                IN,     NIL,    ON,     DONE,   DONE, args=("written",), version=1, base_version=2),
    acts("policy",                 IN,     NIL,    ON,     ON,     DONE, thread="thread", policy="propose"),
    acts("nothing there is",       IN,     NIL,    ON,     ON,     ON),
    *(Visit(f"api:{name}", method, outcomes, args) for name, method, args, outcomes in rest_routes.browsers()),
)  # fmt: skip

READERS = ("zoe", "vera", "commenter", "contributor", "ben", "ana")
"""Who sends commands: Ben also as a commenter and as a contributor. Nobody has no socket to send any."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A command, and what comes of it for each of ``READERS``; everything it names is Ana's."""

    name: str
    outcomes: tuple[str, ...]
    args: Mapping[str, object]

    def __str__(self) -> str:
        return f"{self.name} {self.args.get('kind', '')}".strip()


def sends(name: str, /, *outcomes: str, **args: object) -> Sent:
    return Sent(name, outcomes, args)


COMMANDS = (
    #                            zoe  vera comm. contrib.  ben   ana
    sends("message_post",        NIL, NO,   NO,   DONE,     DONE, DONE, thread="thread", text="Hello."),
    sends("message_post",        NIL, NO,   DONE, DONE,     DONE, DONE, thread="thread", text="Hi.", kind="comment"),
    sends("message_cancel",      NIL, NO,   NO,   NO,       NO,   DONE, message="message"),
    sends("thread_create",       NIL, NO,   NO,   DONE,     DONE, DONE, workspace="workspace", title="Garden"),
    sends("thread_rename",       NIL, NO,   NO,   NO,       NO,   DONE, thread="thread", title="Garden"),
    sends("thread_archive",      NIL, NO,   NO,   NO,       NO,   DONE, thread="thread", archived=True),
    sends("thread_mode_set",     NIL, NO,   NO,   NO,       NO,   DONE, thread="thread", mode="suggest"),
    sends("thread_answers_set",  NIL, NO,   NO,   NO,       NO,   DONE, thread="thread", answers="when mentioned"),
    sends("thread_focus_set",    NIL, NO,   NO,   DONE,     DONE, DONE, thread="thread", document=None),
    sends("read_mark_set",       NIL, DONE, DONE, DONE,     DONE, DONE, thread="thread", seq=1),
    sends("document_create",     NIL, NO,   NO,   PROPOSED, DONE, DONE, thread="thread", title="M", kind="markdown"),
    sends("document_save",       NIL, NO,   NO,   PROPOSED, DONE, DONE,
          thread="thread", document="document", text="Dinner.", base_version=1),
    sends("document_archive",    NIL, NO,   NO,   PROPOSED, DONE, DONE, thread="thread", document="document"),
    sends("document_restore",    NIL, NO,   NO,   NO,       DONE, DONE, thread="thread", document="archived"),
    sends("document_restore_version", NIL, NO, NO, PROPOSED, DONE, DONE,
          thread="thread", document="written", version=1, base_version=2),
    sends("document_policy_set", NIL, NO,   NO,   NO,       NO,   DONE,
          thread="thread", document="document", policy="propose"),
    sends("proposal_accept",     NIL, NO,   NO,   NO,       DONE, DONE, proposal="proposal"),
    sends("proposals_accept",    NIL, NO,   NO,   NO,       DONE, DONE, proposals=("proposal",)),
    sends("proposal_reject",     NIL, NO,   NO,   NO,       DONE, DONE, proposal="proposal", reason="Too much."),
    sends("proposal_withdraw",   NIL, NO,   NO,   NO,       NO,   DONE, proposal="proposal"),
    sends("message_mean",        NIL, NO,   NO,   NO,       NO,   DONE, message="held", meant="adds"),
    sends("turn_stop",           NIL, NO,   NO,   NO,       NO,   DONE, turn="running"),
    sends("turn_ask_again",      NIL, NO,   NO,   NO,       NO,   DONE, turn="failed"),
    sends("question_answer",     NIL, NO,   NO,   DONE,     DONE, DONE, question="question", answer="Friday."),
    sends("delegation_give",     NIL, NO,   NO,   NO,       NO,   DONE, thread="thread", level="deny", until=WEEK),
    sends("delegation_end",      NIL, NO,   NO,   NO,       NO,   DONE, thread="thread"),
    sends("call_share",          NIL, NO,   NO,   NO,       NO,   DONE, call="call"),
    sends("call_check",          NIL, DONE, DONE, DONE,     DONE, DONE, call="lost"),
    sends("call_repeat",         NIL, NO,   NO,   NO,       NO,   DONE, call="lost"),
    sends("call_undo",           NIL, NO,   NO,   NO,       NO,   DONE, call="booked"),
    sends("action_approve",      NIL, NO,   NO,   NO,       NO,   DONE, action="action"),
    sends("action_decline",      NIL, NO,   NO,   NO,       NO,   DONE, action="action", reason="Not now."),
    sends("question_dismiss",    NIL, NO,   NO,   NO,       NO,   DONE, turn="paused"),
    sends("timer_set",           NIL, NO,   DONE, DONE,     DONE, DONE, thread="thread", text="Call.", at=SOON),
    sends("timer_cancel",        NIL, NO,   NO,   NO,       NO,   DONE, timer="timer"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Crowd:
    """A scene, everyone's browser, and all there is before anybody does anything."""

    played: Scene
    names: Mapping[str, str]
    browsers: Mapping[str, Client]
    before: World

    def observed(self, visit: Visit) -> dict[str, str]:
        """Let each person visit, say what came of it, and put everything back as it was."""
        found = {}
        for who in PEOPLE:
            with transaction.atomic():
                with queries() as sent:
                    answer = self.answered(who, visit, self.played.ids)
                wrote = any(WRITE.match(statement) for statement in sent.statements)
                found[who] = _said(answer, wrote and bool(changed(self.before, world())))
                transaction.set_rollback(True)
            cache.clear()
        return found

    def answered(self, who: str, visit: Visit, ids: Mapping[str, UUID]) -> Any:
        """Visit an address about these things, as someone."""
        names = {**self.names, **{name: str(id) for name, id in ids.items()}}
        address = reverse(visit.name, args=[names[arg] for arg in visit.args])
        form = {key: names.get(str(value), value) if key in NAMING else value for key, value in visit.form.items()}
        browser = Client()
        browser.cookies.update(self.browsers[who].cookies)
        return browser.post(address, form) if visit.method == "POST" else browser.get(address)


@pytest.fixture
def played(studio: cast.Studio) -> Iterator[Scene]:
    with registered(reserve_table, book_boat):
        yield scene(studio)


@pytest.fixture
def crowd(played: Scene, zoe: cast.Someone, robin: cast.Robin, desk: cast.Desk) -> Crowd:
    studio = played.studio
    browsers = {who: Client() for who in PEOPLE}
    for someone in (zoe, studio.vera, studio.ben, studio.ana):
        browsers[someone.user.username].force_login(someone.user)
    names = {
        "invite": played.invite, "invite_id": str(Invite.objects.get().pk), "robin": str(robin.id),
        "vera": str(studio.vera.id), "desk": str(desk.user.pk), "seq": "1",
        **rest_routes.NAMES,
    }  # fmt: skip
    return Crowd(played, names, browsers, world())


@pytest.fixture(autouse=True)
def no_tries_yet() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def addresses(patterns: list[URLPattern | URLResolver], prefix: str = "", space: str = "") -> Iterator[tuple[str, str]]:
    """Yield every address there is: its pattern and its name."""
    for found in patterns:
        pattern = f"{prefix}{found.pattern}"
        if isinstance(found, URLResolver):
            yield from addresses(found.url_patterns, pattern, f"{found.namespace}:" if found.namespace else space)
        else:
            yield pattern, f"{space}{found.name or ''}"


ADDRESSES = tuple(addresses(get_resolver().url_patterns))
ADMIN = tuple(pattern for pattern, _ in ADDRESSES if pattern.startswith("admin/"))
ADMIN_OPEN = {
    "admin/login/": ("GET", "POST"),
    "admin/logout/": ("GET", "POST"),
}
"""What the admin site answers to who is no staff: asking who they are, and signing out."""


def test_every_address_is_in_the_table_with_both_methods() -> None:
    pages = {name for pattern, name in ADDRESSES if not pattern.startswith("admin/")}
    assert {(visit.name, visit.method) for visit in VISITS} == {
        (name, method) for name in pages for method in ("GET", "POST")
    }


@pytest.mark.parametrize(("page", "known"), [("people", ACTS), ("document-act", documents.ACTS)])
def test_every_form_of_a_page_is_in_the_table(page: str, known: Mapping[str, Any]) -> None:
    found = {str(visit.form["act"]) for visit in VISITS if visit.name == page and "act" in visit.form}
    assert found == {*known, "nothing there is"}


def test_every_command_is_in_the_table() -> None:
    assert {sent.name for sent in COMMANDS} == set(commands.HANDLERS)


def test_every_address_does_for_each_person_what_the_table_says(crowd: Crowd) -> None:
    found = {str(visit): crowd.observed(visit) for visit in VISITS}
    assert found == {str(visit): dict(zip(PEOPLE, visit.outcomes, strict=True)) for visit in VISITS}


def test_a_stranger_gets_byte_for_byte_what_they_get_where_nothing_is(crowd: Crowd) -> None:
    guarded = [visit for visit in VISITS if NIL in visit.outcomes]
    for visit in guarded:
        here = crowd.answered("zoe", visit, crowd.played.ids)
        not_here = crowd.answered("zoe", visit, nowhere(crowd.played.ids))
        assert here.status_code == not_here.status_code == 404, str(visit)
        assert here.content == not_here.content, str(visit)
        assert _headers(here) == _headers(not_here), str(visit)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_admin_site_sends_everyone_who_is_no_staff_to_sign_in(crowd: Crowd, method: str) -> None:
    for who in ("nobody", "ana"):
        for pattern in ADMIN:
            if pattern in ADMIN_OPEN:
                continue
            answer = crowd.browsers[who].generic(method, f"/{_filled(pattern, crowd.played)}")
            assert (answer.status_code, answer.get("Location", "").split("?")[0]) == (302, "/admin/login/"), pattern
    assert world() == crowd.before


def test_every_command_does_for_each_person_what_the_table_says(played: Scene, zoe: cast.Someone) -> None:
    before = world()
    found = {str(sent): {who: _carried_out(played, zoe, who, sent, before) for who in READERS} for sent in COMMANDS}
    assert found == {str(sent): dict(zip(READERS, sent.outcomes, strict=True)) for sent in COMMANDS}


def test_a_stranger_is_told_of_a_command_what_they_are_told_where_nothing_is(played: Scene, zoe: cast.Someone) -> None:
    before = world()
    for sent in COMMANDS:
        here, not_here = (_refusal(zoe, sent.name, args_of(sent, ids)) for ids in (played.ids, nowhere(played.ids)))
        assert here == not_here == ("not_found", NotFound().because), str(sent)
    assert world() == before


def test_the_owner_of_another_workspace_is_told_the_same_of_what_is_not_theirs(
    played: Scene, zoe: cast.Someone
) -> None:
    """Zoe names a thread of her own, as a socket of hers does, beside what is the studio's."""
    own = workspace_create(actor=zoe.actor, name="Garden")
    thread = str(thread_create(actor=zoe.actor, workspace=own.id, title="Roses").id)
    before = world()
    for sent in COMMANDS:
        named = {key for key, value in sent.args.items() if value in played.ids}
        if named == {"thread"}:
            continue
        place = {"thread": thread} if "thread" in named else {}
        here, not_here = (
            _refusal(zoe, sent.name, {**args_of(sent, ids), **place}) for ids in (played.ids, nowhere(played.ids))
        )
        assert here == not_here == ("not_found", NotFound().because), str(sent)
    assert world() == before


@pytest.mark.django_db(transaction=True)
class TestTheSocket:
    @pytest.fixture
    async def sockets(self, studio: cast.Studio) -> AsyncIterator[Sockets]:
        async with Sockets() as opened:
            yield opened

    @pytest.mark.parametrize(
        ("who", "code"),
        [("nobody", Close.NOT_SIGNED_IN), ("zoe", Close.NOT_FOUND), ("vera", None), ("ben", None), ("ana", None)],
    )
    async def test_it_lets_in_who_may_see_the_thread(
        self, sockets: Sockets, studio: cast.Studio, zoe: cast.Someone, who: str, code: int | None
    ) -> None:
        everyone = {"nobody": None, "zoe": zoe, "vera": studio.vera, "ben": studio.ben, "ana": studio.ana}
        socket = await sockets.connect(everyone[who], studio.thread.id)
        if code is None:
            await socket.hello()
        else:
            await socket.send(type="hello", after_seq=0)
            assert await socket.closed() == code
            assert socket.seen == []

    async def test_a_thread_one_may_not_see_closes_as_one_that_is_not_there(
        self, sockets: Sockets, studio: cast.Studio, zoe: cast.Someone
    ) -> None:
        ends = []
        for thread in (studio.thread.id, uuid4()):
            socket = await sockets.connect(zoe, thread)
            ends.append(await socket.socket.receive_output(timeout=10))
        assert ends[0] == ends[1]


def _carried_out(played: Scene, zoe: cast.Someone, who: str, sent: Sent, before: World) -> str:
    """Send a command, say what came of it, and put everything back as it was."""
    studio = played.studio
    with transaction.atomic():
        if who in {"commenter", "contributor"}:
            member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role(who))
            before = world()
        someone = zoe if who == "zoe" else getattr(studio, who, studio.ben)
        code, because = _refusal(someone, sent.name, args_of(sent, played.ids))
        after = world()
        transaction.set_rollback(True)
    tables = changed(before, after)
    match code:
        case "":
            assert tables
            return PROPOSED if added(before, after, "collab_proposal") and not tables & CHANGES else DONE
        case "forbidden" | "not_found":
            assert not tables
            return NO if code == "forbidden" else NIL
    raise AssertionError(f"{sent} is refused for another reason than rights: {because}")


def _refusal(someone: cast.Someone, name: str, args: dict[str, Any]) -> tuple[str, str]:
    """Send a command and return its refusal, its code and sentence; empty when there is none."""
    try:
        with transaction.atomic():
            commands.run(someone.actor, name, "mine", args)
    except (PermissionsError, CollabError) as refused:
        return refused.code, refused.because
    return "", ""


def args_of(sent: Sent, ids: Mapping[str, UUID]) -> dict[str, Any]:
    """Return a command's arguments as they are sent about these things."""
    return {name: _named(value, ids) for name, value in sent.args.items()}


def _named(value: Any, ids: Mapping[str, UUID]) -> Any:
    """Return what a name stands for, and of several names each."""
    if isinstance(value, tuple):
        return [_named(part, ids) for part in value]
    return str(ids[value]) if value in ids else value


def _filled(pattern: str, played: Scene) -> str:
    """Return an address of the admin site's pattern, about the thread where it is about something."""
    filled = re.sub(r"<[^>]+>", str(played.ids["thread"]), pattern)
    return re.sub(r"\^?\(\?P<.*", "collab/" if "app_label" in pattern else "nowhere", filled)


def _said(answer: Any, differs: bool) -> str:
    if answer.status_code < 400 and differs:
        return DONE
    assert not differs, "it was refused, and something changed"
    match answer.status_code:
        case 200:
            return SHOWN
        case 302:
            return IN if answer["Location"].startswith(reverse("sign-in")) else ON
        case 400 | 403 | 409 | 415:
            return NO
        case 401:
            return rest_routes.TOKEN
        case 404:
            return NIL
        case 405:
            return METHOD
    raise AssertionError(f"nobody expects a {answer.status_code}")


def _headers(answer: Any) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name != "Expires"}
