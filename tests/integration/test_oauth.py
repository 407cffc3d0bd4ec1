"""Letting programs in without pasting a token: they register, a person consents, a code is exchanged (DESIGN 11)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from threading import Event
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.clients.oauth import asgi, services
from agents.clients.services import client_disable
from agents.clients.tokens import bearer
from agents.errors import BadToken
from agents.models.clients import AccessToken, Authorization, Client, Registration
from collab.asgi import application
from collab.db import in_db
from collab.services.workspaces import member_role_set, workspace_create
from permissions.actors import Client as ClientActor
from permissions.actors import System
from permissions.services import account_deactivate
from tests.support.cast import Someone, Studio
from tests.support.mcp import ORIGIN, Speaker
from tests.support.programs import BACK, RESOURCE, Program, browser_of, decides, program, told_in, visits

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def inspector(studio: Studio) -> AsyncIterator[Program]:
    async with program() as registered:
        yield registered


class TestDescribing:
    async def test_a_program_finds_its_way_from_the_refusal_to_where_people_let_it_in(self, inspector: Program) -> None:
        refused = await Speaker(inspector.http, None).ask("tools/list")
        about = refused.headers["WWW-Authenticate"].split('"')[1]
        resource = (await inspector.http.get(about)).json()
        assert resource["resource"] == RESOURCE
        assert resource["bearer_methods_supported"] == ["header"]
        (issuer,) = resource["authorization_servers"]
        described = (await inspector.http.get(f"{ORIGIN}/.well-known/oauth-authorization-server/oauth")).json()
        assert described["issuer"] == issuer == f"{ORIGIN}/oauth"
        assert described["code_challenge_methods_supported"] == ["S256"]
        assert described["token_endpoint_auth_methods_supported"] == ["none"]
        assert described == (await inspector.http.get("/.well-known/oauth-authorization-server")).json()
        ends = [described[f"{name}_endpoint"] for name in ("authorization", "token", "registration", "revocation")]
        assert ends == [f"{ORIGIN}/oauth/{name}" for name in ("authorize", "token", "register", "revoke")]

    async def test_over_plain_http_from_elsewhere_nobody_is_let_in_this_way(
        self, inspector: Program, settings: Any
    ) -> None:
        settings.ALLOWED_HOSTS = ["accord.example"]
        host = {"Host": "accord.example"}
        assert (await inspector.http.get("/.well-known/oauth-authorization-server", headers=host)).status_code == 404
        refused = await Speaker(inspector.http, None).post({}, headers=host)
        assert refused.headers["WWW-Authenticate"] == "Bearer"

    @pytest.mark.parametrize("path", ["/oauth/", "/oauth/nothing", "/.well-known/oauth-nothing"])
    async def test_other_addresses_are_nothing(self, inspector: Program, path: str) -> None:
        assert (await inspector.http.get(path)).status_code == 404

    async def test_another_host_is_not_answered_for(self, inspector: Program) -> None:
        answer = await inspector.http.get("/.well-known/oauth-authorization-server", headers={"Host": "evil.example"})
        assert answer.status_code == 421

    @pytest.mark.parametrize("host", ["127.0.0.1:65536", "localhost:99999", "xn--a.accord.example"])
    async def test_a_host_that_no_address_can_name_is_not_answered_for(
        self, inspector: Program, settings: Any, host: str
    ) -> None:
        settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", ".accord.example"]
        for path in ("/.well-known/oauth-authorization-server", "/oauth/authorize", "/mcp"):
            answer = await inspector.http.get(path, headers={"Host": host})
            assert (answer.status_code, answer.json()["code"]) == (421, "not_served")

    async def test_a_page_of_another_origin_is_not_answered(self, inspector: Program) -> None:
        answer = await inspector.http.post("/oauth/token", headers={"Origin": "https://evil.example"})
        assert answer.status_code == 403


class TestRegistering:
    async def test_a_program_is_given_no_secret_whatever_it_asks_for(self, inspector: Program) -> None:
        answer = await inspector.registers(token_endpoint_auth_method="client_secret_post")
        told = answer.json()
        assert told["token_endpoint_auth_method"] == "none"
        assert not told.get("client_secret")
        kept = await in_db(Registration.objects.get, pk=told["client_id"])
        assert kept.name == "Inspector"
        assert kept.metadata["redirect_uris"] == [BACK]

    @pytest.mark.parametrize(
        "address",
        [
            "http://evil.example/back", "javascript:alert(1)", "data:text/html,x", "https://a.example/#part",
            "https://user:pass@a.example/", "file:///etc/passwd", f"https://a.example/{'x' * 1_000}",
        ],
    )  # fmt: skip
    async def test_where_people_are_sent_back_to_is_somewhere_safe(self, inspector: Program, address: str) -> None:
        answer = await inspector.registers(redirect_uris=[address])
        assert answer.status_code == 400
        assert answer.json()["error_description"]

    @pytest.mark.parametrize("address", ["https://a.example/back?x=1", "http://localhost:9/back", "cursor://mcp/back"])
    async def test_https_the_machine_itself_and_schemes_of_programs_are(self, inspector: Program, address: str) -> None:
        assert (await inspector.registers(redirect_uris=[address])).status_code == 201

    @pytest.mark.parametrize(
        "metadata", [{"client_name": "a\0b"}, {"client_name": " "}, {"scope": "x\0"}], ids=range(3)
    )
    async def test_what_no_database_keeps_or_nobody_reads_is_refused(
        self, inspector: Program, metadata: dict[str, str]
    ) -> None:
        answer = await inspector.registers(**metadata)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")

    async def test_too_many_from_one_network_are_told_when_to_come_again(
        self, inspector: Program, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(asgi, "REGISTERING", asgi.Policy("tests", 1))
        assert (await inspector.registers()).status_code == 201
        answer = await inspector.registers()
        assert answer.status_code == 429
        assert int(answer.headers["Retry-After"]) > 0

    async def test_behind_a_proxy_one_network_takes_nothing_from_another(
        self, inspector: Program, monkeypatch: pytest.MonkeyPatch, settings: Any
    ) -> None:
        monkeypatch.setattr(asgi, "ASKING", asgi.Policy("tests", 1))
        settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
        said = [
            (await inspector.http.get("/oauth/authorize", headers={"X-Forwarded-For": forwarded})).status_code
            for forwarded in ("198.51.100.7", "192.0.2.1, 198.51.100.7", "203.0.113.9")
        ]
        assert said == [400, 429, 400]

    async def test_what_nobody_wanted_for_a_day_is_forgotten(
        self, inspector: Program, studio: Studio, clock: Any
    ) -> None:
        unwanted = UUID(inspector.client_id)
        await inspector.registers()
        wanted = UUID(inspector.client_id)
        await inspector.let_in_by(studio.ana, studio.workspace)
        clock(2 * 86_400)
        await inspector.registers()
        left = await in_db(lambda: set(Registration.objects.values_list("pk", flat=True)))
        assert wanted in left
        assert unwanted not in left


class TestConsenting:
    async def test_the_page_names_the_program_and_the_person_and_cannot_be_framed(
        self, inspector: Program, studio: Studio
    ) -> None:
        shown = await visits(studio.ana, await inspector.page())
        text = shown.content.decode()
        assert "Let “Inspector” in?" in text
        assert "a program on this machine" in text
        assert "Ana" in text
        assert "Studio launch" in text
        assert shown["X-Frame-Options"] == "DENY"
        policy = shown["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy
        assert "form-action 'self' http://127.0.0.1:33418" in policy

    async def test_a_name_is_text_and_hides_nothing(self, inspector: Program, studio: Studio) -> None:
        await inspector.registers(client_name="<b>Accord</b>\u202e")
        text = (await visits(studio.ana, await inspector.page())).content.decode()
        assert "&lt;b&gt;Accord&lt;/b&gt;\\u202e" in text

    async def test_who_is_not_signed_in_is_asked_who_they_are_first(self, inspector: Program) -> None:
        asked = await visits(None, await inspector.page())
        assert asked.status_code == 302
        assert asked["Location"].startswith("/sign-in/?next=/connect/")

    async def test_a_program_that_was_let_in_acts_for_the_person_where_they_said_and_nowhere_else(
        self, inspector: Program, studio: Studio
    ) -> None:
        garden = await in_db(workspace_create, actor=studio.ana.actor, name="Garden")
        given = await inspector.let_in_by(studio.ana, studio.workspace, role="contributor")
        assert (given["token_type"], given["expires_in"]) == ("Bearer", 3_600)
        speaker = Speaker(inspector.http, given["access_token"])
        assert [one["id"] for one in (await speaker.call("workspace_list"))["workspaces"]] == [str(studio.workspace.id)]
        assert garden.id != studio.workspace.id
        posted = await speaker.call("message_post", thread=studio.thread.id, text="Hello.")
        client = await in_db(Client.objects.get, person=studio.ana.id)
        author = await in_db(lambda: _author(posted["message"]))
        assert author == ClientActor(client.pk, studio.ana.id)

    async def test_the_role_given_is_the_most_it_may_do(self, inspector: Program, studio: Studio) -> None:
        given = await inspector.let_in_by(studio.ana, studio.workspace, role="viewer")
        code, because = await Speaker(inspector.http, given["access_token"]).refused(
            "message_post", thread=studio.thread.id, text="Hello."
        )
        assert code == "forbidden"
        assert "Inspector" in because

    async def test_where_one_does_not_manage_nothing_is_given_and_the_program_sees_nothing_yet(
        self, inspector: Program, studio: Studio
    ) -> None:
        page = await inspector.page()
        assert "once someone who manages it lets it in" in (await visits(studio.ben, page)).content.decode()
        given = await inspector.let_in_by(studio.ben, studio.workspace, role="editor")
        assert (await Speaker(inspector.http, given["access_token"]).call("workspace_list"))["workspaces"] == []

    async def test_it_is_the_same_client_each_time_and_another_of_each_person(
        self, inspector: Program, studio: Studio
    ) -> None:
        for person in (studio.ana, studio.ana, studio.ben):
            await inspector.let_in_by(person, studio.workspace)
        people = await in_db(lambda: sorted(str(row.person.name) for row in Client.objects.select_related("person")))
        assert people == ["Ana", "Ben"]

    async def test_who_does_not_allow_it_sends_the_program_away_with_that(
        self, inspector: Program, studio: Studio
    ) -> None:
        told = told_in(await decides(studio.ana, await inspector.page(), act="deny"))
        assert (told["error"], told["state"]) == ("access_denied", "s1")
        assert not await in_db(Client.objects.exists)

    async def test_it_is_decided_once(self, inspector: Program, studio: Studio) -> None:
        for first in ("allow", "deny"):
            page = await inspector.page()
            assert (await decides(studio.ana, page, studio.workspace, act=first)).status_code == 302
            for again in ("allow", "deny"):
                assert (await decides(studio.ana, page, studio.workspace, act=again)).status_code == 400
            assert "You decided this already" in (await visits(studio.ana, page)).content.decode()

    async def test_it_is_decided_within_ten_minutes(self, inspector: Program, studio: Studio, clock: Any) -> None:
        page = await inspector.page()
        clock(601)
        assert "longer than ten minutes" in (await visits(studio.ana, page)).content.decode()
        assert (await decides(studio.ana, page, studio.workspace)).status_code == 400
        assert not await in_db(Authorization.objects.exists)

    @pytest.mark.parametrize("ask", ["", "nonsense", "e30:1vabc:x"])
    async def test_a_page_that_nobody_asked_for_is_nothing(self, studio: Studio, ask: str) -> None:
        assert (await visits(studio.ana, f"/connect/?ask={ask}")).status_code == 404

    async def test_a_workspace_that_one_may_not_see_cannot_be_chosen_and_one_must_be(
        self, inspector: Program, studio: Studio, zoe: Someone
    ) -> None:
        for places in ((studio.workspace,), ()):
            answer = await decides(zoe, await inspector.page(), *places)
            assert answer.status_code == 400
        assert not await in_db(Client.objects.exists)

    async def test_a_client_that_was_disabled_is_not_let_in_again(self, inspector: Program, studio: Studio) -> None:
        await inspector.let_in_by(studio.ana, studio.workspace)
        client = await in_db(Client.objects.get)
        await in_db(client_disable, actor=studio.ana.actor, client=client.pk)
        answer = await decides(studio.ana, await inspector.page(), studio.workspace)
        assert "for good" in answer.content.decode()


class TestAsking:
    @pytest.mark.parametrize(
        "params",
        [{"client_id": str(uuid4())}, {"client_id": "nonsense"}, {"redirect_uri": "https://evil.example/"}],
        ids=range(3),
    )
    async def test_who_is_not_known_or_would_be_sent_elsewhere_is_sent_nowhere(
        self, inspector: Program, params: dict[str, str]
    ) -> None:
        answer = await inspector.asks(**params)
        assert answer.status_code == 400
        assert "Location" not in answer.headers

    @pytest.mark.parametrize(
        ("params", "error"),
        [
            ({"code_challenge": None}, "invalid_request"),
            ({"code_challenge": "short"}, "invalid_request"),
            ({"code_challenge": "a\0" * 30}, "invalid_request"),
            ({"code_challenge": "é" * 43}, "invalid_request"),
            ({"code_challenge_method": "plain"}, "invalid_request"),
            ({"response_type": "token"}, "unsupported_response_type"),
            ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
            ({"scope": "everything"}, "invalid_scope"),
            ({"state": "x" * 1_001}, "invalid_request"),
            ({"state": "a\0b"}, "invalid_request"),
        ],
        ids=range(10),
    )
    async def test_what_cannot_be_is_told_the_program(
        self, inspector: Program, params: dict[str, str | None], error: str
    ) -> None:
        assert told_in(_plain(await inspector.asks(**params)))["error"] == error

    async def test_asking_stores_nothing(self, inspector: Program) -> None:
        await inspector.page()
        assert not await in_db(Authorization.objects.exists)


class TestExchanging:
    @pytest.fixture
    async def code(self, inspector: Program, studio: Studio) -> str:
        return told_in(await decides(studio.ana, await inspector.page(), studio.workspace, role="editor"))["code"]

    async def test_the_answer_names_its_issuer_and_brings_the_state_back(
        self, inspector: Program, studio: Studio
    ) -> None:
        answer = await decides(studio.ana, await inspector.page(state="mine"), studio.workspace)
        assert answer["Location"].startswith(f"{BACK}?code=")
        told = told_in(answer)
        assert (told["state"], told["iss"]) == ("mine", f"{ORIGIN}/oauth")

    async def test_a_code_without_its_verifier_gives_nothing_and_is_not_spent_by_it(
        self, inspector: Program, code: str
    ) -> None:
        for params in ({"code_verifier": "x" * 43}, {"redirect_uri": "https://evil.example/"}, {"client_id": "other"}):
            assert (await inspector.exchanges(code, **params)).status_code in {400, 401}
        assert (await inspector.exchanges(code)).status_code == 200

    async def test_a_code_is_worth_nothing_to_another_program(self, inspector: Program, code: str) -> None:
        first = inspector.client_id
        await inspector.registers()
        assert (await inspector.exchanges(code)).json()["error"] == "invalid_grant"
        inspector.client_id = first
        assert (await inspector.exchanges(code)).status_code == 200

    async def test_a_code_used_twice_ends_what_came_of_it(self, inspector: Program, code: str) -> None:
        given = (await inspector.exchanges(code)).json()
        again = await inspector.exchanges(code)
        assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
        assert await _refusal(given["access_token"]) == again.json()["error_description"]
        assert (await inspector.renews(given["refresh_token"])).status_code == 400

    async def test_a_code_expires_in_a_minute(self, inspector: Program, code: str, clock: Any) -> None:
        clock(61)
        assert (await inspector.exchanges(code)).json()["error"] == "invalid_grant"

    async def test_a_token_is_good_for_its_address_only_and_is_kept_as_a_digest(
        self, inspector: Program, code: str
    ) -> None:
        secret = (await inspector.exchanges(code)).json()["access_token"]
        row = await in_db(AccessToken.objects.get)
        assert (row.audience, row.name) == (RESOURCE, "Inspector")
        assert secret not in repr(vars(row))
        assert await _refusal(secret) == "This token is for another address."

    async def test_a_code_is_worth_nothing_once_its_person_is_switched_off(
        self, inspector: Program, studio: Studio
    ) -> None:
        code = told_in(await decides(studio.ben, await inspector.page(), studio.workspace))["code"]
        await in_db(account_deactivate, by=System(), account=studio.ben.user)
        assert (await inspector.exchanges(code)).json()["error"] == "invalid_grant"


class TestRenewing:
    @pytest.fixture
    async def given(self, inspector: Program, studio: Studio) -> dict[str, Any]:
        return await inspector.let_in_by(studio.ana, studio.workspace, role="editor")

    async def test_a_token_is_renewed_after_it_expired_and_the_one_before_ends(
        self, inspector: Program, given: dict[str, Any], clock: Any
    ) -> None:
        clock(3_700)
        renewed = (await inspector.renews(given["refresh_token"])).json()
        assert await _refusal(given["access_token"])
        assert await _refusal(renewed["access_token"], audience=RESOURCE) == ""
        assert (await inspector.renews(renewed["refresh_token"])).status_code == 200

    async def test_renewed_twice_with_the_same_everything_ends(self, inspector: Program, given: dict[str, Any]) -> None:
        renewed = (await inspector.renews(given["refresh_token"])).json()
        assert (await inspector.renews(given["refresh_token"])).json()["error"] == "invalid_grant"
        assert await _refusal(renewed["access_token"], audience=RESOURCE)
        assert (await inspector.renews(renewed["refresh_token"])).status_code == 400

    async def test_a_renewal_on_its_way_ends_too_when_one_before_is_used_twice(
        self, inspector: Program, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        renewed = (await inspector.renews(given["refresh_token"])).json()
        issued, goes_on, whole = Event(), Event(), services._issued

        def slowly(*args: Any) -> services.Given:
            found = whole(*args)
            issued.set()
            goes_on.wait(10)
            return found

        monkeypatch.setattr(services, "_issued", slowly)
        going = asyncio.ensure_future(inspector.renews(renewed["refresh_token"]))
        assert await asyncio.to_thread(issued.wait, 10)
        again = asyncio.ensure_future(inspector.renews(given["refresh_token"]))
        await asyncio.sleep(0.5)
        goes_on.set()
        last = (await going).json()
        assert (await again).json()["error"] == "invalid_grant"
        assert await _refusal(last["access_token"], audience=RESOURCE)
        assert (await inspector.renews(last["refresh_token"])).status_code == 400

    async def test_its_person_ends_what_expired_and_could_still_be_renewed(
        self, inspector: Program, given: dict[str, Any], studio: Studio, clock: Any
    ) -> None:
        clock(3_700)
        page, token = "/account/clients/", await in_db(AccessToken.objects.get)
        assert "its program may still renew it" in (await visits(studio.ana, page)).content.decode()
        await in_db(lambda: browser_of(studio.ana).post(page, {"act": "revoke", "token": token.pk}))
        assert "may still renew it" not in (await visits(studio.ana, page)).content.decode()
        assert (await inspector.renews(given["refresh_token"])).json()["error"] == "invalid_grant"

    async def test_a_session_goes_on_with_the_renewed_token(self, inspector: Program, given: dict[str, Any]) -> None:
        speaker = Speaker(inspector.http, given["access_token"])
        session = await speaker.begin()
        renewed = (await inspector.renews(given["refresh_token"])).json()
        assert (await speaker.in_session(session, "ping")).status_code == 401
        assert (await speaker.with_token(renewed["access_token"]).in_session(session, "ping")).status_code == 200

    async def test_a_client_that_was_disabled_renews_nothing(
        self, inspector: Program, given: dict[str, Any], studio: Studio
    ) -> None:
        await in_db(client_disable, actor=studio.ana.actor, client=(await in_db(Client.objects.get)).pk)
        assert (await inspector.renews(given["refresh_token"])).json()["error"] == "invalid_grant"

    async def test_who_sees_none_of_the_workspaces_any_more_renews_nothing(
        self, inspector: Program, studio: Studio
    ) -> None:
        given = await inspector.let_in_by(studio.ben, studio.workspace)
        place = studio.workspace.id
        await in_db(member_role_set, actor=studio.ana.actor, workspace=place, user=studio.ben.id, role=None)
        assert (await inspector.renews(given["refresh_token"])).json()["error"] == "invalid_grant"

    @pytest.mark.parametrize("which", ["access_token", "refresh_token"])
    async def test_a_program_gives_its_tokens_back(self, inspector: Program, given: dict[str, Any], which: str) -> None:
        told = {"token": given[which], "client_id": inspector.client_id}
        assert (await inspector.http.post("/oauth/revoke", data=told)).status_code == 200
        assert "gave this token back" in await _refusal(given["access_token"], audience=RESOURCE)
        assert (await inspector.renews(given["refresh_token"])).status_code == 400

    async def test_nobody_gives_back_what_is_anothers(self, inspector: Program, given: dict[str, Any]) -> None:
        await inspector.registers()
        told = {"token": given["access_token"], "client_id": inspector.client_id}
        assert (await inspector.http.post("/oauth/revoke", data=told)).status_code == 200
        assert await _refusal(given["access_token"], audience=RESOURCE) == ""


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks very often is answered."""
    for name in ("ASKING", "REGISTERING"):
        monkeypatch.setattr(asgi, name, asgi.Policy("tests", 10_000))


