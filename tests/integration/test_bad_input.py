"""Whatever is sent: refused with a reason, nothing stored, nothing broken (FAILURES A10, E13, H1, H2, H7, O1).

The tables of :mod:`tests.integration.test_routes` say what may be asked for; here it is asked for badly. What commands
make of bad text is in :mod:`tests.integration.test_bad_text`, what one malformed frame does to a socket in
:mod:`tests.integration.test_socket`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
import websockets
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.urls import resolve, reverse
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collab import commands
from collab.db import in_db
from collab.models.workspaces import Invite
from collab.protocol import Close
from collab.web import accepting, hub
from permissions.models import User
from tests.integration.test_routes import VISITS, Visit
from tests.support import cast
from tests.support.scene import Scene, scene
from tests.support.server import Server
from tests.support.sockets import Sockets
from tests.support.visitor import visiting
from tests.support.world import world

PLAINLY = settings(
    max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


@pytest.fixture(autouse=True)
def no_tries_yet() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def played(studio: cast.Studio) -> Scene:
    return scene(studio)


# Pages

PAGES = [visit for visit in VISITS if not visit.name.startswith("api:")]
"""The addresses of people's browsers; those of the API are tried from its own description."""

FIELDS = sorted({*(field for visit in VISITS for field in visit.form), "until", "zone", "rationale", "propose"})
ACTS = sorted({*(visit.form["act"] for visit in VISITS if "act" in visit.form), "\0"})
VALUES = st.one_of(
    st.text(max_size=60),
    st.sampled_from(["\0", "\0" * 9, "9" * 5_000, "-1", "1e9", "١٢", "{}", "null", "owner", "markdown", "x" * 300_000]),
    st.sampled_from(["0001-01-01", "9999-12-31T23:59:59.999999", "9999-12-31T23:59-23:59", "account:x", "group:9e9"]),
    st.sampled_from([*FIELDS]),
)
FORMS = st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=8), VALUES, max_size=6)
ODD_BODIES = (
    ("application/x-www-form-urlencoded", b"%00=%00&name=%ff%fe&name"),
    ("application/x-www-form-urlencoded; charset=nonsense", b"name=x"),
    ("multipart/form-data", b"no boundary"),
    ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\nbroken"),
    ("multipart/form-data; boundary=\xff", b"--x"),
    ("application/json", b"{"),
    ("", b"\x00\x01"),
    ("application/x-www-form-urlencoded", b"&".join(b"a=%d" % number for number in range(2_000))),
    ("application/x-www-form-urlencoded", b"text=" + b"x" * 1_100_000),
)


QUERIES = {
    "sign-in": ("next",),
    "inbox": ("in", "after"),
    "search": ("q", "in", "before", "archived"),
    "grant-history": ("by", "whom", "on", "codename", "did", "since", "until", "reason", "after"),
    "why": ("who", "for", "do", "in"),
    "access": ("as", "page"),
    "thread": ("before", "thread"),
    "thread-items": ("before", "known"),
    "timeline": ("before", "all"),
    "document-pane": ("thread", "known"),
    "document-history": ("thread", "before"),
    "document-compare": ("thread", "from", "to"),
    "document-version": ("thread", "version"),
    "document-download": ("version",),
}
"""What the addresses of a name, or of names that begin so, read of their query."""


def addresses(played: Scene, method: str) -> list[str]:
    """Return every address of the pages that takes a method, about the scene's things."""
    names = _names(played)
    visits = [visit for visit in PAGES if visit.method == method and visit.outcomes[-1] != "wrong method"]
    found = [reverse(visit.name, args=[names[arg] for arg in visit.args]) for visit in visits]
    return sorted({address for address in found if address != reverse("sign-out")})


def test_no_form_makes_a_page_fail(played: Scene) -> None:
    browser = _browser(played.studio.ana)

    @PLAINLY
    @given(form=FORMS, act=st.sampled_from(ACTS))
    def sent(form: dict[str, str], act: str) -> None:
        for address in addresses(played, "POST"):
            body = urlencode({**form, "act": act}, errors="replace")
            answer = browser.generic("POST", address, body, "application/x-www-form-urlencoded")
            assert answer.status_code < 500, (address, body)

    sent()


def test_no_query_makes_a_page_fail(played: Scene) -> None:
    browser = _browser(played.studio.ana)
    thread = str(played.ids["thread"])
    values = ["\0", "-1", "9" * 40, "\u0661", thread, "\ud800", "/\r\nx: y", "9999-12-31", "x" * 5_000]
    for address in addresses(played, "GET"):
        name = resolve(address).url_name or ""
        alone = QUERIES.get(name, QUERIES.get(name.partition("-")[0], ()))
        for value in values if alone else values[:2]:
            for names in (("before", "thread", "next", "all", "\0"), *((name,) for name in alone)):
                query = urlencode(dict.fromkeys(names, value), errors="replace")
                assert browser.get(f"{address}?{query}").status_code < 500, (address, query)


