"""Whom a token stands for, where it may be used, and when it is good no more (DESIGN 5; FAILURES L5, L8, L9)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import RequestFactory

from agents.clients.http import authenticated, authenticated_request
from agents.clients.secrets import digest_of, secret_made
from agents.clients.services import client_disable, client_enable, token_revoke
from agents.clients.tokens import bearer, standing
from agents.errors import BadToken, Unauthenticated
from agents.models.clients import AccessToken
from agents.models.clients import Client as ClientRow
from collab import search, selectors
from collab.services.documents import document_create
from collab.services.messages import message_post
from collab.services.threads import thread_create
from collab.services.workspaces import workspace_create
from permissions.actors import Client, System, dumps
from permissions.decisions import Action
from permissions.errors import NotFound
from permissions.gate import decisions_on
from permissions.roles import Role
from permissions.services import account_activate, account_deactivate
from tests.support.clients import connected

pytestmark = pytest.mark.django_db


class TestBearer:
    def test_a_token_stands_for_its_client_acting_for_its_person(self, studio, ben):
        desk = connected(studio, ben)
        found = bearer(desk.secret)
        assert found.actor == Client(desk.row.pk, ben.id)
        assert found.actor.within == {studio.workspace.id}
        assert found.token_id == desk.token.pk

    def test_a_token_for_no_one_stands_for_its_client_alone(self, studio):
        assert connected(studio, None).actor == Client(ClientRow.objects.get().pk, None)

    def test_who_comes_with_a_token_is_read_in_one_query_and_its_use_noted_once_a_minute(self, studio, ben, queries):
        desk = connected(studio, ben)
        bearer(desk.secret)
        with queries() as sent:
            bearer(desk.secret)
        sent.at_most(1)
        assert AccessToken.objects.get().last_used_at is not None

    def test_the_note_of_its_use_is_at_most_a_minute_old(self, studio, ben, clock):
        desk = connected(studio, ben)
        bearer(desk.secret)
        first = AccessToken.objects.get().last_used_at
        clock(59)
        bearer(desk.secret)
        assert AccessToken.objects.get().last_used_at == first
        clock(61)
        bearer(desk.secret)
        assert AccessToken.objects.get().last_used_at > first

    def test_a_secret_is_kept_as_a_digest_alone(self, studio, ben):
        desk = connected(studio, ben)
        row = AccessToken.objects.values().get()
        assert row["digest"] == digest_of(desk.secret)
        assert desk.secret not in str(row)

    def test_a_token_that_expired_is_refused_by_the_databases_clock(self, studio, ben, clock):
        desk = connected(studio, ben, lasts=timedelta(hours=1))
        clock(3_599)
        assert bearer(desk.secret)
        clock(3_601)
        _is_refused(desk.secret, "expired")
        assert standing([desk.token.pk]) == set()

    def test_a_revoked_token_is_refused_with_who_revoked_it(self, studio, ben):
        desk = connected(studio, ben)
        token_revoke(actor=ben.actor, token=desk.token.pk)
        _is_refused(desk.secret, "Ben revoked this token.")

    def test_a_token_of_a_client_that_is_switched_off_is_refused(self, studio, ben):
        desk = connected(studio, ben)
        account_deactivate(by=System(), account=desk.row.account)
        _is_refused(desk.secret, "Desk is switched off.")

    def test_a_token_of_a_person_who_is_switched_off_is_refused_at_once_and_good_again_after(self, studio, ben):
        desk = connected(studio, ben)
        account_deactivate(by=System(), account=ben.user)
        _is_refused(desk.secret, "The person this token acts for is switched off.")
        account_activate(by=System(), account=ben.user)
        assert bearer(desk.secret)

    def test_a_client_that_became_anothers_is_no_way_to_act_for_who_had_it(self, studio, ben, vera):
        desk = connected(studio, ben)
        ClientRow.objects.update(person=vera.id)
        _is_refused(desk.secret, "Desk is not the client of the person this token acts for.")

    def test_a_token_for_no_one_of_a_client_that_became_somebodys_is_refused(self, studio, ben):
        desk = connected(studio, None)
        ClientRow.objects.update(person=ben.id)
        _is_refused(desk.secret, "Desk is not the client")

    def test_a_token_for_one_address_is_good_there_alone(self, studio, ben):
        desk = connected(studio, ben, audience="https://here/mcp")
        assert bearer(desk.secret, audience="https://here/mcp")
        for other in ("", "https://there/mcp", "https://here/mcp/"):
            with pytest.raises(BadToken, match="another address"):
                bearer(desk.secret, audience=other)

    @pytest.mark.parametrize("secret", ["", "nonsense", "accord_nonsense", "\x00", "é" * 60])
    def test_what_is_no_token_is_refused_without_a_query(self, secret, queries):
        with queries() as sent, pytest.raises(BadToken):
            bearer(secret)
        sent.at_most(0)

    def test_a_token_that_nobody_issued_is_refused(self):
        _is_refused(secret_made(), "not known")

    def test_those_that_still_stand_are_told_in_one_query(self, studio, ben, queries):
        desks = [connected(studio, ben, name=f"Desk {number}") for number in range(3)]
        token_revoke(actor=ben.actor, token=desks[0].token.pk)
        client_disable(actor=ben.actor, client=desks[1].row.pk)
        with queries() as sent:
            found = standing([desk.token.pk for desk in desks])
        sent.at_most(1)
        assert found == {desks[2].token.pk}


class TestScope:
    """What a token is not for is not there, on every path to it."""

    @pytest.fixture
    def other(self, studio, ben):
        """A workspace of Ben's own, where his client may do all that he may, which its token is not for."""
        return workspace_create(actor=ben.actor, name="Elsewhere")

    @pytest.fixture
    def desk(self, studio, ben, other):
        desk = connected(studio, ben)
        client_enable(actor=ben.actor, workspace=other.id, client=desk.row.pk, role=Role.EDITOR)
        return desk

    def test_without_a_token_to_bound_it_the_client_may_view_the_other_workspace(self, desk, other, ben):
        assert selectors.workspace_for(Client(desk.row.pk, ben.id), other.id) == other

    def test_what_the_token_is_not_for_is_not_found(self, desk, other, ben):
        thread = thread_create(actor=ben.actor, workspace=other.id, title="Private plans")
        written = document_create(actor=ben.actor, workspace=other.id, title="Plans", kind="markdown", text="x")
        for load, id in (
            (selectors.workspace_for, other.id),
            (selectors.thread_for, thread.id),
            (selectors.document_for, written.document.id),
        ):
            with pytest.raises(NotFound) as refused:
                load(desk.actor, id)
            assert refused.value.because == "There is no such thing, or you may not see it."

    def test_a_write_outside_is_not_found_either(self, desk, other, ben):
        thread = thread_create(actor=ben.actor, workspace=other.id, title="Private plans")
        with pytest.raises(NotFound):
            message_post(actor=desk.actor, thread=thread.id, content="hello", client_id="1")

    def test_lists_hold_what_the_token_is_for(self, desk, studio, other, ben):
        thread_create(actor=ben.actor, workspace=other.id, title="Private plans")
        document_create(actor=ben.actor, workspace=other.id, title="Plans", kind="markdown", text="dinner")
        assert selectors.workspaces_of(desk.actor) == [studio.workspace]
        assert selectors.threads_of(desk.actor, other.id) == []
        assert selectors.documents_of(desk.actor, other.id) == []
        assert [line.thread for line in selectors.threads_of(desk.actor, studio.workspace.id)] == [studio.thread]

    def test_search_finds_what_the_token_is_for(self, desk, studio, other, ben):
        document_create(actor=ben.actor, workspace=other.id, title="Dinner elsewhere", kind="markdown", text="dinner")
        wanted = search.question("dinner")
        assert wanted is not None
        assert search.workspaces_in_reach(desk.actor) == [studio.workspace]
        group = search.found(desk.actor, wanted, search.Kind.DOCUMENTS, [studio.workspace, other])
        assert [hit.document for hit in group.hits] == [studio.document]

    def test_the_decision_says_that_the_token_is_for_other_workspaces(self, desk, other):
        decision = decisions_on(desk.actor, other)[Action.VIEW]
        assert decision.because == "Desk may not view Elsewhere: Desk came with a token that is for other workspaces."

    def test_the_scope_is_no_part_of_who_wrote_something(self, desk, studio, ben):
        message_post(actor=desk.actor, thread=studio.thread.id, content="hello", client_id="1")
        assert desk.actor == Client(desk.row.pk, ben.id)
        assert hash(desk.actor) == hash(Client(desk.row.pk, ben.id))
        assert dumps(desk.actor) == f"client:{desk.row.pk}/person:{ben.id}"


