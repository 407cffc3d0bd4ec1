"""Reading: only what the reader may view, in a number of queries that does not grow (DESIGN 3 and 5)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from collab import selectors
from collab.models.threads import ReadMark
from collab.services.documents import document_archive, document_create, document_edit
from collab.services.messages import message_cancel, message_post
from collab.services.threads import read_mark_set, thread_archive, thread_create, thread_rename
from collab.services.workspaces import member_remove, workspace_create
from permissions.actors import Client, Person, System
from permissions.errors import NotFound, Refused
from permissions.ids import new_id
from permissions.models import User
from permissions.roles import Role
from permissions.services import account_deactivate, grant_give, group_join


def titles(lines):
    return [line.thread.title for line in lines]


def unread(someone, studio):
    return {line.thread.title: line.unread for line in selectors.threads_of(someone.actor, studio.workspace.id)}


def post(someone, studio, text):
    return message_post(
        actor=someone.actor, thread=studio.thread.id, content=text, client_id=str(new_id()), kind="comment"
    )


@pytest.fixture
def two_more(studio):
    """Two more threads, "Music" and "Seating"."""
    return [
        thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title=title)
        for title in ("Music", "Seating")
    ]


class TestOne:
    @pytest.mark.parametrize("load", [selectors.workspace_for, selectors.thread_for, selectors.document_for])
    def test_what_one_may_not_view_is_as_if_it_were_not_there(self, studio, zoe, load):
        id = {
            selectors.workspace_for: studio.workspace.id,
            selectors.thread_for: studio.thread.id,
            selectors.document_for: studio.document.id,
        }[load]
        assert load(studio.vera.actor, id).pk == id
        messages = []
        for reader, wanted in ((zoe.actor, id), (studio.vera.actor, new_id())):
            with pytest.raises(NotFound) as missing:
                load(reader, wanted)
            messages.append(missing.value.because)
        assert messages[0] == messages[1]

    def test_an_agent_reads_no_more_than_whom_it_works_for(self, studio, zoe):
        assert selectors.thread_for(studio.robin.acting_for(studio.vera, studio.thread), studio.thread.id)
        with pytest.raises(NotFound):
            selectors.thread_for(studio.robin.acting_for(zoe, studio.thread), studio.thread.id)

    def test_a_proposal_is_read_with_its_thread(self, studio, zoe):
        proposal = document_edit(
            actor=studio.ben.actor, document=studio.document.id, edits=[{"append": "x"}], thread=studio.thread.id,
            propose=True,
        ).proposal  # fmt: skip
        assert selectors.proposal_for(studio.vera.actor, proposal.id) == proposal
        with pytest.raises(NotFound):
            selectors.proposal_for(zoe.actor, proposal.id)


class TestLists:
    def test_lists_hold_what_the_reader_may_view(self, studio, two_more, zoe):
        document_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Budget", kind="markdown")
        workspace_create(actor=zoe.actor, name="Zoe's own")
        assert [workspace.name for workspace in selectors.workspaces_of(studio.vera.actor)] == ["Studio launch"]
        assert [workspace.name for workspace in selectors.workspaces_of(zoe.actor)] == ["Zoe's own"]
        assert titles(selectors.threads_of(studio.vera.actor, studio.workspace.id)) == [
            "Seating", "Music", "Launch dinner",
        ]  # fmt: skip
        assert selectors.threads_of(zoe.actor, studio.workspace.id) == []
        assert selectors.documents_of(zoe.actor, studio.workspace.id) == []
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=two_more[0])
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.document)
        assert titles(selectors.threads_of(zoe.actor, studio.workspace.id)) == ["Music"]
        documents = selectors.documents_of(zoe.actor, studio.workspace.id)
        assert [line.document.title for line in documents] == ["Launch plan"]

    def test_the_thread_that_grew_last_comes_first(self, studio, two_more):
        thread_rename(actor=studio.ana.actor, thread=studio.thread.id, title="Dinner")
        lines = selectors.threads_of(studio.ben.actor, studio.workspace.id)
        assert titles(lines) == ["Dinner", "Seating", "Music"]
        assert lines[0].last_at >= lines[1].last_at >= lines[2].last_at

    def test_what_is_archived_is_listed_apart(self, studio, two_more):
        thread_archive(actor=studio.ana.actor, thread=two_more[0].id, archived=True)
        document_archive(actor=studio.ana.actor, document=studio.document.id)
        ben, workspace = studio.ben.actor, studio.workspace.id
        assert titles(selectors.threads_of(ben, workspace)) == ["Seating", "Launch dinner"]
        assert titles(selectors.threads_of(ben, workspace, archived=True)) == ["Music"]
        assert selectors.documents_of(ben, workspace) == []
        assert [line.document for line in selectors.documents_of(ben, workspace, archived=True)] == [studio.document]
        assert selectors.followed_by(ben, studio.thread.id) == []

    @pytest.mark.corrupts
    def test_open_proposals_are_counted_and_settled_ones_are_not(self, studio):
        for word in ("one", "two"):
            document_edit(
                actor=studio.ben.actor, document=studio.document.id, edits=[{"append": word}],
                thread=studio.thread.id, propose=True,
            )  # fmt: skip
        proposal = studio.document.proposals.first()
        type(proposal).objects.filter(pk=proposal.pk).update(
            state="rejected", resolver=studio.ana.actor, resolved_at=proposal.proposed_at
        )
        (line,) = selectors.documents_of(studio.vera.actor, studio.workspace.id)
        assert line.open_proposals == 1

    def test_each_list_is_one_query_however_long(self, studio, two_more, queries):
        for reader in (studio.ben.actor, studio.robin.acting_for(studio.ben, studio.thread)):
            for read in (selectors.threads_of, selectors.documents_of):
                with queries() as sent:
                    assert read(reader, studio.workspace.id)
                sent.at_most(1)
            with queries() as sent:
                assert selectors.workspaces_of(reader)
            sent.at_most(1)


class TestUnread:
    def test_others_messages_behind_the_mark_are_unread(self, studio):
        for text in ("one", "two"):
            post(studio.ben, studio, text)
        assert unread(studio.ana, studio) == {"Launch dinner": 2}
        assert unread(studio.ben, studio) == {"Launch dinner": 0}
        read_mark_set(actor=studio.ana.actor, thread=studio.thread.id, seq=post(studio.ben, studio, "three").seq - 1)
        assert unread(studio.ana, studio) == {"Launch dinner": 1}
        assert ReadMark.objects.count() == 1

    def test_a_cancelled_message_is_not(self, studio):
        message = message_post(actor=studio.ben.actor, thread=studio.thread.id, content="never mind", client_id="1")
        assert unread(studio.ana, studio) == {"Launch dinner": 1}
        message_cancel(actor=studio.ben.actor, message=message.id)
        assert unread(studio.ana, studio) == {"Launch dinner": 0}

    @pytest.mark.corrupts
    def test_what_the_agent_answered_oneself_is(self, studio):
        post(studio.ana, studio, "hello")
        studio.thread.messages.update(author=studio.robin.acting_for(studio.ana, studio.thread))
        assert unread(studio.ana, studio) == {"Launch dinner": 1}


class TestPeople:
    def test_people_stand_by_place_with_their_role_and_agents_apart(self, studio):
        people = selectors.people_of(studio.workspace.id)
        assert [(member.name, member.role, member.hue) for member in people] == [
            ("Ana", Role.OWNER, 1),
            ("Ben", Role.EDITOR, 2),
            ("Vera", Role.VIEWER, 3),
        ]
        assert [member.name for member in selectors.agents_of(studio.workspace.id)] == ["Robin"]

    def test_who_holds_grants_through_a_group_is_among_them_without_a_place(self, studio, zoe):
        root = User.objects.create_superuser("root")
        editors = Group.objects.create(name="Editors")
        group_join(by=Person(root.pk), account=zoe.user, group=editors)
        grant_give(by=studio.ana.actor, holder=editors, codename="view", obj=studio.workspace)
        member = selectors.people_of(studio.workspace.id)[-1]
        assert (member.name, member.place, member.hue, member.role) == ("Zoe", None, 0, Role.VIEWER)

    def test_who_is_inactive_or_was_removed_is_not(self, studio):
        account_deactivate(by=Person(User.objects.create_superuser("root").pk), account=studio.ben.user)
        member_remove(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.vera.id)
        assert [member.name for member in selectors.people_of(studio.workspace.id)] == ["Ana"]

    def test_an_expired_grant_makes_no_member(self, studio, zoe, clock):
        grant_give(
            by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.workspace,
            expires_at=timezone.now() + timedelta(hours=1),
        )  # fmt: skip
        assert "Zoe" in {member.name for member in selectors.people_of(studio.workspace.id)}
        clock(3601)
        assert "Zoe" not in {member.name for member in selectors.people_of(studio.workspace.id)}

    def test_only_who_manages_reads_the_invites(self, studio, zoe):
        with pytest.raises(Refused):
            selectors.invites_of(studio.ben.actor, studio.workspace.id)
        with pytest.raises(NotFound):
            selectors.invites_of(zoe.actor, studio.workspace.id)

    def test_an_actor_is_told_with_whom_it_acts_for(self, studio, desk):
        told = [
            selectors.told(actor)
            for actor in (
                studio.ben.actor,
                studio.robin.acting_for(desk.acting_for(studio.ana), studio.thread),
                Client(new_id()),
                System(),
            )
        ]
        assert told == ["Ben", "Robin for Desk for Ana", "A removed account", "The system"]


class TestRevisions:
    def test_versions_are_read_newest_first_page_by_page(self, studio, zoe):
        for word in ("one", "two", "three"):
            document_edit(actor=studio.ben.actor, document=studio.document.id, edits=[{"append": word}])
        vera, document = studio.vera.actor, studio.document.id
        assert [row.version for row in selectors.revisions_of(vera, document, limit=2)] == [4, 3]
        assert [row.version for row in selectors.revisions_of(vera, document, before=3)] == [2, 1]
        with pytest.raises(NotFound):
            selectors.revisions_of(zoe.actor, document)
