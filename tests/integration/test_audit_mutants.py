"""The audit has teeth: with a rule of the code taken away, what the code then writes is a violation that names it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.conf import settings

from agents.models.turns import Call, Turn
from agents.turns import ending, inflight, lease, plan, start
from agents.turns.start import start_next
from collab.patches import apply_edits
from collab.services import documents, proposals, redrafts
from collab.services.documents import document_edit
from collab.services.proposals import proposal_accept
from collab.services.redrafts import edited, redrafted
from collab.services.threads import thread_mode_set
from collab.services.workspaces import agent_enable, member_role_set
from permissions import gate
from permissions.actors import Agent
from permissions.decisions import Decision, Level, decide
from permissions.resolving import may_resolve
from permissions.roles import Role
from tests.support.audited import broken
from tests.support.cast import Studio
from tests.support.tools import text_group
from tests.support.turns import posts
from tests.support.worked import Worker, edit

pytestmark = pytest.mark.corrupts

Patch = pytest.MonkeyPatch


def test_without_the_cut_a_turn_starts_with_what_another_wrote(studio: Studio, monkeypatch: Patch):
    monkeypatch.setattr(plan, "joinable", lambda waiting, author: tuple(waiting))
    posts(studio.ana, studio.thread, "one")
    posts(studio.ben, studio.thread, "two")
    Worker.begins(studio)
    assert broken() == {"INV1", "INV3"}


def test_without_the_cut_what_another_wrote_joins_a_running_turn(studio: Studio, monkeypatch: Patch):
    monkeypatch.setattr(inflight, "joinable", lambda waiting, author: tuple(waiting))
    posts(studio.ana, studio.thread, "one")
    robin = Worker.begins(studio)
    posts(studio.ben, studio.thread, "two")
    robin.steps("list_documents")
    assert broken() == {"INV1"}


def test_without_the_order_of_the_log_a_turn_takes_the_newest_first(studio: Studio, monkeypatch: Patch):
    monkeypatch.setattr(start, "plan", lambda waiting, *more: plan.plan(waiting[-1:], *more))
    for text in ("one", "two"):
        posts(studio.ana, studio.thread, text)
    Worker.begins(studio)
    assert broken() == {"INV3"}


def test_what_a_turn_leaves_waiting_is_taken_twice(studio: Studio, monkeypatch: Patch):
    monkeypatch.setattr(start, "take", lambda messages, ids, **_: [one for one in messages if one.id in ids])
    posts(studio.ana, studio.thread, "one")
    Worker.begins(studio).steps("list_documents")
    assert broken() == {"INV2", "INV3"}


def test_without_fencing_a_process_that_was_away_writes_after_its_turn(studio: Studio, monkeypatch: Patch, clock):
    posts(studio.ana, studio.thread, "one")
    late = Worker.begins(studio)
    clock(settings.ACCORD_LEASE_SECONDS + 1)
    Worker.begins(studio)
    monkeypatch.setattr(lease, "fence", lambda locked, turn: None)
    late.calls("edit_document", **edit("900", "950"))
    assert broken() == {"INV4"}
    late.ends()
    assert {"INV4", "INV15"} <= broken()


def test_a_turn_that_is_left_without_being_ended_runs_beside_the_next(studio: Studio, monkeypatch: Patch, clock):
    posts(studio.ana, studio.thread, "one")
    Worker.begins(studio)
    clock(settings.ACCORD_LEASE_SECONDS + 1)
    monkeypatch.setattr(ending, "end_unfinished", _ends_the_row_alone)
    Worker.begins(studio)
    assert "INV4" in broken()


def test_a_call_that_an_abandoned_turn_sent_is_not_forgotten(studio: Studio, monkeypatch: Patch, clock):
    posts(studio.ana, studio.thread, "one")
    Worker.begins(studio).sends(text_group)
    clock(settings.ACCORD_LEASE_SECONDS + 1)
    monkeypatch.setattr(Call.objects, "filter", lambda *_, **__: Call.objects.none())
    start_next(studio.thread.id)
    monkeypatch.undo()
    assert broken() == {"INV15"}


def test_without_the_agents_cap_it_does_what_it_was_not_granted(studio: Studio, monkeypatch: Patch):
    posts(studio.ana, studio.thread, "one")
    robin = Worker.begins(studio)
    agent_enable(actor=studio.ana.actor, workspace=studio.workspace.id, agent_account=studio.robin.id, role=Role.VIEWER)
    monkeypatch.setattr(gate, "decide", _as_the_person)
    monkeypatch.setattr(gate, "facts", lambda actor, obj, facts=gate.facts, **more: facts(_behind(actor), obj, **more))
    robin.calls("edit_document", **edit("900", "950"))
    assert broken() == {"INV5"}


def test_rights_that_are_kept_outlive_the_grant(studio: Studio, monkeypatch: Patch):
    kept = gate.facts(studio.ben.actor, studio.document)
    member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
    monkeypatch.setattr(gate, "facts", lambda actor, obj, **_: kept)
    _edits(studio)
    assert broken() == {"INV5"}


def test_without_the_check_a_viewer_posts(studio: Studio, monkeypatch: Patch):
    monkeypatch.setattr(gate, "decide", lambda *_: Decision(Level.ALLOW, ""))
    posts(studio.vera, studio.thread, "me too")
    assert broken() == {"INV5"}


def test_without_suggest_mode_an_agent_changes_what_it_should_suggest(studio: Studio, monkeypatch: Patch):
    thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
    monkeypatch.setattr(documents, "lowerings", lambda *_: [])
    posts(studio.ana, studio.thread, "one")
    Worker.begins(studio).calls("edit_document", **edit("900", "950"))
    assert broken() == {"INV5"}


def test_without_may_resolve_somebody_accepts_their_own(studio: Studio, monkeypatch: Patch):
    allowed = may_resolve(studio.ana.actor, studio.ben.actor, {})
    monkeypatch.setattr(proposals, "may_resolve", lambda *_: allowed)
    suggested = _edits(studio, propose=True).proposal
    assert suggested is not None
    proposal_accept(actor=studio.ben.actor, proposal=suggested.id)
    assert broken() == {"INV8"}


def test_what_is_accepted_is_what_was_proposed_and_no_more(studio: Studio, monkeypatch: Patch):
    suggested = _edits(studio, propose=True).proposal
    assert suggested is not None
    monkeypatch.setattr(proposals, "redrafted", lambda row: replace(redrafted(row), data={"text": "Budget: 9"}))
    proposal_accept(actor=studio.ana.actor, proposal=suggested.id)
    assert broken() == {"INV8"}


def test_without_the_rebase_what_is_accepted_undoes_what_others_wrote_since(studio: Studio, monkeypatch: Patch):
    suggested = _edits(studio, propose=True).proposal
    assert suggested is not None
    _edits(studio, edits=[{"append": "Bring flowers."}])
    monkeypatch.setattr(redrafts, "rebase", lambda kind, base, theirs, edits: apply_edits(kind, base, edits))
    proposal_accept(actor=studio.ana.actor, proposal=suggested.id)
    assert broken() == {"INV8"}


def test_what_a_resolver_edited_is_what_is_made(studio: Studio, monkeypatch: Patch):
    suggested = _edits(studio, propose=True).proposal
    assert suggested is not None
    monkeypatch.setattr(
        proposals, "edited", lambda draft, **more: (replace(draft, title="Mine"), edited(draft, **more)[1])
    )
    proposal_accept(actor=studio.ana.actor, proposal=suggested.id, text="Budget: 970")
    assert broken() == {"INV8"}


def _edits(studio: Studio, **more):
    more.setdefault("edits", [{"find": "900", "replace": "950"}])
    return document_edit(actor=studio.ben.actor, document=studio.document.id, thread=studio.thread.id, **more)


def _behind(actor):
    return actor.on_behalf_of if isinstance(actor, Agent) else actor


def _as_the_person(actor, action, facts):
    return decide(_behind(actor), action, facts)


def _ends_the_row_alone(locked, turn, **_):
    Turn.objects.filter(pk=turn.pk).update(status="failed")
