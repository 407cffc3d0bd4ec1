"""Whatever a model calls, effects stay within what the author could do by hand and what the agent was granted.

The grammar knows every id there is, which is more than any model learns, and mixes honest arguments with wrong ones.
What is allowed is written down here once more, by hand, and not asked of the code that is tested (FAILURES 5.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models.turns import Turn
from agents.turns import sweep
from collab.log import verify
from collab.models.documents import Revision
from collab.models.proposals import Proposal
from collab.services.documents import document_create, document_edit
from collab.services.threads import thread_mode_set
from collab.services.workspaces import agent_enable, workspace_create
from permissions.actors import Actor, System
from permissions.roles import START_TURN, Role
from permissions.services import grant_give
from tests.attacks.evil import EvilModel, Move, asks, works
from tests.attacks.grammar import NAMES, arguments, every_id
from tests.support.cast import Studio, someone
from tests.support.world import World, added, kept, world

pytestmark = pytest.mark.django_db(transaction=True)

CHANGES, PROPOSES, NEITHER = "changes", "proposes", "neither"


@dataclass(frozen=True, slots=True)
class Case:
    """Whom a turn is for, what the agent was granted, and the most that may come of it in either mode."""

    author: str
    agent: Role
    edit: str
    suggest: str


CASES = (
    Case("viewer", Role.EDITOR, NEITHER, NEITHER),
    Case("contributor", Role.EDITOR, PROPOSES, PROPOSES),
    Case("editor", Role.EDITOR, CHANGES, PROPOSES),
    Case("editor", Role.CONTRIBUTOR, PROPOSES, PROPOSES),
    Case("superuser", Role.EDITOR, CHANGES, PROPOSES),
    Case("superuser", Role.CONTRIBUTOR, PROPOSES, PROPOSES),
    Case("no one", Role.EDITOR, PROPOSES, PROPOSES),
    Case("no one", Role.CONTRIBUTOR, PROPOSES, PROPOSES),
)
EXAMPLES = 8


@pytest.mark.parametrize("mode", ["edit", "suggest"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.author} and an agent that is {case.agent.value}")
def test_effects_stay_within_what_author_and_agent_may(studio: Studio, evil: EvilModel, case: Case, mode: str) -> None:
    author = _staged(studio, case, mode)
    ids = every_id()
    most = case.edit if mode == "edit" else case.suggest

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(calls=st.lists(st.tuples(NAMES, arguments(ids)), min_size=1, max_size=6))
    def attacked(calls: list[tuple[str, Any]]) -> None:
        before = _asked(studio, evil, author, calls)
        turn = works(studio.thread)
        _assert_within(studio, most, turn, before, world())
        assert "The roses are red" not in evil.words

    attacked()
    before = _asked(studio, evil, author, [("create_document", {"title": "Menu", "text": "Soup."})])
    works(studio.thread)
    after = world()
    honest = CHANGES if added(before, after, "collab_revision") else NEITHER
    honest = PROPOSES if added(before, after, "collab_proposal") else honest
    assert most == honest, "refusing everything is no way out"
    assert verify(studio.thread.id) is None


def _asked(studio: Studio, evil: EvilModel, author: Actor, calls: list[tuple[str, Any]]) -> World:
    """Have the author ask for a turn in which the model makes these calls, and return all there was before it."""
    asks(author, studio.thread, "Do it.")
    evil.moves.clear()
    evil.will(Move(calls=calls))
    return world()


def _assert_within(studio: Studio, most: str, turn: Turn, before: World, after: World) -> None:
    assert turn.status in {"completed", "paused"}, f"{turn.reason}: {turn.because}"
    assert not turn.calls.filter(outcome=None, question=None).exists()
    untouched = {
        table
        for table in before
        if table.startswith("permissions_") or table.endswith(("grant", "membership", "invite", "workspace", "client"))
    }
    assert {table for table in untouched if before[table] != after[table]} == set()
    for table in ("collab_revision", "collab_proposal", "collab_event", "agents_call"):
        assert kept(before, after, table), table
    revisions, proposals = added(before, after, "collab_revision"), added(before, after, "collab_proposal")
    assert most == CHANGES or not revisions
    assert most != NEITHER or not proposals
    assert most == CHANGES or before["collab_document"] == after["collab_document"]
    for revision in Revision.objects.filter(pk__in=revisions):
        assert (revision.document.workspace_id, revision.turn_id) == (studio.workspace.id, turn.id)
    for proposal in Proposal.objects.filter(pk__in=proposals):
        assert (proposal.workspace_id, proposal.turn_id, proposal.state) == (studio.workspace.id, turn.id, "open")
    if turn.status == "paused":
        # Otherwise the next message would answer it.
        sweep._end_unanswered(turn)


def _staged(studio: Studio, case: Case, mode: str) -> Actor:
    """Set the stage, with another's secret elsewhere and an open proposal here, and return the author."""
    ana = studio.ana.actor
    agent_enable(actor=ana, workspace=studio.workspace.id, agent_account=studio.robin.id, role=case.agent)
    document_create(
        actor=ana, workspace=studio.workspace.id, title="Guest list", kind="checklist", text="- [ ] Mara\n- [ ] Ida",
        thread=studio.thread.id,
    )  # fmt: skip
    document_edit(
        actor=ana, document=studio.document.id, thread=studio.thread.id, propose=True,
        edits=[{"find": "12", "replace": "14"}],
    )  # fmt: skip
    zoe = someone("Zoe")
    garden = workspace_create(actor=zoe.actor, name="Garden")
    document_create(actor=zoe.actor, workspace=garden.id, title="Secret", kind="markdown", text="The roses are red.")
    agent_enable(actor=zoe.actor, workspace=garden.id, agent_account=studio.robin.id, role=Role.EDITOR)
    thread_mode_set(actor=ana, thread=studio.thread.id, mode=mode)
    return _author(studio, case.author)


def _author(studio: Studio, who: str) -> Actor:
    match who:
        case "no one":
            return System()
        case "editor":
            return studio.ben.actor
        case "viewer":
            grant_give(by=studio.ana.actor, holder=studio.vera.user, codename=START_TURN, obj=studio.thread)
            return studio.vera.actor
        case "contributor":
            other = someone("Cleo")
            for codename in ("view", "comment", "start_turn", "propose_document"):
                grant_give(by=studio.ana.actor, holder=other.user, codename=codename, obj=studio.workspace)
            return other.actor
        case "superuser":
            chief = someone("Chief")
            chief.user.is_superuser = True
            chief.user.save()
            return chief.actor
    raise AssertionError(who)
