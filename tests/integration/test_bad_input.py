"""Whatever is sent: refused with a reason, nothing stored, nothing broken (FAILURES A10, E13, H1, H2, H7, O1).

The tables of :mod:`tests.integration.test_routes` say what may be asked for; here it is asked for badly. What one
malformed frame does to a socket is in :mod:`tests.integration.test_socket`.
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
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collab import commands
from collab.db import in_db
from collab.errors import Invalid, Reused
from collab.models.threads import Message
from collab.models.workspaces import Invite
from collab.protocol import Close
from collab.web import consumers, hub
from permissions.models import User
from tests.integration.test_routes import COMMANDS, VISITS, Visit, args_of
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


# Text

LINES = ("thread_rename.title", "document_create.title", "proposal_accept.title")
TEXTS = ("message_post.text", "question_answer.answer")
RATIONALES = ("document_create.rationale", "document_save.rationale", "document_archive.rationale")
MAY_BE_BLANK = (
    *RATIONALES,
    "document_create.text",
    "document_save.text",
    "proposal_accept.text",
    "proposal_reject.reason",
)
UNSTORABLE = {"NUL": "a\0b", "half a pair": "a\ud800b", "the other half": "\udfff"}
BLANK = {"empty": "", "spaces": " \n\t ", "zero width": "\u200b\u2060\ufeff", "variation": "\ufe0f\u3164"}
TOO_LONG = {
    "message_post.text": "ü" * 16_385,
    "question_answer.answer": "x" * 8_193,
    "thread_rename.title": "x" * 201,
    "document_create.title": "x" * 201,
    "proposal_accept.title": "x" * 201,
    "proposal_accept.text": "x" * 262_145,
    **dict.fromkeys(RATIONALES, "x" * 4_097),
    "document_create.text": "x" * 262_145,
    "document_save.text": "x" * 262_145,
    "proposal_reject.reason": "x" * 4_097,
}
REFUSED = (
    [(place, text) for place in (*LINES, *TEXTS, *MAY_BE_BLANK) for text in UNSTORABLE.values()]
    + [(place, text) for place in (*LINES, *TEXTS) for text in BLANK.values()]
    + list(TOO_LONG.items())
)
ODD = ("\x07\x1b[2J\x9b", "\U0001f600\u0301", "\u202eevil", "\r\n\r", "\uffff", "\U0001d54f")


def asked(played: Scene, place: str, text: object) -> tuple[str, dict[str, Any]]:
    """Return a command that would be carried out, but for this text in the place of one argument."""
    name, _, field = place.partition(".")
    sent = next(sent for sent in COMMANDS if sent.name == name)
    args = {key: str(played.ids[value]) if value in played.ids else value for key, value in sent.args.items()}
    return name, {**args, field: text}


def test_every_text_that_a_command_takes_is_held_against_bad_text() -> None:
    fields = {
        f"{name}.{field}"
        for name, handler in commands.HANDLERS.items()
        for field, info in handler.args.model_fields.items()
        if info.annotation in {str, str | None}
    }
    codes = {"thread_mode_set.mode", "thread_answers_set.answers", "document_create.kind"}
    assert fields == {*LINES, *TEXTS, *MAY_BE_BLANK, *codes}


def test_text_that_no_database_keeps_is_blank_or_too_long_is_refused_and_stores_nothing(played: Scene) -> None:
    before = world()
    for place, text in REFUSED:
        name, args = asked(played, place, text)
        assert _is_invalid(played, name, args), f"{place}: {text[:20]!r} of {len(text)}"
    assert world() == before


def _is_invalid(played: Scene, name: str, args: dict[str, Any]) -> bool:
    try:
        with transaction.atomic():
            commands.run(played.studio.ana.actor, name, "mine", args)
    except Invalid as refused:
        return bool(refused.because)
    return False


@pytest.mark.parametrize("text", ODD)
def test_any_other_text_is_taken_and_read_back_as_it_was_cleaned(played: Scene, text: str) -> None:
    result = commands.run(played.studio.ana.actor, *_post(played, f"Well: {text}"))
    stored = Message.objects.get(pk=result["message"]).content
    assert stored.startswith("Well: ")
    assert not set(stored) & {"\0", "\r", "\x07", "\x1b", "\x9b"}
    browser = Client()
    browser.force_login(played.studio.ana.user)
    assert browser.get(f"/t/{played.ids['thread']}/").status_code == 200
    assert browser.get(f"/t/{played.ids['thread']}/timeline/").status_code == 200


def _post(played: Scene, text: str) -> tuple[str, str, dict[str, Any]]:
    name, args = asked(played, "message_post.text", text)
    return name, "mine", args


@pytest.mark.parametrize("field", ["author", "user_id", "author_key", "on_behalf_of", "turn", "client_id", "seq"])
def test_who_wrote_a_message_is_never_an_argument(played: Scene, field: str) -> None:
    name, id, args = _post(played, "Hello.")
    before = world()
    with transaction.atomic(), pytest.raises(Invalid, match="Extra inputs are not permitted"):
        commands.run(played.studio.ben.actor, name, id, {**args, field: str(played.studio.ana.id)})
    assert world() == before


@pytest.mark.parametrize("id", ["", " ", "a b", "x" * 101, "é", "a\0", "a\n", "../x"])
def test_a_commands_id_is_plain(played: Scene, id: str) -> None:
    name, _, args = _post(played, "Hello.")
    with pytest.raises(Invalid):
        commands.run(played.studio.ana.actor, name, id, args)


def test_an_id_used_again_for_something_else_is_refused_whatever_it_is(played: Scene) -> None:
    name, id, args = _post(played, "Hello.")
    first = commands.run(played.studio.ana.actor, name, id, args)
    after = world()
    for other in [sent for sent in COMMANDS if commands.HANDLERS[sent.name].stored]:
        body = args_of(other, played.ids)
        other_text = dict.fromkeys({"text"} & body.keys(), "Bye.")
        assert (other.name, {**body, **other_text}) != (name, args)
        with transaction.atomic(), pytest.raises(Reused):
            commands.run(played.studio.ana.actor, other.name, id, {**body, **other_text})
    assert commands.run(played.studio.ana.actor, name, id, args) == first
    assert world() == after


# Pages

FIELDS = sorted({field for visit in VISITS for field in visit.form})
VALUES = st.one_of(
    st.text(max_size=60),
    st.sampled_from(["\0", "\0" * 9, "9" * 5_000, "-1", "1e9", "١٢", "{}", "null", "owner", "markdown", "x" * 300_000]),
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


def addresses(played: Scene, method: str) -> list[str]:
    """Return every address of the pages that takes a method, about the scene's things."""
    names = {**{name: str(id) for name, id in played.ids.items()}, "invite": played.invite}
    visits = [visit for visit in VISITS if visit.method == method and visit.outcomes[-1] != "wrong method"]
    found = [reverse(visit.name, args=[names[arg] for arg in visit.args]) for visit in visits]
    return sorted({address for address in found if address != reverse("sign-out")})


