"""Registering clients, letting them in, issuing, rotating and revoking their tokens: who may, and what it does."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agents.clients import services
from agents.clients.secrets import SHOWN
from agents.clients.services import (
    client_disable,
    client_enable,
    client_register,
    token_issue,
    token_revoke,
    token_rotate,
)
from agents.clients.tokens import bearer
from agents.errors import BadToken
from agents.models.clients import AccessToken, Registration
from agents.models.clients import Client as ClientRow
from collab.errors import Gone, Invalid
from collab.services.documents import document_edit
from collab.services.messages import message_post
from collab.services.workspaces import member_remove, workspace_create
from permissions.actors import Agent, Client, Person, System
from permissions.errors import NotForAgents, NotFound, Refused
from permissions.models import GrantChange, User
from permissions.roles import Role
from tests.support.clients import connected

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(db):
    return Person(User.objects.create_superuser("admin", display_name="Admin").pk)


class TestRegistering:
    def test_a_person_registers_a_client_of_their_own_which_holds_nothing(self, studio, ben):
        desk = client_register(actor=ben.actor, name="Desk", person=ben.id)
        assert (desk.person_id, desk.registered_by, desk.account.kind) == (ben.id, ben.actor, "client")
        assert not desk.account.has_usable_password()
        assert not GrantChange.objects.filter(account=desk.account).exists()

    def test_nobody_registers_a_client_of_anothers(self, studio, ana, ben, admin):
        for actor in (ana.actor, admin, System(), Client(ben.id, ben.id), Agent(ben.id, ben.id, ben.actor)):
            with pytest.raises(Refused):
                client_register(actor=actor, name="Desk", person=ben.id)
        assert not ClientRow.objects.exists()

    def test_only_an_administrator_registers_one_that_is_nobodys(self, studio, ana, admin):
        with pytest.raises(Refused):
            client_register(actor=ana.actor, name="Desk")
        assert client_register(actor=admin, name="Desk").person is None

    @pytest.mark.parametrize("name", ["", "   ", "x" * 101, "a\x00b"], ids=repr)
    def test_a_name_that_cannot_be_is_refused(self, ben, name):
        with pytest.raises(Invalid):
            client_register(actor=ben.actor, name=name, person=ben.id)

    def test_a_person_has_a_bounded_number_of_clients(self, ben, monkeypatch):
        monkeypatch.setattr(services, "MOST_CLIENTS", 2)
        first = client_register(actor=ben.actor, name="1", person=ben.id)
        client_register(actor=ben.actor, name="2", person=ben.id)
        with pytest.raises(Invalid, match="at most 2 clients"):
            client_register(actor=ben.actor, name="3", person=ben.id)
        client_disable(actor=ben.actor, client=first.pk)
        assert client_register(actor=ben.actor, name="3", person=ben.id)

    def test_a_program_that_registered_itself_is_one_client_of_each_person(self, ana, ben):
        program = Registration.objects.create(name="Editor", metadata={})
        for someone in (ana, ben):
            client_register(actor=someone.actor, name="Editor", person=someone.id, registration=program.id)
        assert program.clients.count() == 2


class TestLettingIn:
    def test_who_manages_a_workspace_lets_a_client_in_and_out(self, studio, ana, ben):
        desk = connected(studio, ben, role=Role.CONTRIBUTOR)
        assert message_post(actor=desk.actor, thread=studio.thread.id, content="Hi", client_id="1")
        client_enable(actor=ana.actor, workspace=studio.workspace.id, client=desk.row.pk, role=None)
        with pytest.raises(NotFound):
            message_post(actor=desk.actor, thread=studio.thread.id, content="Hi", client_id="2")

    def test_who_does_not_manage_it_lets_in_nobody_not_even_their_own(self, studio, ben, zoe):
        desk = client_register(actor=ben.actor, name="Desk", person=ben.id)
        for someone, refusal in ((ben, Refused), (zoe, NotFound)):
            with pytest.raises(refusal):
                client_enable(actor=someone.actor, workspace=studio.workspace.id, client=desk.pk, role=Role.VIEWER)

    def test_a_client_never_manages(self, studio, ana):
        desk = client_register(actor=ana.actor, name="Desk", person=ana.id)
        with pytest.raises(NotForAgents):
            client_enable(actor=ana.actor, workspace=studio.workspace.id, client=desk.pk, role=Role.OWNER)

    def test_an_agent_is_no_client(self, studio, ana, robin):
        with pytest.raises(NotFound):
            client_enable(actor=ana.actor, workspace=studio.workspace.id, client=robin.id, role=Role.VIEWER)

    def test_its_own_grants_cap_it_whoever_it_acts_for(self, studio, ana):
        desk = connected(studio, ana, role=Role.VIEWER)
        with pytest.raises(Refused, match="Desk may only view Launch dinner"):
            message_post(actor=desk.actor, thread=studio.thread.id, content="Hi", client_id="1")

    def test_its_persons_grants_cap_it_whatever_it_holds(self, studio, vera):
        desk = connected(studio, vera, role=Role.EDITOR)
        with pytest.raises(Refused, match="Vera may only view Launch plan"):
            document_edit(
                actor=desk.actor, document=studio.document.id, edits=[{"find": "900", "replace": "950"}], propose=False
            )

    def test_when_its_person_leaves_it_may_nothing_there(self, studio, ana, ben):
        desk = connected(studio, ben)
        member_remove(actor=ana.actor, workspace=studio.workspace.id, user=ben.id)
        with pytest.raises(NotFound):
            message_post(actor=desk.actor, thread=studio.thread.id, content="Hi", client_id="1")


class TestIssuing:
    def test_a_token_is_bound_to_a_client_and_a_person_and_shows_how_it_begins(self, studio, ben):
        desk = connected(studio, ben, lasts=timedelta(days=7))
        token = AccessToken.objects.get()
        assert (token.client, token.person, token.created_by) == (desk.row, ben.user, ben.actor)
        assert desk.secret.startswith(token.prefix)
        assert len(token.prefix) == SHOWN
        assert abs(token.expires_at - token.created_at - timedelta(days=7)) < timedelta(seconds=1)

    def test_nobody_issues_a_token_that_acts_for_another(self, studio, ana, ben, admin):
        desk = client_register(actor=ben.actor, name="Desk", person=ben.id)
        shared = client_register(actor=admin, name="Shared")
        for client in (desk, shared):
            for actor in (ana.actor, admin, System(), Client(client.pk, ben.id)):
                with pytest.raises(Refused):
                    _issues(actor, client, studio, person=ben.id)
        assert not AccessToken.objects.exists()

    def test_a_persons_client_gets_no_token_for_no_one_and_for_nobody_else(self, studio, ana, ben, admin):
        desk = client_register(actor=ben.actor, name="Desk", person=ben.id)
        with pytest.raises(Refused, match="Desk is a person's"):
            _issues(admin, desk, studio)
        with pytest.raises(NotFound):
            _issues(ana.actor, desk, studio, person=ana.id)

    def test_only_an_administrator_issues_a_token_for_no_one(self, studio, ana, admin):
        shared = client_register(actor=admin, name="Shared")
        with pytest.raises(Refused):
            _issues(ana.actor, shared, studio)
        _, secret = _issues(admin, shared, studio)
        assert bearer(secret).actor == Client(shared.pk)

    def test_whoever_wants_to_issues_a_token_for_themselves_of_a_client_that_is_nobodys(self, studio, ben, admin):
        shared = client_register(actor=admin, name="Shared")
        _, secret = _issues(ben.actor, shared, studio, person=ben.id)
        assert bearer(secret).actor == Client(shared.pk, ben.id)

    def test_a_token_names_its_workspaces_which_its_person_may_view(self, studio, ana, ben):
        private = workspace_create(actor=ana.actor, name="Private")
        desk = client_register(actor=ben.actor, name="Desk", person=ben.id)
        with pytest.raises(Invalid, match="Name the workspaces"):
            _issues(ben.actor, desk, None, person=ben.id)
        for places in ([private.id], [studio.workspace.id, private.id], [ben.id]):
            with pytest.raises(NotFound):
                token_issue(actor=ben.actor, client=desk.pk, name="x", workspaces=places, person=ben.id)

    @pytest.mark.parametrize("lasts", [timedelta(0), timedelta(days=-1), timedelta(days=367)], ids=str)
    def test_a_token_stands_for_a_year_at_most_and_never_for_nothing(self, studio, ben, lasts):
        with pytest.raises(Invalid):
            connected(studio, ben, lasts=lasts)

    def test_a_client_has_a_bounded_number_of_tokens(self, studio, ben, monkeypatch):
        monkeypatch.setattr(services, "MOST_TOKENS", 1)
        desk = connected(studio, ben)
        with pytest.raises(Invalid, match="has 1 tokens already"):
            _issues(ben.actor, desk.row, studio, person=ben.id)

    def test_a_disabled_client_gets_no_token(self, studio, ben):
        desk = client_register(actor=ben.actor, name="Desk", person=ben.id)
        client_disable(actor=ben.actor, client=desk.pk)
        with pytest.raises(Gone):
            _issues(ben.actor, desk, studio, person=ben.id)


class TestRotating:
    def test_another_takes_its_place_and_the_one_before_stands_a_day(self, studio, ben, clock):
        desk = connected(studio, ben, lasts=timedelta(days=30))
        token, secret = token_rotate(actor=ben.actor, token=desk.token.pk)
        assert (token.rotated_from_id, token.name, token.person_id) == (desk.token.pk, desk.token.name, ben.id)
        assert bearer(secret).actor == bearer(desk.secret).actor
        assert bearer(secret).actor.within == {studio.workspace.id}
        clock(86_401)
        with pytest.raises(BadToken, match="expired"):
            bearer(desk.secret)
        assert bearer(secret)

    def test_a_rotation_never_lengthens_the_one_before(self, studio, ben):
        desk = connected(studio, ben, lasts=timedelta(hours=1))
        token_rotate(actor=ben.actor, token=desk.token.pk)
        assert AccessToken.objects.get(pk=desk.token.pk).expires_at == desk.token.expires_at

    def test_one_without_an_overlap_ends_at_once(self, studio, ben):
        desk = connected(studio, ben)
        token_rotate(actor=ben.actor, token=desk.token.pk, overlap=timedelta(0))
        with pytest.raises(BadToken):
            bearer(desk.secret)

    def test_a_token_is_rotated_once(self, studio, ben):
        desk = connected(studio, ben)
        token_rotate(actor=ben.actor, token=desk.token.pk)
        with pytest.raises(Gone):
            token_rotate(actor=ben.actor, token=desk.token.pk)
        assert AccessToken.objects.count() == 2

    def test_a_token_that_stands_no_more_is_not_rotated(self, studio, ben, clock):
        revoked, expired = connected(studio, ben), connected(studio, ben, lasts=timedelta(hours=1))
        token_revoke(actor=ben.actor, token=revoked.token.pk)
        clock(3_601)
        for desk in (revoked, expired):
            with pytest.raises(Gone):
                token_rotate(actor=ben.actor, token=desk.token.pk)

    def test_it_is_good_only_where_its_person_is_still_let_in(self, studio, ana, ben):
        other = workspace_create(actor=ben.actor, name="Ben's own")
        desk = connected(studio, ben, within=[studio.workspace, other])
        member_remove(actor=ana.actor, workspace=studio.workspace.id, user=ben.id)
        _, secret = token_rotate(actor=ben.actor, token=desk.token.pk)
        assert bearer(secret).actor.within == {other.id}

    def test_what_a_program_was_given_is_not_rotated_as_it_renews_that_itself(self, studio, ben):
        desk = connected(studio, ben, audience="https://here/mcp")
        with pytest.raises(Refused, match="renews it itself"):
            token_rotate(actor=ben.actor, token=desk.token.pk)

    def test_nobody_rotates_anothers(self, studio, ana, ben, admin):
        desk = connected(studio, ben)
        for actor, refusal in ((ana.actor, NotFound), (desk.actor, NotFound), (admin, Refused)):
            with pytest.raises(refusal):
                token_rotate(actor=actor, token=desk.token.pk)
        assert AccessToken.objects.count() == 1
        assert AccessToken.objects.get().expires_at == desk.token.expires_at


class TestRevoking:
    def test_its_person_and_an_administrator_revoke_a_token_and_the_first_is_named(self, studio, ben, admin):
        desk = connected(studio, ben)
        token_revoke(actor=admin, token=desk.token.pk)
        token_revoke(actor=ben.actor, token=desk.token.pk)
        token = AccessToken.objects.get()
        assert (token.revoked_by, token.revoked_because) == (admin, "Admin revoked this token.")

    def test_nobody_else_does_not_even_the_client_itself(self, studio, ana, ben):
        desk = connected(studio, ben)
        for actor in (ana.actor, desk.actor, Client(desk.row.pk)):
            with pytest.raises(NotFound):
                token_revoke(actor=actor, token=desk.token.pk)
        assert bearer(desk.secret)

    def test_disabling_a_client_revokes_its_tokens_and_stops_its_next_write(self, studio, ben):
        desk = connected(studio, ben)
        actor = desk.actor
        client_disable(actor=ben.actor, client=desk.row.pk)
        client_disable(actor=ben.actor, client=desk.row.pk)
        with pytest.raises(BadToken, match="Ben disabled Desk"):
            bearer(desk.secret)
        with pytest.raises(NotFound):
            message_post(actor=actor, thread=studio.thread.id, content="Hi", client_id="1")

    def test_nobody_disables_anothers_client_but_an_administrator(self, studio, ana, ben, admin):
        desk = connected(studio, ben)
        for actor in (ana.actor, desk.actor):
            with pytest.raises(NotFound):
                client_disable(actor=actor, client=desk.row.pk)
        assert client_disable(actor=admin, client=desk.row.pk).disabled_by == admin


def _issues(actor, client, studio, person=None):
    places = [studio.workspace.id] if studio else []
    return token_issue(actor=actor, client=client.pk, name="Laptop", workspaces=places, person=person)
