"""Why a write of a log was allowed: what the record says of its moment is what was decided then (DESIGN 11)."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collab.asking import decided, explained, explained_at, explained_event, needed
from collab.errors import CollabError
from collab.models.documents import Document
from collab.models.threads import Event
from collab.services.delegations import delegation_end, delegation_give
from collab.services.documents import document_edit
from collab.services.policies import document_policy_set
from collab.services.proposals import proposal_accept
from collab.services.threads import thread_mode_set
from collab.services.workspaces import member_role_set
from permissions.actors import Agent
from permissions.decisions import Action, Level
from permissions.errors import PermissionsError
from permissions.replay import Moment
from permissions.roles import Role
from tests.support.cast import Studio
from tests.support.scene import scene
from tests.support.worked import worked

pytestmark = pytest.mark.django_db

CHANGE = Action.CHANGE_DOCUMENT


def explained_events(studio: Studio) -> dict[int, tuple[Event, Level]]:
    """Explain every event of the studio that a right decided."""
    found = {}
    for event in Event.objects.filter(thread__workspace=studio.workspace).select_related("thread__workspace"):
        if asked := decided(event):
            found[event.pk] = (event, explained_event(event, *asked).decision.level)
    return found


def edits(studio: Studio, text: str, someone=None):
    """Let Robin, for Ana unless for another, change the document as far as it may."""
    actor: Agent = studio.robin.acting_for(someone or studio.ana, studio.thread)
    edit = {"append": text}
    return document_edit(actor=actor, document=studio.document.id, thread=studio.thread.id, edits=[edit])


@pytest.mark.parametrize("make", [worked, scene])
def test_the_record_explains_every_write_of_a_thread_that_was_worked_in(studio, make):
    make(studio)
    found = explained_events(studio)
    assert {event.type for event, _ in found.values()} >= {
        "thread_created", "message_posted", "turn_started", "document_created",
    }  # fmt: skip
    assert not [str(event) for event, level in found.values() if level < needed(event)]


STEP = st.sampled_from(
    ["edit", "edit for ben", "suggest", "edit mode", "propose policy", "direct policy", "allow", "deny", "end",
     "ben views", "ben edits", "accept"],
)  # fmt: skip


def step(studio: Studio, what: str, number: int) -> None:
    ana, thread, document = studio.ana.actor, studio.thread.id, studio.document.id
    until = datetime.now(UTC) + timedelta(hours=1)
    match what:
        case "edit":
            edits(studio, f"{number}")
        case "edit for ben":
            edits(studio, f"{number}", studio.ben)
        case "suggest" | "edit mode":
            thread_mode_set(actor=ana, thread=thread, mode=what.partition(" ")[0])
        case "propose policy" | "direct policy":
            document_policy_set(actor=ana, document=document, policy=what.partition(" ")[0], thread=thread)
        case "allow" | "deny":
            delegation_give(actor=ana, thread=thread, level=what, until=until)
        case "end":
            delegation_end(actor=ana, thread=thread)
        case "ben views" | "ben edits":
            role = Role.VIEWER if what == "ben views" else Role.EDITOR
            member_role_set(actor=ana, workspace=studio.workspace.id, user=studio.ben.id, role=role)
        case "accept":
            for proposal in studio.document.proposals.filter(state="open")[:1]:
                proposal_accept(actor=ana, proposal=proposal.id)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEP, min_size=4, max_size=10))
def test_what_the_record_says_of_every_step_is_what_was_decided_at_it(studio, steps):
    """Modes, policies and delegations as well as grants: each asked about again when all of them are over."""
    with transaction.atomic():
        live = []
        for number, what in enumerate(steps):
            with suppress(PermissionsError, CollabError):
                step(studio, what, number)
                live.append((Moment(datetime.now(UTC), _epoch(studio)), _head(studio) + 1, _said(studio)))
        for moment, seq, said in live:
            assert _recorded(studio, moment, seq) == said
        assert not [str(event) for event, level in explained_events(studio).values() if level < needed(event)]
        transaction.set_rollback(True)


def _said(studio: Studio) -> list[str]:
    document = Document.objects.get(pk=studio.document.id)
    actors = [studio.robin.acting_for(someone, studio.thread) for someone in (studio.ana, studio.ben)]
    return [explained(actor, CHANGE, document, studio.thread).decision.because for actor in actors]


def _recorded(studio: Studio, moment: Moment, seq: int) -> list[str]:
    actors = [studio.robin.acting_for(someone, studio.thread) for someone in (studio.ana, studio.ben)]
    found = [explained_at(actor, CHANGE, studio.document, moment, studio.thread, seq=seq) for actor in actors]
    return [explanation.decision.because for explanation in found]


def _epoch(studio: Studio) -> int:
    studio.workspace.refresh_from_db()
    return studio.workspace.grants_epoch


def _head(studio: Studio) -> int:
    studio.thread.refresh_from_db()
    return studio.thread.head_seq


def test_without_a_thread_it_says_that_its_mode_is_not_known(studio):
    actor = studio.robin.acting_for(studio.ana, studio.thread)
    found = explained_at(actor, CHANGE, studio.document, Moment(datetime.now(UTC)))
    assert "no thread is named" in found.unknown[-1]
