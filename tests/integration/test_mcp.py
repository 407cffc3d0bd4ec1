"""``/mcp``: who gets in, what tools and resources there are, and that each acts as whom its token stands for
(DESIGN 5 and 11; FAILURES L)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.server.session import ServerSession

from agents.clients import tokens
from agents.clients.mcp import asgi, server, sessions, watching
from agents.clients.rest.quotas import Policy
from agents.clients.services import client_disable, token_revoke, token_rotate
from agents.models.clients import AccessToken
from collab.asgi import application
from collab.db import in_db
from collab.models.threads import Message
from collab.services.documents import document_create, document_save
from collab.services.workspaces import member_role_set, workspace_create
from permissions.actors import Client, System
from permissions.errors import NotFound
from permissions.services import account_deactivate
from tests.support.cast import Someone, Studio
from tests.support.clients import Connected, connected, reissued
from tests.support.mcp import Speaker, answer_in, speaking

pytestmark = pytest.mark.django_db(transaction=True)

MISSING = ("not_found", NotFound().because)


@pytest.fixture
async def desk_of_ana(studio: Studio) -> Connected:
    return await in_db(connected, studio, studio.ana)


@pytest.fixture
async def speaker(desk_of_ana: Connected) -> AsyncIterator[Speaker]:
    """Desk, which acts for Ana."""
    async with speaking(desk_of_ana.secret) as opened:
        yield opened


class TestGettingIn:
    async def test_without_a_token_one_is_told_where_to_get_one(self, speaker: Speaker) -> None:
        answer = await speaker.with_token(None).ask("tools/list")
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == (
            'Bearer resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource/mcp"'
        )

    @pytest.mark.parametrize("end", ["revoked", "disabled", "switched off", "expired", "mistyped"])
    async def test_a_token_that_does_not_stand_is_refused_at_once(
        self, speaker: Speaker, desk_of_ana: Connected, studio: Studio, clock: Any, end: str
    ) -> None:
        assert (await speaker.ask("tools/list")).status_code == 200
        ana, token = studio.ana.actor, desk_of_ana.token.pk
        match end:
            case "revoked":
                await in_db(token_revoke, actor=ana, token=token)
            case "disabled":
                await in_db(client_disable, actor=ana, client=desk_of_ana.row.pk)
            case "switched off":
                other = await in_db(connected, studio, studio.vera)
                speaker = speaker.with_token(other.secret)
                await in_db(account_deactivate, by=System(), account=studio.vera.user)
            case "expired":
                clock(100 * 86_400)
            case "mistyped":
                speaker = speaker.with_token(desk_of_ana.secret[:-1])
        answer = await speaker.ask("tools/list")
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
        assert answer.json()["because"]

    async def test_a_token_for_another_address_is_refused(self, speaker: Speaker, studio: Studio) -> None:
        there = await in_db(connected, studio, studio.ana, audience="https://elsewhere.example/mcp")
        answer = await speaker.with_token(there.secret).ask("tools/list")
        assert (answer.status_code, answer.json()["because"]) == (401, "This token is for another address.")

    @pytest.mark.parametrize(
        ("header", "status"),
        [({"Host": "evil.example"}, 421), ({"Origin": "https://evil.example"}, 403), ({"Origin": "null"}, 403)],
        ids=range(3),
    )
    async def test_a_page_of_another_origin_or_name_is_not_answered(
        self, speaker: Speaker, header: dict[str, str], status: int
    ) -> None:
        answer = await speaker.post({}, headers=header)
        assert (answer.status_code, answer.json()["code"]) == (status, "not_served")

    async def test_what_lies_below_it_is_nothing(self, speaker: Speaker) -> None:
        assert (await speaker.post({}, path="/mcp/other")).status_code == 404

    async def test_the_whole_application_mounts_it(self, desk_of_ana: Connected) -> None:
        async with speaking(desk_of_ana.secret, application) as mounted:
            assert await mounted.call("workspace_list")

    async def test_a_client_that_asks_too_much_is_told_when_to_ask_again_whichever_token_it_comes_with(
        self, speaker: Speaker, desk_of_ana: Connected, studio: Studio, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(asgi, "REQUESTS", asgi.Policy("requests", 2))
        other = speaker.with_token((await in_db(reissued, desk_of_ana, studio, studio.ana)).secret)
        for one in (speaker, other):
            assert (await one.ask("tools/list")).status_code == 200
        answer = await other.ask("tools/list")
        assert answer.status_code == 429
        assert int(answer.headers["Retry-After"]) > 0


class TestSessions:
    async def test_a_session_with_anothers_token_is_as_one_that_is_not_there(
        self, speaker: Speaker, studio: Studio
    ) -> None:
        session = await speaker.begin()
        assert answer_in((await speaker.in_session(session, "tools/list")).text)["result"]["tools"]
        others = [await in_db(connected, studio, person, name="Other") for person in (studio.ben, studio.ana)]
        for other in others:
            stranger = speaker.with_token(other.secret)
            theirs = await stranger.in_session(session, "tools/list")
            nowhere = await stranger.in_session("0" * 32, "tools/list")
            assert (
                (theirs.status_code, theirs.content) == (nowhere.status_code, nowhere.content) == (404, theirs.content)
            )

    async def test_it_goes_on_with_what_its_token_was_rotated_to(
        self, speaker: Speaker, desk_of_ana: Connected, studio: Studio
    ) -> None:
        session = await speaker.begin()
        _, secret = await in_db(token_rotate, actor=studio.ana.actor, token=desk_of_ana.token.pk)
        answer = await speaker.with_token(secret).in_session(session, "tools/list")
        assert answer.status_code == 200

    async def test_it_acts_as_whom_each_request_stands_for_and_ends_with_the_token(
        self, speaker: Speaker, desk_of_ana: Connected, studio: Studio
    ) -> None:
        session = await speaker.begin()
        await in_db(token_revoke, actor=studio.ana.actor, token=desk_of_ana.token.pk)
        assert (await speaker.in_session(session, "tools/list")).status_code == 401

    async def test_one_more_than_a_token_may_have_ends_the_one_used_longest_ago(
        self, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sessions, "MOST_OF_A_TOKEN", 2)
        first, second = [await speaker.begin() for _ in range(2)]
        await speaker.in_session(first, "ping")
        await speaker.begin()
        assert (await speaker.in_session(first, "ping")).status_code == 200
        assert (await speaker.in_session(second, "ping")).status_code == 404


class TestTools:
    async def test_what_a_client_posts_is_by_it_for_its_person(
        self, speaker: Speaker, desk_of_ana: Connected, studio: Studio
    ) -> None:
        posted = await speaker.call("message_post", thread=studio.thread.id, text="Hello.", command_id="mine")
        message = await in_db(Message.objects.get, pk=posted["message"])
        assert message.author == Client(desk_of_ana.row.pk, studio.ana.id)
        assert message.client_id == "mine"

    async def test_a_command_sent_again_with_its_id_is_carried_out_once(self, speaker: Speaker, studio: Studio) -> None:
        sent = {"thread": studio.thread.id, "text": "Hello.", "command_id": "c1"}
        assert await speaker.call("message_post", **sent) == await speaker.call("message_post", **sent)
        assert await speaker.refused("message_post", **{**sent, "text": "Other."}) == (
            "command_id_reused", "This command id was used for something else.",
        )  # fmt: skip

    async def test_its_commands_are_counted_as_those_it_sends_over_rest(
        self, speaker: Speaker, studio: Studio, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server, "COMMANDS", Policy("commands", 1))
        said = {"thread": studio.thread.id, "text": "Hello.", "kind": "comment"}
        await speaker.call("message_post", **said)
        code, because = await speaker.refused("message_post", **said)
        assert (code, "1 commands a minute" in because) == ("busy", True)
        assert await speaker.call("workspace_list")

    async def test_a_thread_is_read_with_what_one_may_do_there_and_nothing_rendered(
        self, speaker: Speaker, studio: Studio
    ) -> None:
        await speaker.call("message_post", thread=studio.thread.id, text="**Hello.**")
        found = await speaker.call("thread_read", thread=studio.thread.id)
        assert found["thread"]["title"] == "Launch dinner"
        assert found["may"]["start_turn"]["ok"]
        assert not found["may"]["manage"]["ok"]
        said = [item for item in found["items"] if item["item"] == "message"]
        assert said[0]["text"] == "**Hello.**"
        assert said[0]["author"]["kind"] == "client"
        assert "html" not in said[0]

    async def test_documents_are_listed_read_changed_and_read_as_they_were(
        self, speaker: Speaker, studio: Studio
    ) -> None:
        (line,) = (await speaker.call("document_list", workspace=studio.workspace.id))["documents"]
        before = await speaker.call("document_read", document=line["id"])
        saved = await speaker.call("document_save", document=line["id"], text="New.\n", base_version=before["version"])
        assert saved["version"] == 2
        assert (await speaker.call("document_read", document=line["id"]))["text"] == "New.\n"
        assert (await speaker.call("document_read", document=line["id"], version=1))["text"] == before["text"]
        versions = (await speaker.call("document_versions", document=line["id"]))["versions"]
        assert [(one["version"], one["by"]["kind"]) for one in versions] == [(2, "client"), (1, "person")]

    async def test_a_client_does_not_accept_what_its_person_proposed_and_is_told_why(
        self, speaker: Speaker, studio: Studio
    ) -> None:
        proposed = await in_db(
            document_save, actor=studio.ana.actor, document=studio.document.id, text="Hers.", base_version=1,
            thread=studio.thread.id, propose=True,
        )  # fmt: skip
        (shown,) = (await speaker.call("proposal_list", thread=studio.thread.id))["proposals"]
        assert shown["id"] == str(proposed.proposal.pk)
        assert not shown["may"]["accept"]["ok"]
        code, because = await speaker.refused("proposal_accept", proposal=proposed.proposal.pk)
        assert code == "own_proposal"
        assert because

    async def test_what_is_refused_names_who_lacked_what(self, speaker: Speaker, studio: Studio) -> None:
        desk = await in_db(connected, studio, studio.vera, name="Desk of Vera")
        code, because = await speaker.with_token(desk.secret).refused(
            "message_post", thread=studio.thread.id, text="Hello."
        )
        assert code == "forbidden"
        assert "Vera" in because

    async def test_what_its_person_may_not_see_is_not_found_as_what_is_not_there(
        self, speaker: Speaker, studio: Studio, zoe: Someone
    ) -> None:
        own = await in_db(workspace_create, actor=zoe.actor, name="Garden")
        desk = await in_db(connected, studio, zoe, role=None, within=[own])
        stranger = speaker.with_token(desk.secret)
        for tool, name, id in (
            ("thread_read", "thread", studio.thread.id),
            ("thread_list", "workspace", studio.workspace.id),
            ("document_read", "document", studio.document.id),
            ("document_list", "workspace", studio.workspace.id),
            ("document_versions", "document", studio.document.id),
            ("action_list", "thread", studio.thread.id),
        ):
            assert await stranger.refused(tool, **{name: id}) == await stranger.refused(tool, **{name: uuid4()})
            assert await stranger.refused(tool, **{name: id}) == MISSING

    async def test_a_token_reaches_no_workspace_that_it_is_not_for(self, speaker: Speaker, studio: Studio) -> None:
        garden = await in_db(workspace_create, actor=studio.ana.actor, name="Garden")
        narrow = await in_db(connected, studio, studio.ana, within=[garden])
        elsewhere = speaker.with_token(narrow.secret)
        assert (await elsewhere.call("workspace_list"))["workspaces"] == []
        assert await elsewhere.refused("thread_read", thread=studio.thread.id) == MISSING
        assert (await elsewhere.result("resources/list"))["resources"] == []

    @pytest.mark.parametrize(
        ("tool", "args"),
        [
            ("thread_read", {"thread": "T1"}),
            ("thread_read", {"thread": str(UUID(int=1)), "limit": 10**9}),
            ("thread_read", {"thread": str(UUID(int=1)), "author": "ana"}),
            ("message_post", {"thread": str(UUID(int=1)), "text": "Hello.", "author": "ana"}),
            ("message_post", {"thread": str(UUID(int=1)), "text": "Hello.", "command_id": 7}),
            ("message_post", {"thread": str(UUID(int=1)), "text": "Hello.", "command_id": "no spaces"}),
            ("message_post", {"thread": str(UUID(int=1)), "text": "Hello.", "command_id": ""}),
            ("message_post", {"thread": str(UUID(int=1)), "text": "Hello.", "command_id": None}),
            ("search", {"words": ""}),
            ("search", {"words": "dinner", "kind": "secrets"}),
        ],
        ids=range(10),
    )
    async def test_arguments_that_cannot_be_are_refused_in_a_sentence(
        self, speaker: Speaker, tool: str, args: dict[str, Any]
    ) -> None:
        code, because = await speaker.refused(tool, **args)
        assert code == "invalid"
        assert 0 < len(because) < 300

    @pytest.mark.parametrize("tool", ["action_approve", "action_decline", "thread_archive", "nothing"])
    async def test_what_is_no_tool_cannot_be_called(self, speaker: Speaker, tool: str) -> None:
        answer = await speaker.ask("tools/call", {"name": tool, "arguments": {"action": str(uuid4())}})
        assert answer.json()["error"]["message"] == "There is no such tool."


class TestResources:
    async def test_documents_are_listed_in_pages_and_read_by_their_address(
        self, speaker: Speaker, studio: Studio, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("agents.clients.mcp.documents.PAGE", 1)
        ana, place = studio.ana.actor, studio.workspace.id
        await in_db(document_create, actor=ana, workspace=place, title="Menu", kind="markdown", text="Soup.")
        first = await speaker.result("resources/list")
        second = await speaker.result("resources/list", {"cursor": first["nextCursor"]})
        assert [page["resources"][0]["title"] for page in (first, second)] == ["Menu", "Launch plan"]
        assert "nextCursor" not in second
        (text,) = (await speaker.result("resources/read", {"uri": first["resources"][0]["uri"]}))["contents"]
        assert (text["mimeType"], text["text"]) == ("text/markdown", "Soup.")

    async def test_a_version_has_an_address_of_its_own(self, speaker: Speaker, studio: Studio) -> None:
        (template,) = (await speaker.result("resources/templates/list"))["resourceTemplates"]
        assert template["uriTemplate"] == "accord://documents/{document}/versions/{version}"
        await in_db(document_save, actor=studio.ana.actor, document=studio.document.id, text="New.", base_version=1)
        (text,) = (await speaker.result("resources/read", {"uri": f"{_uri(studio)}/versions/1"}))["contents"]
        assert text["text"].startswith("# Launch plan")

    async def test_what_one_may_not_see_or_is_not_there_or_is_no_address_is_not_found(
        self, speaker: Speaker, studio: Studio, zoe: Someone
    ) -> None:
        hidden = await in_db(workspace_create, actor=zoe.actor, name="Garden")
        theirs = await in_db(
            document_create, actor=zoe.actor, workspace=hidden.id, title="Roses", kind="markdown", text="Red."
        )
        unseen = f"accord://documents/{theirs.document.pk}"
        for uri in (unseen, f"accord://documents/{uuid4()}", f"{_uri(studio)}/versions/9", "file:///etc/passwd", "x"):
            code, _ = await speaker.fault("resources/read", {"uri": uri})
            assert code == "not_found", uri
        assert await speaker.fault("resources/read", {"uri": unseen}) == MISSING
        assert (
            await speaker.fault("subscriptions/listen", {"notifications": {"resourceSubscriptions": [unseen]}})
            == MISSING
        )
        for cursor in (str(theirs.document.pk), "nonsense", str(uuid4())):
            assert await speaker.fault("resources/list", {"cursor": cursor}) == (
                "invalid", "This cursor is of no list of yours.",
            )  # fmt: skip


class TestWatching:
    async def test_of_a_change_those_are_told_who_see_it_then_with_a_token_that_stands_then(
        self, speaker: Speaker, desk_of_ana: Connected, studio: Studio, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(watching, "LOOKS_SECONDS", 0.05)
        ana, document = studio.ana.actor, studio.document.id
        of_vera = await in_db(connected, studio, studio.vera, name="Desk of Vera")
        revoked = await in_db(connected, studio, studio.ana, name="Old desk")
        watcher, told = watching.Watcher(), asyncio.Queue[str]()
        for desk in (of_vera, revoked, desk_of_ana):

            async def tell(uri: str, name: str = desk.row.account.name) -> None:
                told.put_nowait(f"{name}: {uri}")

            bearer = await in_db(tokens.bearer, desk.secret)
            watcher.subscribe(watching.Subscription(bearer, document, 1, tell))
        await in_db(member_role_set, actor=ana, workspace=studio.workspace.id, user=studio.vera.id, role=None)
        await in_db(token_revoke, actor=ana, token=revoked.token.pk)
        await in_db(document_save, actor=ana, document=document, text="New.", base_version=1)
        running = asyncio.ensure_future(watcher.run())
        assert await asyncio.wait_for(told.get(), 10) == f"Desk: {_uri(studio)}"
        await asyncio.sleep(0.3)
        running.cancel()
        assert told.empty()

    async def test_who_came_while_it_looked_goes_on_being_told(
        self, speaker: Speaker, desk_of_ana: Connected, studio: Studio, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        watcher, told = watching.Watcher(), asyncio.Queue[str]()
        other = await in_db(connected, studio, studio.ben, name="Other")
        first, second = [await in_db(tokens.bearer, one.secret) for one in (other, desk_of_ana)]

        async def tell(uri: str) -> None:
            told.put_nowait(uri)

        def look(asked: Any) -> set[UUID]:
            watcher.subscribe(watching.Subscription(second, studio.document.id, 1, tell))
            return tokens.standing(asked)

        monkeypatch.setattr(watching, "standing", look)
        with watcher.held(first.token_id):
            await watcher._look()
        await in_db(document_save, actor=studio.ana.actor, document=studio.document.id, text="New.", base_version=1)
        await watcher._look()
        assert told.get_nowait() == _uri(studio)

    async def test_a_session_is_told_on_with_what_its_token_was_rotated_to(
        self, speaker: Speaker, desk_of_ana: Connected, studio: Studio, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(watching, "LOOKS_SECONDS", 0.05)
        told, ana, document = asyncio.Queue[str](), studio.ana.actor, studio.document.id

        async def tell(_: Any, uri: str) -> None:
            told.put_nowait(uri)

        monkeypatch.setattr(ServerSession, "send_resource_updated", tell)
        session = await speaker.begin()
        await speaker.in_session(session, "resources/subscribe", {"uri": _uri(studio)})
        _, secret = await in_db(token_rotate, actor=ana, token=desk_of_ana.token.pk)
        await in_db(token_revoke, actor=ana, token=desk_of_ana.token.pk)
        await asyncio.sleep(0.3)
        await in_db(document_save, actor=ana, document=document, text="New.", base_version=1)
        await asyncio.sleep(0.3)
        assert told.empty()
        renewed = speaker.with_token(secret)
        assert (await renewed.in_session(session, "ping")).status_code == 200
        assert await asyncio.wait_for(told.get(), 10) == _uri(studio)
        await renewed.in_session(session, "resources/subscribe", {"uri": _uri(studio)})
        await in_db(document_save, actor=ana, document=document, text="Newer.", base_version=2)
        assert await asyncio.wait_for(told.get(), 10) == _uri(studio)
        await asyncio.sleep(0.3)
        assert told.empty(), "subscribed twice, it is told once"

    async def test_a_token_watches_so_many_and_is_told_when_it_is_too_many(
        self, speaker: Speaker, studio: Studio, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(watching, "MOST_OF_A_TOKEN", 1)
        menu = await in_db(
            document_create, actor=studio.ana.actor, workspace=studio.workspace.id, title="Menu", kind="markdown"
        )
        session = await speaker.begin()
        first = {"uri": _uri(studio)}
        other = {"uri": f"accord://documents/{menu.document.pk}"}
        assert "result" in answer_in((await speaker.in_session(session, "resources/subscribe", first)).text)
        refused = answer_in((await speaker.in_session(session, "resources/subscribe", other)).text)["error"]
        assert refused["data"]["code"] == "busy"
        await speaker.in_session(session, "resources/unsubscribe", first)
        assert "result" in answer_in((await speaker.in_session(session, "resources/subscribe", other)).text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
METHODS = ("initialize", "tools/call", "resources/read", "resources/list", "subscriptions/listen", "ping", "nothing")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(method=st.sampled_from(METHODS), params=JSON, tool=st.sampled_from(["thread_read", "document_save", "search"]))
async def test_nothing_that_is_sent_fails_inside(speaker: Speaker, method: str, params: Any, tool: str) -> None:
    wild = params if isinstance(params, dict) else {"value": params}
    asked = {"name": tool, "arguments": wild} if method == "tools/call" else wild
    if method == "subscriptions/listen":
        asked = {**wild, "notifications": {"resourceSubscriptions": [str(params)]}}
    for answer in (
        await speaker.ask(method, asked),
        await speaker.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
        await speaker.post(repr(params).encode(), headers={"MCP-Protocol-Version": "2026-07-28"}),
    ):
        assert answer.status_code < 500, answer.text
        if answer.headers.get("Content-Type") == "application/json" and answer.content:
            assert answer.json().get("error", {}).get("code") != -32603, answer.text


async def test_a_token_is_noted_as_used(speaker: Speaker, desk_of_ana: Connected) -> None:
    await speaker.call("workspace_list")
    assert (await in_db(AccessToken.objects.get, pk=desk_of_ana.token.pk)).last_used_at is not None


def _uri(studio: Studio) -> str:
    return f"accord://documents/{studio.document.id}"