def test_no_form_makes_a_page_fail(played: Scene) -> None:
    browser = _browser(played.studio.ana)

    @PLAINLY
    @given(form=FORMS, act=st.sampled_from(["role", "remove", "add", "invite", "revoke", "agent", "\0"]))
    def sent(form: dict[str, str], act: str) -> None:
        for address in addresses(played, "POST"):
            body = urlencode({**form, "act": act}, errors="replace")
            answer = browser.generic("POST", address, body, "application/x-www-form-urlencoded")
            assert answer.status_code < 500, (address, body)

    sent()


def test_no_query_makes_a_page_fail(played: Scene) -> None:
    browser = _browser(played.studio.ana)
    thread = str(played.ids["thread"])
    values = ["\0", "-1", "9" * 40, "\u0661", thread, "\ud800", "/\r\nx: y"]
    for address in addresses(played, "GET"):
        for value in values:
            query = urlencode(dict.fromkeys(("before", "thread", "next", "all", "\0"), value), errors="replace")
            assert browser.get(f"{address}?{query}").status_code < 500, (address, query)


@pytest.mark.parametrize(("kind", "body"), ODD_BODIES, ids=range(len(ODD_BODIES)))
def test_no_body_makes_a_page_fail(played: Scene, kind: str, body: bytes) -> None:
    browser = _browser(played.studio.ana)
    for address in addresses(played, "POST"):
        assert browser.generic("POST", address, body, kind).status_code < 500, address


def test_every_form_needs_the_token_of_its_page_and_comes_from_here(played: Scene) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(played.studio.ana.user)
    browser.get(reverse("account"))
    token = browser.cookies["csrftoken"].value
    before = world()
    for visit in [visit for visit in VISITS if visit.method == "POST" and visit.outcomes[-1] != "wrong method"]:
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
            assert browser.get(f"/admin/{name.replace('_', '/')}/{id}/change/").status_code < 500


def _browser(someone: cast.Someone) -> Client:
    browser = Client()
    browser.force_login(someone.user)
    return browser


def _filled(played: Scene, visit: Visit) -> tuple[str, Mapping[str, Any]]:
    names = {
        **{name: str(id) for name, id in played.ids.items()}, "invite": played.invite,
        "invite_id": str(Invite.objects.get().pk), "robin": str(played.studio.robin.id),
        "vera": str(played.studio.vera.id),
    }  # fmt: skip
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
            patch.setattr(consumers, "FRAMES", 10_000)
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
