"""Whatever a model calls in a webhook's turn, it writes nothing but proposals and pending actions, none of them beyond
the rights of who owns what the webhook is about; and with that owner's yes, no more than they could do by hand
(FAILURES 5.1, Ceiling property; promises 2, 3 and 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agents.models.actions import PendingAction
from agents.models.sources import Route
from agents.models.turns import Turn
from agents.turns import sweep
from collab.log import verify
from collab.models.proposals import Proposal
from permissions.actors import Source
from permissions.roles import START_TURN
from permissions.services import grant_give
from tests.attacks.evil import EvilModel, Move, works
from tests.attacks.grammar import NAMES, OUTWARD, arguments, every_id
from tests.attacks.outside import TABLE, Outside
from tests.support.cast import Someone, Studio, someone
from tests.support.senders import sets
from tests.support.world import World, added, changed, kept, world

pytestmark = pytest.mark.django_db(transaction=True)

CHANGES, PROPOSES, NEITHER = "changes", "proposes", "neither"
EXAMPLES = 5
TALK = {
    "collab_thread", "collab_event", "collab_message", "agents_turn", "agents_call", "agents_question",
    "agents_summary", "collab_searched", "agents_replycount", "agents_delivery",
}  # fmt: skip
"""What any delivery and its turn write: what was said, called and asked, where it is found, and counts of rulings."""

ON_TIME = {"set_timer", "cancel_timer"}
ON_DOCUMENTS = {"create_document", "edit_document", "archive_document"}


@dataclass(frozen=True, slots=True)
class Case:
    """Who owns what the webhook is about; the most that comes of it before their yes, and after it; whether they may
    use the tools that act on the world."""

    owner: str
    before: str
    after: str
    outward: bool


CASES = (
    Case("editor", PROPOSES, CHANGES, outward=True),
    Case("superuser", PROPOSES, CHANGES, outward=True),
    Case("contributor", PROPOSES, PROPOSES, outward=False),
    Case("viewer", NEITHER, NEITHER, outward=False),
    Case("no one", PROPOSES, NEITHER, outward=False),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"owned by {case.owner}")
def test_a_webhooks_turn_only_proposes_and_asks(outside: Outside, evil: EvilModel, case: Case) -> None:
    owner = _staged(outside, case)
    calls = st.one_of(st.tuples(NAMES, arguments(every_id())), OUTWARD, OUTWARD)

    @settings(
        max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True,
        phases=[Phase.generate],
    )  # fmt: skip
    @given(calls=st.lists(calls, min_size=1, max_size=6))
    def attacked(calls: list[tuple[str, Any]]) -> None:
        _within(outside, evil, case, owner, calls)

    attacked()
    deeds = outside.deeds
    proposed, asked = _within(
        outside, evil, case, owner, [("create_document", {"title": "Menu", "text": "Soup."}), ("reserve_table", TABLE)]
    )
    assert (proposed, asked) == (case.before == PROPOSES, case.outward), "refusing everything is no way out"
    assert outside.deeds == [*deeds, *(["reserve"] if case.outward else [])]
    assert verify(outside.studio.thread.id) is None


def _within(
    outside: Outside, evil: EvilModel, case: Case, owner: Someone | None, calls: list[tuple[str, Any]]
) -> tuple[bool, bool]:
    """Have the restaurant ask for a turn in which the model makes these calls, and its owner approve what is then asked
    of them. Say whether something was proposed, and whether something was asked."""
    before, deeds = world(without=TALK), outside.deeds
    evil.moves.clear()
    evil.will(Move(calls=calls))
    assert outside.offers("Do it.").status_code == 202
    turn = works(outside.studio.thread)
    assert turn.origin == Source(outside.row.id, owner.id if owner else None)
    _assert_only_asked(case, turn, before, world(without=TALK))
    assert outside.deeds == deeds
    if turn.status == "paused":
        sweep._end_unanswered(turn)  # otherwise the next delivery would wait for the answer
    action = PendingAction.objects.filter(turn=turn).first()
    if action is not None:
        assert owner is not None
        asked = world(without=TALK)
        outside.approved(owner)
        _assert_as_by_hand(case, asked, world(without=TALK))
        assert case.outward or outside.deeds == deeds
    return Proposal.objects.filter(turn_id=turn.id).exists(), action is not None


def _assert_only_asked(case: Case, turn: Turn, before: World, after: World) -> None:
    assert turn.status in {"completed", "paused"}, f"{turn.reason}: {turn.because}"
    assert changed(before, after) <= {"collab_proposal", "agents_pendingaction"}
    assert kept(before, after, "collab_proposal")
    assert case.before == PROPOSES or not added(before, after, "collab_proposal")
    for proposal in Proposal.objects.filter(pk__in=added(before, after, "collab_proposal")):
        assert (proposal.workspace_id, proposal.turn_id, proposal.state) == (turn.thread.workspace_id, turn.id, "open")
    for action in PendingAction.objects.filter(pk__in=added(before, after, "agents_pendingaction")):
        assert (action.state, action.addressee.id) == ("open", turn.origin.owner)
        tools = {step["tool"] for step in action.steps}
        assert case.outward or tools <= ON_TIME | ON_DOCUMENTS


def _assert_as_by_hand(case: Case, before: World, after: World) -> None:
    """A yes gives what its giver could do themselves, and nothing that is not a document, a proposal or a timer."""
    may = {"agents_pendingaction", "agents_timer", "agents_route", "collab_follow"}
    may |= {"collab_proposal"} if case.after != NEITHER else set()
    may |= {"collab_document", "collab_revision"} if case.after == CHANGES else set()
    assert changed(before, after) <= may


def _staged(outside: Outside, case: Case) -> Someone | None:
    """Make reservation R1 its owner's, with a timer of Ana's in the thread, and return the owner."""
    sets(outside.studio.ana, outside.studio.thread)
    owner = _owner(outside.studio, case.owner)
    Route.objects.update(owner=owner.actor if owner else None)
    return owner


def _owner(studio: Studio, who: str) -> Someone | None:
    match who:
        case "editor":
            return studio.ben
        case "viewer":
            grant_give(by=studio.ana.actor, holder=studio.vera.user, codename=START_TURN, obj=studio.thread)
            return studio.vera
        case "contributor":
            found = someone("Cleo")
            for codename in ("view", "comment", "start_turn", "propose_document"):
                grant_give(by=studio.ana.actor, holder=found.user, codename=codename, obj=studio.workspace)
            return found
        case "superuser":
            found = someone("Chief")
            found.user.is_superuser = True
            found.user.save()
            return found
    return None
