"""Whatever a model calls, effects stay within what the author could do by hand and what the agent was granted.

The grammar knows every id there is, which is more than any model learns, and mixes honest arguments with wrong ones.
What is allowed is written down here once more, by hand, and not asked of the code that is tested (FAILURES 5.1).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models.turns import Turn
from agents.tools.registry import TOOLS
from agents.turns import sweep
from collab.log import verify
from collab.models.documents import Document, Revision
from collab.models.proposals import Proposal
from collab.services.documents import document_create, document_edit
from collab.services.threads import thread_mode_set
from collab.services.workspaces import agent_enable, workspace_create
from permissions.actors import Actor, System
from permissions.roles import START_TURN, Role
from permissions.services import grant_give
from tests.attacks.evil import EvilModel, Move, asks, works
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

NAMES = st.one_of(
    st.sampled_from([*TOOLS, *TOOLS]),
    st.sampled_from(["proposal_accept", "grant_give", "propose_change", "member_add", "sql", ""]),
    st.text(max_size=20),
)
SHORT = st.text(max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | SHORT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SHORT, inner, max_size=3),
    max_leaves=6,
)
PASSAGES = st.sampled_from(["900", "Dinner", "# Launch plan", "12", "\n", "not there"]) | SHORT
PATHS = st.sampled_from(["", "/text", "/items", "/items/0", "/items/-", "/items/0/text", "/~2", "/workspace", "x"])
EDITS = st.one_of(
    st.fixed_dictionaries({"find": PASSAGES, "replace": SHORT}),
    st.fixed_dictionaries({"after": PASSAGES, "insert": SHORT}),
    st.fixed_dictionaries({"append": SHORT}),
    st.fixed_dictionaries({"check": st.sampled_from(["Mara", "Ida"]) | SHORT}),
    st.fixed_dictionaries({"add_item": SHORT}),
    st.fixed_dictionaries({"remove_item": st.sampled_from(["Mara", "Ida"])}),
    st.fixed_dictionaries({"rename_item": st.sampled_from(["Mara", "Ida"]), "to": SHORT}),
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]), "path": PATHS},
        optional={"from": PATHS, "value": JSON},
    ),
    JSON,
)


def arguments(ids: list[str]) -> st.SearchStrategy[Any]:
    """Return arguments for any tool, about any of these ids."""
    reference = st.sampled_from([*ids, "Launch plan", "Guest list", "Secret", "launch PLAN "]) | SHORT
    named = st.fixed_dictionaries(
        {},
        optional={
            "document": reference,
            "edits": st.lists(EDITS, max_size=3),
            "version": st.integers(-1, 4) | JSON,
            "title": SHORT,
            "text": SHORT,
            "kind": st.sampled_from(["markdown", "checklist", "sheet"]),
            "rationale": SHORT,
            "question": SHORT,
            "choices": st.lists(SHORT, max_size=3),
            "on_behalf_of": reference,
            "thread": reference,
        },
    )
    fitting = st.one_of(
        st.fixed_dictionaries({"document": reference, "edits": st.lists(EDITS, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"document": reference}),
        st.fixed_dictionaries({"title": SHORT, "text": SHORT}),
    )
    return st.one_of(fitting, fitting, named, JSON).map(json.dumps) | SHORT


@pytest.mark.parametrize("mode", ["edit", "suggest"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.author} and an agent that is {case.agent.value}")
def test_effects_stay_within_what_author_and_agent_may(studio: Studio, evil: EvilModel, case: Case, mode: str) -> None:
    author = _staged(studio, case, mode)
    ids = _every_id()
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


def _every_id() -> list[str]:
    found = [key for rows in world().values() for key in rows]
    return [str(key) for key in found if len(str(key)) == 36] + [
        str(id) for id in Document.objects.values_list("id", flat=True)
    ] * 4