def test_no_number_in_an_address_makes_a_page_fail(played: Scene) -> None:
    browser = _browser(played.studio.ana)
    for seq in ("0", "9" * 9, "9" * 19, "9" * 40, "9" * 4_400):
        assert browser.get(f"/t/{played.ids['thread']}/timeline/{seq}/why/").status_code == 404, seq


@pytest.mark.parametrize(("kind", "body"), ODD_BODIES, ids=range(len(ODD_BODIES)))
def test_no_body_makes_a_page_fail(played: Scene, kind: str, body: bytes) -> None:
    browser = _browser(played.studio.ana)
    for address in addresses(played, "POST"):
        assert browser.generic("POST", address, body, kind).status_code < 500, address


@pytest.mark.parametrize("address", ["/", "/sign-in/", "/account/", "/nowhere/", "/admin/login/", "/connect/?ask=x"])
def test_a_form_in_another_encoding_is_none_and_is_told_so(played: Scene, address: str) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(played.studio.ana.user)
    browser.cookies["csrftoken"] = "a" * 32
    for encoding in ("utf-16", "latin-1", "UTF8"):
        kind = f"application/x-www-form-urlencoded; charset={encoding}"
        assert 400 <= browser.generic("POST", address, b"name=x", kind).status_code < 500, encoding


def test_every_form_needs_the_token_of_its_page_and_comes_from_here(played: Scene) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(played.studio.ana.user)
    browser.get(reverse("account"))
    token = browser.cookies["csrftoken"].value
    before = world()
    for visit in [visit for visit in PAGES if visit.method == "POST" and visit.outcomes[-1] != "wrong method"]:
        address, form = _filled(played, visit)
        assert browser.post(address, form).status_code == 403, str(visit)
        foreign = browser.post(
            address, {**form, "csrfmiddlewaretoken": token}, headers={"Origin": "https://evil.example"}
        )
        assert foreign.status_code == 403, str(visit)
        assert browser.get(address, form).status_code < 500
    assert world() == before


def test_a_thread_whose_first_message_is_refused_is_not_made(played: Scene) -> None:
    browser = _browser(played.studio.ana)
    before = world()
    address = reverse("thread-new", args=[played.ids["workspace"]])
    assert browser.post(address, {"title": "Garden", "text": "x" * 40_000}).status_code == 302
    assert world() == before


ADMIN_LISTS = (
    "permissions_user", "collab_thread", "collab_event", "collab_message", "collab_proposal", "agents_turn",
    "agents_phrasing", "agents_replycount", "agents_tool", "auth_group",
)  # fmt: skip
ADMIN_QUERIES = ("q=%00", "kind__exact=%00", "id__exact=%00", "o=%00", "p=%00", "state__exact=x", "e=1")


@pytest.mark.parametrize("query", ADMIN_QUERIES)
def test_no_query_makes_the_admin_site_fail(played: Scene, query: str) -> None:
    chief = User.objects.create_superuser("chief", password="not a secret here")
    browser = Client()
    browser.force_login(chief)
    for name in ADMIN_LISTS:
        assert browser.get(f"{reverse(f'admin:{name}_changelist')}?{query}").status_code < 500
        for id in ("%00", "x", "%FF", "9" * 400):
            for page in ("change", "history", "delete"):
                assert browser.get(f"/admin/{name.replace('_', '/')}/{id}/{page}/").status_code < 500


def _browser(someone: cast.Someone) -> Client:
    browser = Client()
    browser.force_login(someone.user)
    return browser


def _names(played: Scene) -> dict[str, str]:
    """Return what the tables call the scene's things."""
    return {
        **{name: str(id) for name, id in played.ids.items()}, "invite": played.invite, "seq": "1",
        "invite_id": str(Invite.objects.get().pk), "robin": str(played.studio.robin.id),
        "vera": str(played.studio.vera.id),
    }  # fmt: skip


def _filled(played: Scene, visit: Visit) -> tuple[str, Mapping[str, Any]]:
    names = _names(played)
    form = {key: names.get(str(value), value) for key, value in visit.form.items()}
    return reverse(visit.name, args=[names[arg] for arg in visit.args]), form


# Sockets

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
ARGS = sorted({field for handler in commands.HANDLERS.values() for field in handler.args.model_fields} - {"archived"})
COMMAND = st.fixed_dictionaries(
    {
        "type": st.just("command"),
        "id": st.text(min_size=1, max_size=8) | JSON,
        "name": st.sampled_from([*commands.HANDLERS]) | st.text(max_size=10),
        "args": st.dictionaries(st.sampled_from(ARGS), JSON, max_size=5) | JSON,
    }
)
FRAME = st.one_of(
    COMMAND.map(json.dumps),
    COMMAND.map(json.dumps),
    st.dictionaries(st.sampled_from(["type", "after_seq", "seq", "frames", "id"]), JSON, max_size=4).map(json.dumps),
    st.fixed_dictionaries({"type": st.sampled_from(["ack", "ping", "live"]), "seq": JSON}).map(json.dumps),
    JSON.map(json.dumps),
    st.text(min_size=1, max_size=40).filter(lambda text: not any(0xD800 <= ord(sign) < 0xE000 for sign in text)),
)


