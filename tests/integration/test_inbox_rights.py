"""What is in someone's inbox is exactly what the single check lets them do, whatever they hold (DESIGN 5, 11)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models.turns import Call, Question, Turn
from agents.waiting import questions_for
from collab import inbox
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Thread
from collab.services.proposals import acceptance, may_withdraw
from collab.waiting import proposals_for, proposals_of
from permissions.actors import Actor, Agent, Client, Person, Source
from permissions.decisions import AccountKind, Action, Level
from permissions.gate import decide_on
from permissions.grants import grant_models
from permissions.ids import new_id
from permissions.models import Guarded, User
from permissions.resolvable import not_resolved_by, proposed_for
from permissions.resolving import may_resolve
from tests.support.permitted import account, place, team

pytestmark = [pytest.mark.django_db, pytest.mark.corrupts]

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
CODENAMES = ("view", "start_turn", "propose_document", "change_document", "review_document", "comment")
SPOTS = ("workspace", "thread", "other thread", "document", "other document")
HOLDERS = ("ben", "team", "elsewhere")

Held = dict[tuple[str, str, str], bool]
"""Who holds what on what, and whether only until yesterday."""

grants = st.dictionaries(
    st.tuples(st.sampled_from(HOLDERS), st.sampled_from(SPOTS), st.sampled_from(CODENAMES)),
    st.integers(0, 5).map(lambda number: number == 5),
    max_size=14,
)


@dataclass(frozen=True)
class World:
    """One workspace with everything that anyone can propose in it, and Ben, about whom it is asked."""

    spots: dict[str, Guarded]
    holders: dict[str, User | Group]
    ben: User

    @property
    def reader(self) -> Person:
        return Person(self.ben.pk)


@pytest.fixture
def here(db: None) -> World:
    made = place()
    other = Thread.objects.create(workspace=made.workspace, title="Budget")
    another = Document.objects.create(workspace=made.workspace, title="Menu", kind="markdown", data={})
    archived = Thread.objects.create(workspace=made.workspace, title="Old", archived_at=NOW)
    ben, ana = account("Ben"), account("Ana")
    robin, desk = account("Robin", AccountKind.AGENT), account("Desk", AccountKind.CLIENT)
    for thread in (made.thread, other):
        for proposer in _actors(thread, ben, ana, robin, desk):
            for document in (None, made.document, another):
                _proposal(thread, document, proposer)
    _proposal(archived, made.document, Person(ana.pk))
    for thread in (made.thread, other, archived):
        _question(thread, robin)
    spots = dict(zip(SPOTS, (made.workspace, made.thread, other, made.document, another), strict=True))
    holders: dict[str, User | Group] = {"ben": ben, "team": team("Team", ben), "elsewhere": account("Vera")}
    return World(spots, holders, ben)


def _actors(thread: Thread, ben: User, ana: User, robin: User, desk: User) -> list[Actor]:
    clients = [Client(desk.pk), Client(desk.pk, ben.pk)]
    agents = [Agent(robin.pk, thread.pk, principal) for principal in (None, Person(ben.pk), *clients)]
    return [Person(ben.pk), Person(ana.pk), *clients, *agents, Source(new_id(), ben.pk)]


def _proposal(thread: Thread, document: Document | None, proposer: Actor, **more: object) -> Proposal:
    return Proposal.objects.create(
        workspace_id=thread.workspace_id, thread=thread, seq=1, document=document, kind="markdown", title="Menu",
        change="create" if document is None else "edit", edits=[], data={}, proposer=proposer, proposed_at=NOW, **more,
    )  # fmt: skip


def _question(thread: Thread, robin: User) -> None:
    for number, status in enumerate((Turn.Status.PAUSED, Turn.Status.COMPLETED), 1):
        turn = Turn.objects.create(
            thread=thread, number=number, seq=1, trigger="message", origin=Source(new_id()), agent_id=robin.pk,
            root_id=new_id(), status=status, lease_epoch=1, started_at=NOW,
        )  # fmt: skip
        for call_number, dismissed in enumerate((False, True)):
            call = Call.objects.create(
                turn=turn, step=1, number=call_number, tool="ask_person", called_as="ask_person", args="{}",
                key=str(new_id()), effect="none", model_call_id="c", sent_at=NOW,
            )  # fmt: skip
            Question.objects.create(turn=turn, call=call, seq=1, text="Which?", asked_at=NOW, dismissed=dismissed)


@contextmanager
def holding(world: World, held: Held) -> Iterator[None]:
    """Have everyone hold these grants."""
    with transaction.atomic():
        for (holder, spot, codename), expired in held.items():
            ends = {"expires_at": datetime.now(UTC) - timedelta(days=1)} if expired else {}
            _give(world, holder, spot, codename, **ends)
        yield
        transaction.set_rollback(True)


def _give(world: World, holder: str, spot: str, codename: str, **more: object) -> None:
    on, whom = world.spots[spot], world.holders[holder]
    users, groups = grant_models(type(on))
    kind = ContentType.objects.get_for_model(on)
    permission = Permission.objects.get(content_type=kind, codename=codename)
    model, name = (users, "user") if isinstance(whom, User) else (groups, "group")
    model._default_manager.create(permission=permission, content_object=on, **{name: whom}, **more)


def may(world: World, action: Action, on: Guarded) -> bool:
    return decide_on(world.reader, action, on).level is Level.ALLOW


def seen(world: World, proposal: Proposal) -> bool:
    document = proposal.document
    return may(world, Action.VIEW, proposal.thread) and (document is None or may(world, Action.VIEW, document))


def acceptable(world: World, proposal: Proposal) -> bool:
    """Say, by the single checks, whether Ben sees a proposal and may accept it."""
    settled = proposal.thread.archived_at is not None or proposal.state != Proposal.State.OPEN
    return not settled and seen(world, proposal) and acceptance(world.reader, proposal).ok


examples = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@examples
@given(held=grants)
def test_proposals_are_those_that_the_single_check_lets_one_accept(here: World, held: Held) -> None:
    with holding(here, held):
        every = list(Proposal.objects.select_related("thread", "document", "workspace"))
        expected = {proposal.pk for proposal in every if acceptable(here, proposal)}
        listed = inbox.page_of(here.reader, size=1000).sections
        found = {row.id for section in listed if section.kind.name == "proposal" for row in section.waiting}
        assert found == expected
        assert set(proposals_for(here.reader).values_list("pk", flat=True)) == expected


@examples
@given(held=grants)
def test_what_waits_for_others_is_ones_own_that_one_may_see_and_not_accept(here: World, held: Held) -> None:
    with holding(here, held):
        every = Proposal.objects.filter(thread__archived_at=None).select_related("thread", "document", "workspace")
        own = {row.pk for row in every if may_withdraw(here.reader, row.proposer) and seen(here, row)}
        found = set(proposals_of(here.reader).values_list("pk", flat=True))
        assert found == own - set(proposals_for(here.reader).values_list("pk", flat=True))


@examples
@given(held=grants)
def test_questions_are_those_of_paused_turns_where_one_may_start_turns(here: World, held: Held) -> None:
    with holding(here, held):
        threads = {
            thread.pk
            for thread in Thread.objects.filter(archived_at=None)
            if may(here, Action.VIEW, thread) and may(here, Action.START_TURN, thread)
        }
        opened = Question.objects.filter(dismissed=False, turn__status="paused", turn__thread__in=threads)
        assert set(questions_for(here.reader)) == set(opened)


@examples
@given(held=grants)
def test_the_count_is_the_length_of_the_lists(here: World, held: Held) -> None:
    with holding(here, held):
        counted = inbox.counted(here.reader)
        rows = [
            row
            for section in inbox.page_of(here.reader, size=1000).sections
            if not section.kind.for_others
            for row in section.waiting
        ]
        assert counted.total == len(rows)
        assert counted.threads == {row.thread: sum(row.thread == one.thread for one in rows) for row in rows}


def test_a_superuser_may_accept_all_but_their_own(here: World) -> None:
    User.objects.filter(pk=here.ben.pk).update(is_superuser=True)
    every = Proposal.objects.select_related("thread", "document", "workspace")
    expected = {proposal.pk for proposal in every if acceptable(here, proposal)}
    assert expected
    assert set(proposals_for(here.reader).values_list("pk", flat=True)) == expected


def test_nobody_inactive_has_anything_in_their_inbox(here: World) -> None:
    with holding(here, {("ben", "workspace", codename): False for codename in CODENAMES}):
        assert inbox.counted(here.reader).total > 0
        User.objects.filter(pk=here.ben.pk).update(is_active=False)
        assert inbox.counted(here.reader).total == 0


def test_the_conditions_on_proposers_say_of_every_actor_what_the_pure_rule_says(here: World) -> None:
    for proposal in Proposal.objects.all():
        one = Proposal.objects.filter(pk=proposal.pk)
        allowed = may_resolve(here.reader, proposal.proposer, {}).allowed
        assert one.filter(not_resolved_by(here.reader, "proposer")).exists() is not allowed
        assert one.filter(proposed_for(here.reader, "proposer")).exists() is may_withdraw(
            here.reader, proposal.proposer
        )


def test_what_is_settled_waits_for_nobody(here: World) -> None:
    with holding(here, {("ben", "workspace", codename): False for codename in CODENAMES}):
        Proposal.objects.update(state="rejected", resolver=here.reader, resolved_at=NOW)
        Question.objects.update(answered_at=NOW)
        assert inbox.page_of(here.reader) == inbox.Page([], None)
