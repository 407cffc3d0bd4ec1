"""A compromised model that hides an operation behind a harmless change (FAILURES 5.2, attack 15; promise 5)."""

from __future__ import annotations

from typing import Any

import pytest

from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.workspaces import Workspace
from collab.services.proposals import proposal_accept
from collab.services.threads import thread_mode_set
from permissions.errors import NotFound
from permissions.models import GrantChange
from tests.attacks.evil import EvilModel, edit, told, works
from tests.support.cast import Studio
from tests.support.reading import state_of, text_of
from tests.support.turns import posts

pytestmark = pytest.mark.django_db(transaction=True)

HARMLESS: dict[str, Any] = {"find": "900", "replace": "905"}
HIDDEN: list[dict[str, Any]] = [
    {**HARMLESS, "grants": [{"holder": "robin", "codename": "manage"}]},
    {**HARMLESS, "write_policy": "direct"},
    {"grant": "manage", "to": "robin"},
    {"mode": "edit"},
]


@pytest.mark.parametrize("operation", HIDDEN, ids=["grants", "policy", "a grant alone", "the mode"])
def test_attack_15_an_operation_on_anything_but_the_document_is_refused_before_it_is_proposed(
    studio: Studio, evil: EvilModel, operation: dict[str, Any]
) -> None:
    thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
    granted = GrantChange.objects.count()
    evil.calls("edit_document", {"document": "Launch plan", "edits": [HARMLESS, operation]})
    posts(studio.ana, studio.thread, "Raise the budget a little.")
    assert told(works(studio.thread)) == [("edit_document", "refused", "argument_schema")]
    assert (Proposal.objects.count(), GrantChange.objects.count()) == (0, granted)


@pytest.mark.corrupts
def test_attack_15_a_proposal_that_was_turned_to_another_workspace_is_not_accepted(
    studio: Studio, evil: EvilModel
) -> None:
    thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
    evil.calls("edit_document", edit("900", "905"))
    posts(studio.ana, studio.thread, "Raise the budget a little.")
    works(studio.thread)
    proposal = Proposal.objects.get()
    elsewhere = Workspace.objects.create(name="Elsewhere")
    Document.objects.filter(pk=studio.document.id).update(workspace=elsewhere)
    with pytest.raises(NotFound):
        proposal_accept(actor=studio.ben.actor, proposal=proposal.id)
    assert state_of(proposal) == "open"
    assert "900" in text_of(studio.document)
