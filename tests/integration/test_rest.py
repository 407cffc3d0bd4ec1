"""The REST API: what a client reads and does with its token, and how it is refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError
from django.test import Client

from agents.clients.rest import asking, phrasings
from agents.clients.rest.api import LARGEST, api
from agents.clients.rest.cursors import cursor
from agents.clients.rest.quotas import Policy
from agents.clients.services import token_revoke
from agents.models.replies import Phrasing
from agents.phrasing import phrasing_set
from collab import commands, selectors
from collab.models.threads import Event, Message
from collab.services.documents import document_create, document_edit
from collab.services.messages import message_post
from collab.services.threads import thread_create, thread_mode_set
from collab.services.workspaces import workspace_create
from permissions.actors import System
from permissions.models import User
from permissions.roles import Role
from tests.support import cast
from tests.support.queries import Queries
from tests.support.rest import BASE, Caller, caller, refusal
from tests.support.scene import scene
from tests.support.tools import book_boat, registered, reserve_table
from tests.support.turns import posts as posts_message
from tests.support.worked import Worker

pytestmark = pytest.mark.django_db

Counting = Callable[[], AbstractContextManager[Queries]]


@pytest.fixture
def desk_of_ana(studio: cast.Studio) -> Caller:
    return caller(studio, studio.ana)


OF_MESSAGES = 6
"""Queries of a page of messages: who asks, what they may, which messages, and what these say."""


def _opens(studio: cast.Studio, title: str) -> None:
    thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title=title)


def _writes(studio: cast.Studio, title: str) -> None:
    document_create(actor=studio.ana.actor, workspace=studio.workspace.id, title=title, kind="markdown", text="Soup.")


def posts(studio: cast.Studio, number: int) -> None:
    for one in range(number):
        message_post(
            actor=studio.ana.actor, thread=studio.thread.id, content=f"message {one}", client_id=str(uuid4()),
            kind="comment",
        )  # fmt: skip


class TestWhoAsks:
    def test_a_client_is_told_who_it_is_and_what_its_token_is_for(self, studio, desk_of_ana):
        me = desk_of_ana.read("/me")
        assert (me["client"]["name"], me["person"]["name"]) == ("Desk", "Ana")
        assert me["workspaces"] == [str(studio.workspace.id)]

    def test_a_client_that_acts_for_no_one_is_told_so(self, studio):
        assert caller(studio, None).read("/me")["person"] is None

    def test_without_a_token_it_is_told_how_to_send_one(self, studio):
        answer = Caller().get("/me")
        assert refusal(answer) == (401, "unauthenticated")
        assert answer["WWW-Authenticate"] == "Bearer"

    def test_a_token_that_was_revoked_or_expired_is_refused_with_the_reason(self, studio, clock):
        ended, late = caller(studio, studio.ana), caller(studio, studio.ana, name="Late", lasts=timedelta(minutes=5))
        assert ended.client
        token_revoke(actor=studio.ana.actor, token=ended.client.token.pk)
        clock(600)
        for one, said in ((ended, "revoked"), (late, "expired")):
            answer = one.get("/me")
            assert refusal(answer) == (401, "unauthenticated")
            assert 'error="invalid_token"' in answer["WWW-Authenticate"]
            assert said in answer.json()["detail"]

    def test_a_signed_in_person_is_no_client(self, studio):
        browser = Client()
        browser.force_login(studio.ana.user)
        assert refusal(browser.get(f"{BASE}/workspaces")) == (401, "unauthenticated")


class TestWhatItSees:
    def test_a_token_shows_nothing_outside_its_workspaces(self, studio, desk_of_ana):
        garden = workspace_create(actor=studio.ana.actor, name="Garden")
        roses = thread_create(actor=studio.ana.actor, workspace=garden.id, title="Roses")
        assert [one["name"] for one in desk_of_ana.read("/workspaces")["workspaces"]] == ["Studio launch"]
        for path in (f"/threads/{roses.id}", f"/workspaces/{garden.id}", f"/workspaces/{garden.id}/threads"):
            assert refusal(desk_of_ana.get(path)) == (404, "not_found")

    def test_a_client_sees_no_more_than_its_person(self, studio, zoe):
        theirs = caller(studio, zoe, within=[workspace_create(actor=zoe.actor, name="Hers")])
        assert refusal(theirs.get(f"/threads/{studio.thread.id}")) == (404, "not_found")

    def test_a_client_sees_no_more_than_it_was_granted(self, studio):
        assert refusal(caller(studio, studio.ana, role=None).get(f"/threads/{studio.thread.id}")) == (404, "not_found")

    def test_what_it_may_not_see_is_answered_as_what_is_not_there(self, studio):
        blind = caller(studio, studio.ana, role=None)
        here, nowhere = blind.get(f"/threads/{studio.thread.id}"), blind.get(f"/threads/{uuid4()}")
        assert here.content == nowhere.content
        assert {*here.headers} == {*nowhere.headers}

    def test_its_persons_calls_are_not_its_own(self, studio):
        with registered(reserve_table, book_boat):
            call = scene(studio).ids["call"]
        assert caller(studio, studio.ana).read(f"/calls/{call}")["args"] is None

    def test_it_sees_what_waits_for_its_person_where_it_sees_the_thread(self, studio):
        with registered(reserve_table, book_boat):
            scene(studio)
        kinds = {one["kind"] for one in caller(studio, studio.ana).read("/inbox")["waiting"]}
        assert "action" in kinds
        assert caller(studio, studio.ana, name="Blind", role=None).read("/inbox") == {"waiting": [], "next": None}
        assert caller(studio, None, name="Nobody's").read("/inbox") == {"waiting": [], "next": None}


class TestReading:
    def test_the_log_is_read_in_pages_and_nothing_is_missed_or_told_twice(self, studio, desk_of_ana):
        posts(studio, 7)
        seqs, after = [], {}
        while page := desk_of_ana.read(f"/threads/{studio.thread.id}/events", limit=3, **after):
            if not page["events"]:
                break
            seqs += [event["seq"] for event in page["events"]]
            after = {"after": page["next"]}
        assert seqs == list(range(1, Event.objects.filter(thread=studio.thread).count() + 1))

    def test_messages_are_read_from_the_newest_back(self, studio, desk_of_ana):
        posts(studio, 5)
        newest = desk_of_ana.read(f"/threads/{studio.thread.id}/messages", limit=2)
        older = desk_of_ana.read(f"/threads/{studio.thread.id}/messages", limit=4, before=newest["next"])
        texts = [item["text"] for item in [*older["items"], *newest["items"]]]
        assert texts == [f"message {one}" for one in range(5)]
        assert older["next"] is None

    def test_the_last_fifty_messages_cost_as_many_queries_however_many_there_are(
        self, studio, desk_of_ana, django_assert_num_queries
    ):
        path = f"/threads/{studio.thread.id}/messages"
        posts(studio, 5)
        desk_of_ana.read("/me")
        with django_assert_num_queries(OF_MESSAGES):
            assert len(desk_of_ana.read(path)["items"]) == 5
        posts(studio, 60)
        with django_assert_num_queries(OF_MESSAGES):
            newest = desk_of_ana.read(path)
        assert len(newest["items"]) == 50
        with django_assert_num_queries(OF_MESSAGES):
            assert len(desk_of_ana.read(path, before=newest["next"])["items"]) == 15

    @pytest.mark.parametrize("kind", ["threads", "documents"])
    def test_what_a_workspace_holds_is_read_in_pages_from_the_newest_back(self, studio, desk_of_ana, kind: str):
        make = {"threads": _opens, "documents": _writes}[kind]
        for number in range(5):
            make(studio, f"Number {number}")
        path, titles, before = f"/workspaces/{studio.workspace.id}/{kind}", [], {}
        while page := desk_of_ana.read(path, limit=2, **before):
            titles += [line["title"] for line in page[kind]]
            make(studio, f"Since page {len(titles)}")
            if page["next"] is None:
                break
            before = {"before": page["next"]}
        assert titles[:-1] == [f"Number {number}" for number in (4, 3, 2, 1, 0)]
        assert titles[-1] in {"Launch dinner", "Launch plan"}

    def test_a_workspaces_pages_cost_as_many_queries_however_many_threads_there_are(
        self, studio, desk_of_ana, queries: Counting
    ):
        counts = []
        desk_of_ana.read("/me")
        for _ in range(2):
            for number in range(3):
                _opens(studio, f"Number {number}")
            with queries() as sent:
                desk_of_ana.read(f"/workspaces/{studio.workspace.id}/threads")
            counts.append(len(sent))
        assert counts[0] == counts[1]

    def test_what_is_proposed_for_a_document_is_read_in_pages_from_the_newest_back(self, studio, desk_of_ana):
        made = []
        for number in range(3):
            robin = studio.robin.acting_for(studio.ana, studio.thread)
            edits = [{"find": "900", "replace": f"95{number}"}]
            suggested = document_edit(
                actor=robin, document=studio.document.id, thread=studio.thread.id, propose=True, edits=edits
            )
            made.append(str(suggested.proposal.id))
        path = f"/documents/{studio.document.id}/proposals"
        newest = desk_of_ana.read(path, limit=2)
        older = desk_of_ana.read(path, limit=2, before=newest["next"])
        assert [item["id"] for item in [*older["items"], *newest["items"]]] == made
        assert older["next"] is None

    @pytest.mark.parametrize("limit", [0, 201])
    def test_a_page_holds_at_least_one_and_at_most_two_hundred(self, studio, desk_of_ana, limit: int):
        for path in (f"/threads/{studio.thread.id}/messages", f"/workspaces/{studio.workspace.id}/threads"):
            assert refusal(desk_of_ana.get(path, limit=limit)) == (422, "invalid")

    def test_a_cursor_of_another_thread_is_refused_without_a_byte_of_either(self, studio, desk_of_ana):
        other = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Other")
        foreign = desk_of_ana.read(f"/threads/{other.id}")["cursor"]
        for path in ("events?after", "messages?before", "items?before", "timeline?before", "proposals?before"):
            answer = desk_of_ana.get(f"/threads/{studio.thread.id}/{path}={foreign}")
            assert refusal(answer) == (422, "bad_cursor")
            assert str(other.id) not in answer.content.decode()

    def test_a_cursor_of_another_workspace_or_document_is_refused(self, studio, desk_of_ana):
        last = studio.thread.id.int
        of_another = [cursor(uuid4(), last), cursor(studio.thread.id, last), cursor(studio.workspace.id, 1)]
        for path in ("threads", "documents"):
            for text in of_another:
                answer = desk_of_ana.get(f"/workspaces/{studio.workspace.id}/{path}", before=text)
                assert refusal(answer) == (422, "bad_cursor")
        answer = desk_of_ana.get(f"/documents/{studio.document.id}/proposals", before=of_another[0])
        assert refusal(answer) == (422, "bad_cursor")

    def test_the_end_of_a_log_is_no_place_in_a_list_of_ids(self, studio, desk_of_ana):
        end = desk_of_ana.read(f"/threads/{studio.thread.id}")["cursor"]
        assert refusal(desk_of_ana.get(f"/threads/{studio.thread.id}/calls", before=end)) == (422, "bad_cursor")

    @pytest.mark.parametrize("kind", ["turns", "calls", "proposals"])
    def test_what_happens_in_a_thread_is_read_in_pages_from_the_newest_back(self, studio, desk_of_ana, kind: str):
        thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
        for number in range(3):
            posts_message(studio.ana, studio.thread, f"Suggest {number}.")
            worker = Worker.begins(studio)
            edits = [{"find": "900", "replace": f"95{number}"}]
            worker.calls("edit_document", document=str(studio.document.id), edits=edits)
            worker.ends()
        path = f"/threads/{studio.thread.id}/{kind}"
        whole = [item["id"] for item in desk_of_ana.read(path)["items"]]
        newest = desk_of_ana.read(path, limit=2)
        older = desk_of_ana.read(path, limit=2, before=newest["next"])
        assert len(whole) == 3
        assert [item["id"] for item in [*older["items"], *newest["items"]]] == whole
        assert older["next"] is None

    def test_a_cursor_beyond_the_log_is_refused(self, studio, desk_of_ana):
        answer = desk_of_ana.get(f"/threads/{studio.thread.id}/events", after=cursor(studio.thread.id, 10_000))
        assert refusal(answer) == (422, "bad_cursor")

    def test_what_did_not_change_is_not_sent_again(self, studio, desk_of_ana):
        path = f"/threads/{studio.thread.id}"
        tag = desk_of_ana.get(path)["ETag"]
        same = desk_of_ana.get(path, headers={"If-None-Match": tag})
        assert (same.status_code, same.content, same["ETag"]) == (304, b"", tag)
        assert same["RateLimit"].startswith('"reads"')
        posts(studio, 1)
        assert desk_of_ana.get(path, headers={"If-None-Match": tag}).status_code == 200

    def test_a_document_is_read_as_it_is_and_as_it_was(self, studio, desk_of_ana):
        document_edit(actor=studio.ana.actor, document=studio.document.id, edits=[{"find": "900", "replace": "950"}])
        path = f"/documents/{studio.document.id}"
        assert "950" in desk_of_ana.read(path)["text"]
        assert desk_of_ana.read(path, version=1)["text"] == cast.PLAN
        assert desk_of_ana.get(f"{path}/markdown", version=1).content.decode() == cast.PLAN
        assert [one["version"] for one in desk_of_ana.read(f"{path}/versions")["versions"]] == [2, 1]
        compared = desk_of_ana.read(f"{path}/compare", **{"from": 1, "to": 2})
        assert {line["op"] for line in compared["lines"]} >= {"change"}
        assert refusal(desk_of_ana.get(path, version=7)) == (404, "not_found")

    def test_why_names_everyone_a_decision_depends_on(self, studio, desk_of_ana):
        told = desk_of_ana.read(f"/why/document/{studio.document.id}", action="change_document")
        assert told["level"] == "allow"
        assert [party["name"] for party in told["parties"]] == ["Desk", "Ana"]
        assert refusal(desk_of_ana.get(f"/why/document/{studio.document.id}", action="fly"))[0] == 422


class TestCommands:
    def test_every_command_there_is_has_an_address(self):
        paths = api.get_openapi_schema()["paths"]
        assert {path.rsplit("/", 1)[-1] for path in paths if "/commands/" in path} == set(commands.HANDLERS)

    def test_what_a_client_posts_is_by_the_client_for_its_person(self, studio, desk_of_ana):
        assert desk_of_ana.client
        posted = desk_of_ana.command("message_post", thread=studio.thread.id, text="Hello.").json()
        assert Message.objects.get(pk=posted["message"]).author == desk_of_ana.client.actor

    def test_a_command_sent_again_with_its_key_is_carried_out_once(self, studio, desk_of_ana):
        sent = [desk_of_ana.command("message_post", key="one", thread=studio.thread.id, text="Hi.") for _ in range(2)]
        assert sent[0].json() == sent[1].json()
        assert Message.objects.filter(content="Hi.").count() == 1
        quoted = desk_of_ana.command("message_post", key='"one"', thread=studio.thread.id, text="Hi.")
        assert quoted.json() == sent[0].json()

    def test_a_key_that_was_used_for_something_else_is_refused(self, studio, desk_of_ana):
        desk_of_ana.command("message_post", key="one", thread=studio.thread.id, text="Hi.")
        answer = desk_of_ana.command("message_post", key="one", thread=studio.thread.id, text="Something else.")
        assert refusal(answer) == (422, "command_id_reused")

    def test_two_clients_of_one_person_may_use_the_same_key(self, studio, desk_of_ana):
        other = caller(studio, studio.ana, name="Door")
        first, second = (
            one.command("message_post", key="one", thread=studio.thread.id, text="Hi.") for one in (desk_of_ana, other)
        )
        assert first.json()["message"] != second.json()["message"]

    def test_without_a_key_every_request_is_a_command_of_its_own(self, studio, desk_of_ana):
        for _ in range(2):
            desk_of_ana.command("message_post", thread=studio.thread.id, text="Hi.")
        assert Message.objects.filter(content="Hi.").count() == 2

    def test_a_thread_is_opened_with_its_first_message(self, studio, desk_of_ana):
        opened = desk_of_ana.command("thread_create", workspace=studio.workspace.id, text="Where do we eat?").json()
        assert desk_of_ana.read(f"/threads/{opened['thread']}")["thread"]["title"] == "Where do we eat?"
        assert opened["posted"]["kind"] == "message"

    def test_what_a_client_may_not_do_is_refused_with_who_lacks_what(self, studio):
        viewer = caller(studio, studio.vera)
        answer = viewer.command("message_post", thread=studio.thread.id, text="Hi.")
        assert refusal(answer) == (403, "forbidden")
        assert "Vera" in answer.json()["detail"]

    def test_a_client_never_manages_whatever_its_person_may(self, studio, desk_of_ana):
        answer = desk_of_ana.command("thread_rename", thread=studio.thread.id, title="Garden")
        assert refusal(answer)[0] == 403

    def test_actions_are_seen_and_not_decided(self, studio, desk_of_ana):
        with registered(reserve_table, book_boat):
            action = scene(studio).ids["action"]
        assert desk_of_ana.read(f"/actions/{action}")["may"]["approve"]["ok"] is False
        for name in ("action_approve", "action_decline"):
            assert refusal(desk_of_ana.command(name, action=action))[0] == 403

    def test_its_person_does_not_accept_what_the_client_proposed_nor_it_itself(self, studio, desk_of_ana):
        made = desk_of_ana.command(
            "document_save", document=studio.document.id, text="Less.", base_version=1, thread=studio.thread.id,
            propose=True,
        ).json()  # fmt: skip
        assert refusal(desk_of_ana.command("proposal_accept", proposal=made["proposal"])) == (403, "own_proposal")
        bens = caller(studio, studio.ben, name="Ben's")
        assert bens.command("proposal_accept", proposal=made["proposal"]).json()["version"] == 2

    def test_a_conflict_is_told_as_one(self, studio, desk_of_ana):
        answer = desk_of_ana.command(
            "document_save", document=studio.document.id, text="Less.", base_version=9, thread=studio.thread.id
        )
        assert refusal(answer)[0] in {409, 422}


class TestWhatIsSent:
    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            ("{", 400, "not_json"),
            ('{"text": "a", "text": "b"}', 400, "duplicate_key"),
            ('{"text": NaN}', 400, "number"),
            ('{"text": "\\u0000"}', 400, "text"),
            ("[" * 70 + "]" * 70, 400, "too_deep"),
            ("[]", 422, "invalid"),
            ("", 422, "invalid"),
            ('{"thread": "7", "text": "Hi."}', 422, "invalid"),
            (f'{{"thread": "{UUID(int=7)}", "text": "Hi.", "as": "ana"}}', 422, "invalid"),
        ],
    )  # fmt: skip
    def test_a_body_that_is_none_is_refused(self, desk_of_ana, body: str, status: int, code: str):
        assert refusal(desk_of_ana.send("POST", "/commands/message_post", body)) == (status, code)

    def test_a_body_that_is_too_large_is_refused(self, desk_of_ana):
        answer = desk_of_ana.send("POST", "/commands/message_post", '{"text": "' + "x" * LARGEST + '"}')
        assert refusal(answer) == (413, "too_long")

    def test_a_body_of_another_type_is_refused(self, studio, desk_of_ana):
        assert desk_of_ana.client
        answer = desk_of_ana.browser.post(
            f"{BASE}/commands/message_post", {"text": "Hi."}, headers=desk_of_ana.client.header
        )
        assert refusal(answer) == (415, "not_json")

    def test_a_field_that_is_not_known_is_named_and_nothing_of_its_value_is_repeated(self, studio, desk_of_ana):
        answer = desk_of_ana.command("message_post", thread=studio.thread.id, text="Hi.", author="secret-value")
        assert refusal(answer) == (422, "invalid")
        assert [fault["at"] for fault in answer.json()["faults"]] == ["author"]
        assert "secret-value" not in answer.content.decode()

    @pytest.mark.parametrize("path", ["/workspaces?page=2", "/me?x=", "/commands/message_post?x=1"])
    def test_a_query_that_is_not_known_is_refused(self, desk_of_ana, path: str):
        answer = desk_of_ana.send("POST", path, "{}") if "commands" in path else desk_of_ana.get(path)
        assert refusal(answer) == (422, "invalid")

    def test_another_method_is_refused_with_those_there_are(self, desk_of_ana):
        answer = desk_of_ana.send("DELETE", "/me", "")
        assert refusal(answer) == (405, "method")
        assert answer["Allow"] == "GET"

    @pytest.mark.parametrize("path", ["/nothing", "/threads/7", "/commands/fly", "/threads//events"])
    def test_an_address_that_there_is_not_is_not_found(self, desk_of_ana, path: str):
        assert refusal(desk_of_ana.get(path)) == (404, "not_found")


class TestLimitsAndFailures:
    def test_too_many_commands_are_refused_for_a_while_and_nothing_is_stored(self, studio, desk_of_ana, monkeypatch):
        monkeypatch.setattr(asking, "COMMANDS", Policy("commands", 2))
        sent = [desk_of_ana.command("message_post", thread=studio.thread.id, text="Hi.") for _ in range(3)]
        assert [answer.status_code for answer in sent] == [200, 200, 429]
        assert sent[0]["RateLimit-Policy"] == '"commands";q=2;w=60'
        assert refusal(sent[2]) == (429, "busy")
        assert 0 < int(sent[2]["Retry-After"]) <= 60
        assert Message.objects.filter(content="Hi.").count() == 2
        assert desk_of_ana.get("/me").status_code == 200

    def test_a_database_that_is_away_means_not_now(self, desk_of_ana, monkeypatch):
        def away(*_: Any) -> None:
            raise OperationalError("gone")

        monkeypatch.setattr(selectors, "workspaces_of", away)
        answer = desk_of_ana.get("/workspaces")
        assert refusal(answer) == (503, "away")
        assert int(answer["Retry-After"]) > 0

    def test_a_fault_of_ours_says_nothing_of_itself(self, desk_of_ana, monkeypatch):
        def broken(*_: Any) -> None:
            raise RuntimeError("the secret inside")

        monkeypatch.setattr(selectors, "workspaces_of", broken)
        answer = desk_of_ana.get("/workspaces")
        assert refusal(answer) == (500, "failed")
        assert "secret" not in answer.content.decode()

    def test_nobody_else_keeps_an_answer(self, desk_of_ana):
        answer = desk_of_ana.get("/me")
        assert answer["Cache-Control"] == "private, no-cache"
        assert "Authorization" in answer["Vary"]


class TestPhrasings:
    OF = "/outcome-phrasings/create_document/done/en"

    def test_a_client_reads_what_is_said_of_calls(self, desk_of_ana):
        shown = desk_of_ana.read("/outcome-phrasings", tool="create_document", language="en")["phrasings"]
        assert {one["tool"] for one in shown} == {"create_document"}
        assert desk_of_ana.read(self.OF)["stands"]["source"] == "pack"
        assert refusal(desk_of_ana.get("/outcome-phrasings/fly/done/en")) == (404, "not_found")

    def test_a_client_edits_nothing_even_for_an_administrator(self, studio):
        User.objects.filter(pk=studio.ana.id).update(is_superuser=True)
        answer = caller(studio, studio.ana).send("PUT", self.OF, {"text": "Made."})
        assert refusal(answer) == (403, "forbidden")

    def test_an_administrator_in_person_edits_in_versions(self, studio):
        User.objects.filter(pk=studio.ana.id).update(is_superuser=True, is_staff=True)
        browser = Client()
        browser.force_login(studio.ana.user)
        for text in ("Made {result.title}.", "There is {result.title} now."):
            answer = browser.put(f"{BASE}{self.OF}", {"text": text}, content_type="application/json")
            assert answer.json()["stands"]["text"] == text
        restored = browser.post(f"{BASE}{self.OF}/restore", {"version": 1}, content_type="application/json").json()
        assert (restored["stands"]["text"], restored["stands"]["version"]) == ("Made {result.title}.", 3)
        assert [one["by"] for one in restored["versions"]] == ["Ana"] * 3
        wrong = browser.put(f"{BASE}{self.OF}", {"text": "{nothing}"}, content_type="application/json")
        assert refusal(wrong) == (422, "phrasing_refused")
        missing = browser.post(f"{BASE}{self.OF}/restore", {"version": 9}, content_type="application/json")
        assert refusal(missing) == (404, "not_found")

    def test_versions_are_read_in_pages_from_the_newest_back(self, desk_of_ana, monkeypatch):
        monkeypatch.setattr(phrasings, "MOST_VERSIONS", 2)
        of = {"tool": "create_document", "outcome": "done", "language": "en"}
        for text in ("Made.", "There it is.", "It is there."):
            phrasing_set(actor=System(), **of, text=text)
        newest = desk_of_ana.read(self.OF)
        older = desk_of_ana.read(self.OF, before=newest["next"])
        assert [one["version"] for one in [*newest["versions"], *older["versions"]]] == [3, 2, 1]
        assert (older["stands"]["version"], older["next"]) == (3, None)

    def test_a_person_who_is_no_administrator_edits_nothing(self, studio):
        phrasing_set(actor=System(), tool="create_document", outcome="done", language="en", text="Made.")
        browser = Client()
        browser.force_login(studio.ana.user)
        answer = browser.put(f"{BASE}{self.OF}", {"text": "Done."}, content_type="application/json")
        assert refusal(answer) == (403, "forbidden")

    def test_another_sites_form_edits_nothing(self, studio):
        User.objects.filter(pk=studio.ana.id).update(is_superuser=True)
        browser = Client(enforce_csrf_checks=True)
        browser.force_login(studio.ana.user)
        answer = browser.put(f"{BASE}{self.OF}", {"text": "Done."}, content_type="application/json")
        assert refusal(answer) == (403, "forbidden")
        assert not Phrasing.objects.exists()


def test_the_role_of_a_client_is_the_most_it_may_do(studio: cast.Studio) -> None:
    viewer = caller(studio, studio.ana, role=Role.VIEWER)
    answer = viewer.command("message_post", thread=studio.thread.id, text="Hi.")
    assert refusal(answer) == (403, "forbidden")
    assert "Desk" in answer.json()["detail"]
