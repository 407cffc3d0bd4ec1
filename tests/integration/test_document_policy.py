"""How a document takes changes by agents and clients, and who says so (DESIGN 5)."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from django.db import connections, transaction
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collab import events
from collab.errors import Invalid
from collab.models.documents import Document, Revision
from collab.models.workspaces import Workspace
from collab.services.documents import (
    document_archive,
    document_create,
    document_edit,
    document_restore,
    document_restore_version,
    document_save,
)
from collab.services.policies import document_policy_set
from collab.services.threads import thread_archive, thread_create
from collab.services.workspaces import agent_enable, workspace_create
from collab.web.access import Viewer
from collab.web.frames import document_frames, event_frames, page_items
from collab.web.timeline import timeline
from permissions.errors import NotFound, Refused
from permissions.roles import Role
from permissions.services import grant_give
from tests.support.cast import Desk, Someone, Studio
from tests.support.reading import facts, text_of
from tests.support.sockets import Sockets

pytestmark = pytest.mark.django_db

EDIT = [{"find": "for 12", "replace": "for 14"}]
WAIT = 10
"""Seconds after which a thread that should have answered has failed the test."""


def sets(studio: Studio, who: Someone | None = None, policy: str = "propose", **more: Any) -> Document:
    given = {"document": studio.document.id, "policy": policy, "thread": studio.thread.id, **more}
    return document_policy_set(actor=(who or studio.ana).actor, **given)


def edits(studio: Studio, actor: Any) -> Any:
    return document_edit(actor=actor, document=studio.document.id, edits=EDIT)


class TestWhatItBinds:
    def test_agents_and_clients_only_suggest_and_people_still_change(self, studio: Studio, desk: Desk) -> None:
        grant_give(by=studio.ana.actor, holder=desk.user, codename="view", obj=studio.workspace)
        grant_give(by=studio.ana.actor, holder=desk.user, codename="change_document", obj=studio.workspace)
        sets(studio)
        for actor in (studio.robin.acting_for(studio.ana, studio.thread), desk.acting_for(studio.ana)):
            written = document_edit(actor=actor, document=studio.document.id, edits=EDIT, thread=studio.thread.id)
            assert written.document is None
            assert "Launch plan takes changes by agents and clients as proposals" in written.because
        assert edits(studio, studio.ben.actor).version == 2

    def test_it_is_lifted_as_it_was_set(self, studio: Studio) -> None:
        sets(studio)
        sets(studio, policy="direct")
        assert edits(studio, studio.robin.acting_for(studio.ana, studio.thread)).version == 2

    def test_restoring_a_version_is_bound_by_it_too(self, studio: Studio) -> None:
        edits(studio, studio.ana.actor)
        sets(studio)
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        written = document_restore_version(actor=robin, document=studio.document.id, version=1, base_version=2)
        assert (written.document, Revision.objects.filter(document=studio.document).count()) == (None, 2)


class TestWhatIsRecorded:
    def test_it_is_an_event_of_its_thread_begins_an_epoch_and_is_no_version(self, studio: Studio) -> None:
        before = Workspace.objects.get(pk=studio.workspace.pk).grants_epoch
        sets(studio)
        assert facts(studio.thread)[-1] == events.PolicyChanged(studio.document.id, "propose")
        assert Workspace.objects.get(pk=studio.workspace.pk).grants_epoch == before + 1
        assert Revision.objects.filter(document=studio.document).count() == 1
        studio.thread.refresh_from_db()
        told = timeline(studio.vera.actor, studio.thread, before=None)
        said = [entry.says for group in told.groups for entry in group.entries]
        assert said[-1] == "let agents and clients only suggest changes to Launch plan"

    def test_set_to_what_it_is_it_records_nothing(self, studio: Studio) -> None:
        before, epoch = facts(studio.thread), Workspace.objects.get(pk=studio.workspace.pk).grants_epoch
        sets(studio, policy="direct")
        assert facts(studio.thread) == before
        assert Workspace.objects.get(pk=studio.workspace.pk).grants_epoch == epoch


class TestWhoMaySetIt:
    def test_who_manages_the_document_and_nobody_else(self, studio: Studio, zoe: Someone) -> None:
        with pytest.raises(Refused, match="Ben may not manage Launch plan"):
            sets(studio, studio.ben)
        with pytest.raises(Refused, match="Vera may only view Launch plan"):
            sets(studio, studio.vera)
        with pytest.raises(NotFound):
            sets(studio, zoe)
        grant_give(by=studio.ana.actor, holder=studio.ben.user, codename="manage", obj=studio.document)
        assert sets(studio, studio.ben).write_policy == "propose"

    def test_no_agent_sets_it_for_its_owner(self, studio: Studio) -> None:
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        with pytest.raises(Refused, match="Robin may not manage Launch plan"):
            document_policy_set(actor=robin, document=studio.document.id, policy="direct", thread=studio.thread.id)

    def test_what_cannot_be_is_refused(self, studio: Studio) -> None:
        with pytest.raises(Invalid, match="policy is direct or propose"):
            sets(studio, policy="never")
        elsewhere = workspace_create(actor=studio.ana.actor, name="Elsewhere")
        agent_enable(actor=studio.ana.actor, workspace=elsewhere.id, agent_account=studio.robin.id, role=Role.EDITOR)
        other = thread_create(actor=studio.ana.actor, workspace=elsewhere.id, title="Other")
        with pytest.raises(NotFound):
            sets(studio, thread=other.id)
        document_archive(actor=studio.ana.actor, document=studio.document.id)
        with pytest.raises(Invalid, match="is archived; bring it back"):
            sets(studio)
        document_restore(actor=studio.ana.actor, document=studio.document.id)
        thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=True)
        with pytest.raises(Invalid, match="Launch dinner is archived"):
            sets(studio)

    def test_only_who_may_is_offered_it(self, studio: Studio) -> None:
        sets(studio)
        for someone, offered in ((studio.ana, True), (studio.ben, False), (studio.vera, False)):
            browser = Client()
            browser.force_login(someone.user)
            address = reverse("document-pane", args=[studio.document.pk])
            page = browser.get(address, {"thread": str(studio.thread.id)}).content.decode()
            assert "Robin only suggests here" in page
            assert ("Let agents change it" in page) is offered


@pytest.mark.django_db(transaction=True)
class TestItsOrderWithWrites:
    def test_a_write_that_began_before_it_commits_is_decided_after_it(self, studio: Studio) -> None:
        """The writer waits for the scope, and reads the policy once it has it."""
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        elsewhere = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Elsewhere")
        outcome: list[Any] = []

        def write() -> None:
            try:
                outcome.append(edits(studio, robin))
            finally:
                connections.close_all()

        writer = threading.Thread(target=write)
        with transaction.atomic():
            sets(studio, thread=elsewhere.id)
            writer.start()
            writer.join(0.3)
            assert not outcome
        writer.join(WAIT)
        assert not writer.is_alive()
        assert outcome[0].proposal is not None
        assert "for 12" in text_of(studio.document)

    async def test_everyone_who_has_the_thread_open_is_told(self, studio: Studio) -> None:
        async with Sockets() as sockets:
            socket = await sockets.connect(studio.vera, studio.thread.id)
            await socket.hello()
            owner = await sockets.connect(studio.ana, studio.thread.id)
            await owner.hello()
            await owner.send(
                type="command", id="p1", name="document_policy_set",
                args={"document": str(studio.document.id), "policy": "propose"},
            )  # fmt: skip
            frame = await socket.until("event", event="policy_changed")
            assert [item["policy"] for item in frame["items"] if item["item"] == "document"] == ["propose"]


OPERATIONS = ("save", "restore", "policy", "archive", "bring back", "suggest")


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(1, 9)), max_size=8))
def test_what_a_page_knew_and_the_frames_since_are_what_a_fresh_page_shows(
    studio: Studio, operations: list[tuple[str, int]]
) -> None:
    made = document_create(
        actor=studio.ana.actor, workspace=studio.workspace.id, title="Notes", kind="markdown", thread=studio.thread.id
    ).document
    assert made is not None
    viewer = Viewer(studio.vera.id, whole=True)
    known, seq = _items(studio)
    for name, number in operations:
        _carried_out(studio, made.id, name, number)
    frames = [*event_frames(studio.thread.id, seq, [viewer]).frames]
    frames += document_frames(studio.thread.id, [made.id], [viewer]).frames
    for frame in frames:
        known |= {item["id"]: item for item in json.loads(frame.texts[viewer])["items"] if item["item"] == "document"}
    fresh, _ = _items(studio)
    assert known == fresh


def _items(studio: Studio) -> tuple[dict[str, Any], int]:
    studio.thread.refresh_from_db()
    page = page_items(studio.vera.actor, studio.thread)
    return {item["id"]: item for item in page["items"] if item["item"] == "document"}, page["head_seq"]


def _carried_out(studio: Studio, document: Any, name: str, number: int) -> None:
    found = Document.objects.get(pk=document)
    given: dict[str, Any] = {"actor": studio.ana.actor, "document": document, "thread": studio.thread.id}
    if found.archived_at is not None and name != "bring back":
        return
    match name:
        case "save":
            document_save(text=f"Text {number}.", base_version=found.version, **given)
        case "suggest":
            document_edit(edits=[{"append": f"Text {number}."}], propose=True, **given)
        case "restore":
            document_restore_version(version=min(number, found.version), base_version=found.version, **given)
        case "policy":
            document_policy_set(policy=("direct", "propose")[number % 2], **given)
        case "archive":
            document_archive(**given)
        case "bring back":
            document_restore(**given)