class TestHttp:
    def test_a_request_with_a_good_token_is_its_clients(self, studio, ben):
        desk = connected(studio, ben)
        assert authenticated_request(RequestFactory().get("/", headers=desk.header)).actor == desk.actor
        assert authenticated(_scope(desk.secret)).actor == desk.actor

    def test_without_a_token_nothing_is_said_of_why(self):
        with pytest.raises(Unauthenticated) as refused:
            authenticated_request(RequestFactory().get("/"))
        assert refused.value.challenge() == "Bearer"
        assert refused.value.challenge("https://a/m") == 'Bearer resource_metadata="https://a/m"'

    @pytest.mark.parametrize("header", ["Basic abc", "Bearer", "Bearer ", "bearer", "Digest accord_x"])
    def test_another_way_to_sign_in_is_no_request_of_ours(self, header):
        with pytest.raises(Unauthenticated) as refused:
            authenticated_request(RequestFactory().get("/", headers={"Authorization": header}))
        assert refused.value.error == "invalid_request"

    def test_two_headers_are_refused_though_each_is_good(self, studio, ben):
        desk = connected(studio, ben)
        twice = {**_scope(desk.secret), "headers": 2 * _scope(desk.secret)["headers"]}
        with pytest.raises(Unauthenticated) as refused:
            authenticated(twice)
        assert refused.value.error == "invalid_request"

    def test_a_token_that_is_not_good_is_told_with_its_sentence(self, studio, ben):
        desk = connected(studio, ben)
        token_revoke(actor=ben.actor, token=desk.token.pk)
        with pytest.raises(Unauthenticated) as refused:
            authenticated(_scope(desk.secret))
        assert refused.value.challenge() == (
            'Bearer error="invalid_token", error_description="Ben revoked this token."'
        )


def _scope(secret: str) -> dict[str, object]:
    headers = [(b"authorization", f"Bearer {secret}".encode())]
    return {"type": "http", "path": "/mcp", "query_string": b"", "headers": headers}


def _is_refused(secret: str, because: str) -> None:
    with pytest.raises(BadToken) as refused:
        bearer(secret)
    assert because in refused.value.because