@pytest.mark.django_db(transaction=True)
class TestSockets:
    @pytest.fixture
    async def sockets(self, studio: cast.Studio) -> AsyncIterator[Sockets]:
        async with Sockets() as opened:
            yield opened

    @PLAINLY
    @given(frames=st.lists(FRAME, min_size=30, max_size=30))
    async def test_no_frame_breaks_a_socket_or_fails_here(self, studio: cast.Studio, frames: list[str]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hub, "COMMANDS_A_MINUTE", 10_000)
            patch.setattr(accepting, "FRAMES", 10_000)
            async with Sockets() as sockets:
                ana = await sockets.connect(studio.ana, studio.thread.id)
                for frame in frames:
                    await ana.socket.send_to(text_data=frame)
                last = await ana.command("thread_rename", id="the-last", title="Launch dinner")
                assert last["type"] == "result"
                assert [frame for frame in ana.seen if frame.get("code") == "failed"] == []

    async def test_the_hundred_and_first_command_of_a_minute_is_told_when_to_come_back(
        self, sockets: Sockets, studio: cast.Studio
    ) -> None:
        here = await sockets.connect(studio.vera, studio.thread.id)
        there = await sockets.connect(studio.vera, studio.thread.id)
        for number in range(100):
            socket = (here, there)[number % 2]
            assert (await socket.command("read_mark_set", seq=1))["type"] == "result"
        busy = await there.command("read_mark_set", id="later", seq=2)
        assert (busy["type"], busy["id"]) == ("busy", "later")
        assert 0 < busy["retry_after"] <= 60
        someone_else = await sockets.connect(studio.ben, studio.thread.id)
        assert (await someone_else.command("read_mark_set", seq=1))["type"] == "result"

    @pytest.mark.parametrize("session", ["x" * 32, "\xff", "'; DROP TABLE", "x" * 4_000])
    async def test_a_session_that_is_none_is_not_signed_in(
        self, sockets: Sockets, studio: cast.Studio, session: str
    ) -> None:
        nobody = await sockets.connect(None, studio.thread.id, session=session)
        assert await nobody.closed() == Close.NOT_SIGNED_IN

    async def test_an_expired_session_is_not_signed_in(self, sockets: Sockets, studio: cast.Studio) -> None:
        ana = await sockets.connect(studio.ana, studio.thread.id)
        await ana.hello()
        expired = timezone.now() - timedelta(seconds=1)
        await in_db(Session.objects.filter(session_key=ana.session).update, expire_date=expired)
        late = await sockets.connect(None, studio.thread.id, session=ana.session)
        assert await late.closed() == Close.NOT_SIGNED_IN

    async def test_a_deactivated_account_is_not_signed_in(self, sockets: Sockets, studio: cast.Studio) -> None:
        ana = await sockets.connect(studio.ana, studio.thread.id)
        await in_db(User.objects.filter(pk=studio.ana.id).update, is_active=False)
        late = await sockets.connect(None, studio.thread.id, session=ana.session)
        assert await late.closed() == Close.NOT_SIGNED_IN

    @pytest.mark.parametrize("path", ["/", "/ws/threads/", "/ws/threads/x/", "/ws/threads/%00/", "/ws/../t/", "/t/x/"])
    async def test_a_path_that_is_no_threads_closes_as_one_that_is_not_there(
        self, sockets: Sockets, studio: cast.Studio, path: str
    ) -> None:
        socket = await sockets.attempt(studio.ana, path)
        assert socket is not None
        assert await socket.closed() == Close.NOT_FOUND


# A real server

BAD_UTF8 = b'{"type": "ping\xff"}'


async def test_a_real_server_survives_what_no_client_sends(server: Server) -> None:
    with visiting(server, "ana") as ana:
        thread = ana.thread()
        async with ana.socket(thread) as socket:
            await socket.send(b"\x00\x01\x02")
            assert json.loads(await socket.recv())["code"] == "not_text"
            await socket.send('{"type": "ping"}')
            assert json.loads(await socket.recv()) == {"type": "pong"}
            await socket.send(BAD_UTF8, text=True)
            with pytest.raises(websockets.ConnectionClosed):
                await socket.recv()
        assert socket.close_code == 1007
        for path in ("/%00", "/%ff%fe/", f"/t/{thread}/?before=%00", "/join/%00/", "/static/%00", "/static/..%2fx"):
            assert ana.http.get(path).status_code < 500, path
        assert ana.http.get("/", headers={"Host": "evil.example"}).status_code == 400
        assert ana.http.get("/", headers={"Cookie": b"sessionid=\xff; csrftoken=\x7f"}).status_code < 500
        assert ana.http.request("BREW", "/").status_code < 500
        assert ana.http.get(f"/sign-in/?next={'x' * 10_000}").status_code < 500
    assert httpx.get(f"{server.url}/healthz").status_code == 200
    assert "Internal Server Error" not in server.output