WILD = st.dictionaries(
    st.sampled_from(
        ["client_id", "redirect_uri", "state", "code_challenge", "grant_type", "code", "token", "resource"]
    ),
    st.text(max_size=30),
)


FORM = {"Content-Type": "application/x-www-form-urlencoded"}
MULTIPART = {"Content-Type": "multipart/form-data; boundary=x"}
MALFORMED = b'--x\r\nContent-Disposition: form-data; name="client_id"\r\n'


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(form=WILD, body=st.binary(max_size=60))
async def test_nothing_that_is_sent_fails_inside(
    inspector: Program, unhurried: None, form: dict[str, str], body: bytes
) -> None:
    own = {"client_id": inspector.client_id, "grant_type": "authorization_code", "code_verifier": "x" * 43}
    for answer in (
        await inspector.http.get("/oauth/authorize", params=form),
        await inspector.asks(**form),
        await inspector.http.post("/oauth/token", data={**own, **form}),
        await inspector.http.post("/oauth/revoke", data={**own, **form}),
        await inspector.http.post("/oauth/token", content=body),
        await inspector.http.post("/oauth/register", content=body),
        *[await inspector.http.post("/oauth/token", content=body, headers=MULTIPART) for body in (body, MALFORMED)],
        await inspector.http.post("/oauth/revoke", content=body, headers={"Content-Type": "multipart/form-data"}),
        await inspector.http.post("/oauth/authorize", content=b"a=1&" * 1_001, headers=FORM),
        await inspector.http.post("/oauth/token", content=b"a=1&" * 1_001, headers=FORM),
    ):
        assert answer.status_code < 500, answer.text
        assert "server_error" not in answer.headers.get("Location", "")


async def test_the_whole_application_mounts_it() -> None:
    way = httpx.ASGITransport(app=application)
    async with httpx.AsyncClient(transport=way, base_url=ORIGIN) as http:
        for path in ("oauth-protected-resource/mcp", "oauth-authorization-server/oauth"):
            assert (await http.get(f"/.well-known/{path}")).status_code == 200
        assert (await http.get("/oauth/authorize")).status_code == 400


async def _refusal(secret: str, *, audience: str = "") -> str:
    """Return why a token is not good; empty where it is."""
    try:
        await in_db(bearer, secret, audience=audience)
    except BadToken as bad:
        return bad.because
    return ""


def _author(message: str) -> Any:
    from collab.models.threads import Message

    return Message.objects.get(pk=message).author


def _plain(answer: Any) -> Any:
    """Return an answer of the application as the pages' tests read theirs."""

    class Plain(dict[str, str]):
        status_code = answer.status_code
        content = answer.content

    return Plain(answer.headers.items() | {("Location", answer.headers.get("location", ""))})
