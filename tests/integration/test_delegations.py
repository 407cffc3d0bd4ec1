"""Delegation in time: who gives it, what it makes of the agent's next write, and when it is over (decision 0013)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction

from collab import commands
from collab.errors import BadMoment, Gone, Invalid
from collab.models.delegations import Delegation
from collab.models.documents import Document
from collab.models.threads import Event
from collab.models.workspaces import Workspace
from collab.services.changes import Written
from collab.services.delegations import delegation_end, delegation_give
from collab.services.documents import document_create, document_edit
from collab.services.threads import thread_archive, thread_create, thread_mode_set
from collab.services.workspaces import agent_disable, agent_enable, member_add, member_role_set, workspace_create
from collab.web.items import thread_items
from permissions.actors import Actor
from permissions.clock import AccordNow
from permissions.decisions import Action, Level
from permissions.errors import MoreThanOwn, NotFound, Refused
from permissions.gate import decide_on
from permissions.roles import Role
from permissions.services import grant_give
from tests.support.audited import broken
from tests.support.cast import Desk, Someone, Studio
from tests.support.tampering import Tampered
from tests.support.turns import posts
from tests.support.worked import Worker, edit

HOUR = timedelta(hours=1)


def now() -> datetime:
    return Workspace.objects.annotate(now=AccordNow()).values_list("now", flat=True)[0]


def lets(studio: Studio, level: str, *, until: timedelta = HOUR, by: Someone | None = None, **more: Any) -> Delegation:
    actor = (by or studio.ana).actor
    return delegation_give(actor=actor, thread=studio.thread.id, level=level, until=now() + until, **more)


def robins(studio: Studio, role: Role | None) -> None:
    if role is None:
        agent_disable(actor=studio.ana.actor, workspace=studio.workspace.id, agent_account=studio.robin.id)
    else:
        agent_enable(actor=studio.ana.actor, workspace=studio.workspace.id, agent_account=studio.robin.id, role=role)


def edits(studio: Studio, *, actor: Actor | None = None, old: str = "900", new: str = "950") -> Written:
    return document_edit(
        actor=actor or studio.robin.acting_for(studio.ben, studio.thread), document=studio.document.id,
        edits=[{"find": old, "replace": new}],
    )  # fmt: skip


def test_an_agent_in_suggest_mode_edits_until_the_moment_and_then_suggests_again(studio, clock):
    thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
    lets(studio, "allow")
    assert edits(studio).version == 2
    clock(3601)
    assert edits(studio, old="950", new="990").proposal is not None


def test_an_agent_that_only_proposes_by_its_grants_edits_while_it_is_let(studio):
    robins(studio, Role.CONTRIBUTOR)
    lets(studio, "allow")
    assert edits(studio).version == 2
    delegation_end(actor=studio.ana.actor, thread=studio.thread.id)
    assert edits(studio, old="950", new="990").proposal is not None


def test_an_agent_that_may_not_view_the_document_is_let_do_nothing(studio):
    lets(studio, "allow")
    robins(studio, None)
    with pytest.raises(NotFound):
        edits(studio)


def test_a_delegation_lowers_and_refuses_in_a_sentence_that_names_it(studio):
    lets(studio, "propose")
    suggested = edits(studio)
    assert suggested.proposal is not None
    assert "by Ana's delegation, until" in suggested.because
    lets(studio, "deny")
    with pytest.raises(Refused, match="Robin may change no document in this thread by Ana's delegation, until"):
        edits(studio)


def test_a_documents_own_policy_holds_under_a_delegation(studio):
    Document.objects.filter(pk=studio.document.pk).update(write_policy="propose")
    lets(studio, "allow")
    assert edits(studio).proposal is not None


def test_the_person_the_turn_is_for_caps_what_is_delegated(studio):
    lets(studio, "allow")
    with pytest.raises(Refused, match="Vera may only view Launch plan"):
        edits(studio, actor=studio.robin.acting_for(studio.vera, studio.thread))


def test_it_holds_in_its_thread_only_and_for_no_person(studio):
    robins(studio, Role.CONTRIBUTOR)
    lets(studio, "allow")
    other = thread_create(
        actor=studio.ana.actor, workspace=studio.workspace.id, title="Other", agent_id=studio.robin.id
    )
    assert edits(studio, actor=studio.robin.acting_for(studio.ben, other)).proposal is not None
    lets(studio, "deny")
    assert edits(studio, actor=studio.ben.actor).version == 2


def test_it_reaches_no_document_of_another_workspace(studio):
    garden = workspace_create(actor=studio.ana.actor, name="Garden")
    agent_enable(actor=studio.ana.actor, workspace=garden.id, agent_account=studio.robin.id, role=Role.VIEWER)
    roses = document_create(actor=studio.ana.actor, workspace=garden.id, title="Roses", kind="markdown").document
    lets(studio, "allow")
    for_ana = studio.robin.acting_for(studio.ana, studio.thread)
    assert decide_on(for_ana, Action.CHANGE_DOCUMENT, roses).level is Level.DENY


def test_a_giver_who_lost_the_right_gives_nothing_any_more(studio):
    member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.OWNER)
    robins(studio, Role.CONTRIBUTOR)
    lets(studio, "allow", by=studio.ben)
    for_ana = studio.robin.acting_for(studio.ana, studio.thread)
    assert edits(studio, actor=for_ana).version == 2
    member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
    assert edits(studio, actor=for_ana, old="950", new="990").proposal is not None


def test_the_next_one_ends_the_one_before(studio):
    first = lets(studio, "allow")
    second = lets(studio, "propose", reason="It writes too fast.")
    first.refresh_from_db()
    assert (first.ended_by, first.ended_at) == (studio.ana.actor, second.given_at)
    changes = Event.objects.filter(thread=studio.thread, type="thread_changed").order_by("seq")
    assert [event.data for event in changes] == [
        '{"value":"allow","what":"delegation"}', '{"value":"propose","what":"delegation"}'
    ]  # fmt: skip
    delegation_end(actor=studio.ana.actor, thread=studio.thread.id)
    with pytest.raises(Gone, match="Nothing is delegated"):
        delegation_end(actor=studio.ana.actor, thread=studio.thread.id)


def test_what_is_over_by_the_clock_cannot_be_ended_and_can_be_given_again(studio, clock):
    lets(studio, "allow")
    clock(3601)
    with pytest.raises(Gone):
        delegation_end(actor=studio.ana.actor, thread=studio.thread.id)
    assert lets(studio, "allow").until > now()


def test_only_who_manages_the_thread_gives_and_ends_one(studio, zoe, desk: Desk):
    lets(studio, "allow")
    actors = [studio.ben.actor, studio.vera.actor, desk.acting_for(studio.ana)]
    grant_give(by=studio.ana.actor, holder=desk.user, codename="view", obj=studio.workspace)
    actors.append(studio.robin.acting_for(studio.ana, studio.thread))
    for actor in actors:
        for attempt in (delegation_end, lambda **who: delegation_give(**who, level="allow", until=now() + HOUR)):
            with pytest.raises(Refused, match=r"may not manage|may only view|only people manage"):
                attempt(actor=actor, thread=studio.thread.id)
    with pytest.raises(NotFound):
        lets(studio, "deny", by=zoe)
    assert Delegation.objects.filter(ended_at=None).get().level == "allow"


def test_nobody_lets_an_agent_do_more_than_they_may_themselves(studio, zoe):
    for codename in ("view", "manage"):
        grant_give(by=studio.ana.actor, holder=zoe.user, codename=codename, obj=studio.thread)
    for level in ("allow", "propose"):
        with pytest.raises(MoreThanOwn):
            lets(studio, level, by=zoe)
    assert lets(studio, "deny", by=zoe).level == "deny"


@pytest.mark.parametrize(
    "until", [timedelta(0), timedelta(seconds=-1), timedelta(days=30, seconds=5), timedelta(days=3000)]
)
def test_it_stands_for_some_time_and_at_most_thirty_days(studio, until):
    with pytest.raises(BadMoment):
        lets(studio, "allow", until=until)
    assert not Delegation.objects.exists()


@pytest.mark.parametrize("until", ["tomorrow", "2026-06-04T18:00", "0001-01-01T00:00:00+14:00", "1e400", "", None, []])
def test_a_moment_that_is_none_is_refused(studio, until):
    args = {"thread": str(studio.thread.id), "level": "allow", "until": until}
    with pytest.raises(Invalid):
        commands.run(studio.ana.actor, "delegation_give", uuid4().hex, args)


@pytest.mark.parametrize("offset", [14, -12])
def test_a_moment_at_the_ends_of_time_is_refused(studio, offset):
    zone = timezone(timedelta(hours=offset))
    for until in (datetime(1, 1, 1, tzinfo=zone), datetime(9999, 12, 31, 23, 59, tzinfo=zone)):
        with pytest.raises(BadMoment):
            delegation_give(actor=studio.ana.actor, thread=studio.thread.id, level="allow", until=until)
    nowhere = now().replace(tzinfo=None) + HOUR
    with pytest.raises(BadMoment, match="time zone"):
        delegation_give(actor=studio.ana.actor, thread=studio.thread.id, level="allow", until=nowhere)


def test_a_level_an_agent_or_a_reason_that_cannot_be_is_refused(studio):
    for wrong in ({"level": "rule"}, {"agent": studio.ben.id}, {"reason": "\0"}, {"reason": "x" * 3000}):
        with pytest.raises(Invalid):
            lets(studio, **{"level": "allow", **wrong})
    people_only = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="People")
    robins(studio, None)
    with pytest.raises(Invalid, match="not enabled"):
        lets(studio, "allow")
    thread_archive(actor=studio.ana.actor, thread=people_only.id, archived=True)
    with pytest.raises(Invalid, match="is archived"):
        delegation_give(actor=studio.ana.actor, thread=people_only.id, level="allow", until=now() + HOUR)


def test_everyone_in_the_thread_is_shown_it_while_it_stands(studio, clock, django_assert_num_queries):
    lets(studio, "allow", reason="The last hour before the launch.")
    with django_assert_num_queries(4):
        (item,) = thread_items(None, [studio.thread.id])
    told = item["delegation"]
    assert (told["level"], told["by"]["name"], told["reason"]) == ("allow", "Ana", "The last hour before the launch.")
    clock(3601)
    assert thread_items(None, [studio.thread.id])[0]["delegation"] is None


@pytest.mark.parametrize("stands", [False, True])
def test_a_decision_costs_no_query_for_it(studio, stands, django_assert_num_queries):
    if stands:
        lets(studio, "allow")
    for_ben = studio.robin.acting_for(studio.ben, studio.thread)
    with django_assert_num_queries(1):
        decide_on(for_ben, Action.CHANGE_DOCUMENT, studio.document)
    with transaction.atomic(), django_assert_num_queries(2):
        decide_on(for_ben, Action.CHANGE_DOCUMENT, studio.document, for_write=True)


def test_giving_and_ending_each_begin_an_epoch(studio):
    epochs = [Workspace.objects.get().grants_epoch]
    lets(studio, "allow")
    epochs.append(Workspace.objects.get().grants_epoch)
    delegation_end(actor=studio.ana.actor, thread=studio.thread.id)
    epochs.append(Workspace.objects.get().grants_epoch)
    assert epochs == [epochs[0], epochs[0] + 1, epochs[0] + 2]
    recorded = Event.objects.filter(thread=studio.thread, type="thread_changed").order_by("seq")
    assert [event.grants_epoch for event in recorded] == epochs[1:]


def test_a_running_turn_is_stopped_by_the_end_of_it_at_its_very_next_write(studio):
    robins(studio, Role.CONTRIBUTOR)
    lets(studio, "allow")
    posts(studio.ana, studio.thread, "raise the budget")
    worker = Worker.begins(studio)
    worker.steps("edit_document", **edit("900", "950"))
    delegation_end(actor=studio.ana.actor, thread=studio.thread.id)
    worker.steps("edit_document", **edit("950", "990"))
    assert [call.tool for call in worker.turn.calls.order_by("number")] == ["edit_document", "propose_change"]


@pytest.mark.corrupts
class TestTheAudit:
    def wrote(self, studio: Studio, level: str, role: Role, by: Someone | None = None) -> Tampered:
        robins(studio, role)
        lets(studio, level, by=by)
        posts(studio.ana, studio.thread, "raise the budget")
        worker = Worker.begins(studio)
        worker.calls("edit_document", **edit("900", "950"))
        return Tampered(studio, worker)

    def test_it_finds_nothing_wrong_with_what_was_delegated(self, studio):
        thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
        self.wrote(studio, "allow", Role.CONTRIBUTOR)
        assert studio.document.revisions.count() == 2
        assert broken() == set()

    def test_it_names_a_change_that_nobody_delegated(self, studio):
        thread = self.wrote(studio, "allow", Role.CONTRIBUTOR)
        thread.retells("thread_changed", value="ended")
        assert broken() == {"INV5"}

    def test_it_names_a_change_after_the_end_of_it(self, studio):
        self.wrote(studio, "allow", Role.CONTRIBUTOR)
        Delegation.objects.update(until="2020-01-01T00:00:00Z")
        assert broken() == {"INV5"}

    def test_it_names_a_change_that_was_forbidden(self, studio):
        thread = self.wrote(studio, "allow", Role.EDITOR)
        Delegation.objects.update(level="deny")
        thread.retells("thread_changed", value="deny")
        assert broken() == {"INV5"}

    def test_it_names_a_giver_who_did_not_give_it(self, studio):
        self.wrote(studio, "allow", Role.EDITOR)
        Delegation.objects.update(given_by=studio.ben.actor)
        assert broken() == {"INV5"}

    def test_it_names_what_a_giver_gave_who_could_not_do_as_much(self, studio):
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.OWNER)
        thread = self.wrote(studio, "allow", Role.CONTRIBUTOR, by=studio.ben)
        Delegation.objects.update(given_by=studio.vera.actor)
        thread.rewrites("thread_changed", actor=studio.vera.actor)
        assert broken() == {"INV5"}


@pytest.mark.django_db(transaction=True)
def test_a_write_that_comes_after_the_end_never_counts_on_it(studio, at_once):
    """Whichever gets the thread first: a change that stands was decided before the end, or it is a proposal."""
    robins(studio, Role.CONTRIBUTOR)
    for round in range(20):
        lets(studio, "allow")

        def ends() -> None:
            delegation_end(actor=studio.ana.actor, thread=studio.thread.id)

        def writes(round: int = round) -> None:
            edits(studio, old=str(900 + edited(studio)), new=str(901 + edited(studio)))

        at_once(ends, writes)
    if connection.vendor == "postgresql":
        _each_write_is_before_its_end(studio)


def edited(studio: Studio) -> int:
    return Document.objects.get(pk=studio.document.pk).version - 1


def _each_write_is_before_its_end(studio: Studio) -> None:
    stands = False
    for event in Event.objects.filter(thread=studio.thread).order_by("seq"):
        if event.type == "thread_changed":
            stands = "allow" in event.data
        if event.type == "document_changed":
            assert stands


@pytest.fixture
def at_once():
    def done(*acts):
        def act(one):
            try:
                one()
            finally:
                connection.close()

        with ThreadPoolExecutor(len(acts)) as pool:
            list(pool.map(act, acts))

    return done


def test_a_member_who_is_added_sees_who_let_the_agent_do_it(studio, zoe):
    lets(studio, "allow")
    member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.VIEWER)
    assert thread_items(zoe.actor, [studio.thread.id])[0]["delegation"]["by"]["name"] == "Ana"
