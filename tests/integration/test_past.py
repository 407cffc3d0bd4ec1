"""What the history of grants says was held at a moment is what a decision read then (DESIGN 5 and 11)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count

import pytest
from django.contrib.auth.models import Group
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from permissions.actors import Agent, Person, System
from permissions.clock import AccordNow, move_clock
from permissions.decisions import AccountKind, Action, Level, decide
from permissions.errors import NotFound, PermissionsError
from permissions.gate import decide_on
from permissions.models import User
from permissions.past import facts_at
from permissions.replay import Moment
from permissions.services import account_deactivate, grant_give, grant_take, group_join, group_leave
from tests.support.permitted import Place, account, place, team

pytestmark = pytest.mark.django_db

CODENAMES = ["view", "propose_document", "change_document"]
ASKED = [Action.VIEW, Action.CHANGE_DOCUMENT]
HOURS = st.none() | st.integers(1, 4)
STEP = st.one_of(
    st.tuples(st.just("give"), st.sampled_from(["ben", "robin", "editors", "readers"]), st.sampled_from(CODENAMES),
              st.sampled_from(["workspace", "document"]), HOURS),
    st.tuples(st.just("take"), st.sampled_from(["ben", "robin", "editors", "readers"]), st.sampled_from(CODENAMES),
              st.sampled_from(["workspace", "document", "elsewhere"])),
    st.tuples(st.just("join"), st.sampled_from(["ben", "robin"]), st.sampled_from(["editors", "readers"])),
    st.tuples(st.just("leave"), st.sampled_from(["ben", "robin"]), st.sampled_from(["editors", "readers"])),
    st.tuples(st.just("wait"), st.integers(1, 3)),
)  # fmt: skip


def now() -> datetime:
    row = User.objects.annotate(now=AccordNow()).first()
    assert row is not None
    found: datetime = vars(row)["now"]
    return found


@dataclass
class Played:
    """A place with two accounts in and out of two groups, and what was decided after every step."""

    here: Place
    holders: dict[str, User | Group]
    hours: float = 0
    decided: list[tuple[Moment, dict[tuple[str, Action], tuple[Level, str]]]] = field(default_factory=list)

    @property
    def objects(self):
        return {"workspace": self.here.workspace, "document": self.here.document}

    def actors(self):
        ben, robin = self.holders["ben"].pk, self.holders["robin"].pk
        thread = self.here.thread.pk
        return {"ben": Person(ben), "robin": Agent(robin, thread), "robin for ben": Agent(robin, thread, Person(ben))}

    def steps(self, step) -> None:
        match step:
            case ("give", who, codename, what, hours):
                until = None if hours is None else now() + timedelta(hours=hours)
                self.here.give(self.holders[who], codename, on=self.objects[what], expires_at=until)
            case ("take", who, codename, what):
                obj = self.objects.get(what, self.here.workspace)
                grant_take(by=System(), holder=self.holders[who], codename=codename, obj=obj)
            case ("join" | "leave" as move, who, group):
                act = group_join if move == "join" else group_leave
                act(by=System(), account=self.holders[who], group=self.holders[group])
            case ("wait", hours):
                self.hours += hours
                move_clock(self.hours * 3600)

    def notes(self) -> None:
        self.here.workspace.refresh_from_db()
        moment = Moment(now(), self.here.workspace.grants_epoch)
        self.decided.append((moment, {key: self.said(key) for key in self.questions()}))

    def questions(self):
        return [(who, action) for who in self.actors() for action in ASKED]

    def said(self, key) -> tuple[Level, str]:
        decision = decide_on(self.actors()[key[0]], key[1], self.here.document)
        return decision.level, decision.because

    def by_the_record(self, key, moment: Moment) -> tuple[tuple[Level, str], bool]:
        actor = self.actors()[key[0]]
        past = facts_at(actor, self.here.document, moment)
        decision = decide(actor, key[1], past.facts)
        return (decision.level, decision.because), not any("was in group" in told for told in past.unknown)


numbers = count()


def played() -> Played:
    number = next(numbers)
    holders: dict[str, User | Group] = {"ben": account("Ben"), "robin": account("Robin", AccountKind.AGENT)}
    for name in ("editors", "readers"):
        holders[name] = Group.objects.create(name=f"{name} {number}")
    return Played(place(), holders)


@pytest.mark.usefixtures("clock")
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEP, min_size=3, max_size=12), st.booleans(), st.booleans())
def test_every_decision_is_found_again_in_the_history(steps, anchored, by_time):
    """A group that always holds something leaves nothing unknown; without, what is not known is said to be."""
    move_clock(0)
    with transaction.atomic():
        play = played()
        if anchored:
            for group in ("editors", "readers"):
                play.here.give(play.holders[group], "comment")
        for step in steps:
            with suppress(NotFound):
                play.steps(step)
            play.notes()
        for moment, live in play.decided:
            asked = Moment(moment.at) if by_time else moment
            for key, said in live.items():
                found, known = play.by_the_record(key, asked)
                assert known or not anchored
                assert found == said or not known, (key, asked)
        transaction.set_rollback(True)


def test_who_was_in_a_group_that_held_nothing_meanwhile_is_not_known():
    here, ben = place(), account("Ben")
    editors = team("Editors")
    here.give(editors, "view")
    group_join(by=System(), account=ben, group=editors)
    grant_take(by=System(), holder=editors, codename="view", obj=here.workspace)
    group_leave(by=System(), account=ben, group=editors)
    here.give(editors, "view")
    moment = Moment(now())
    grant_take(by=System(), holder=editors, codename="view", obj=here.workspace)
    past = facts_at(Person(ben.pk), here.document, moment)
    assert past.unknown[-1] == "Whether Ben was in group Editors then."


def test_a_member_from_before_the_group_held_anything_is_known_by_leaving_it():
    here, ben = place(), account("Ben")
    editors = team("Editors", ben)
    here.give(editors, "view")
    moment = Moment(now())
    group_leave(by=System(), account=ben, group=editors)
    past = facts_at(Person(ben.pk), here.document, moment)
    assert decide(Person(ben.pk), Action.VIEW, past.facts).level is Level.ALLOW
    assert len(past.unknown) == 1


def test_a_groups_new_name_hides_who_joined_under_its_old_one():
    here, ben = place(), account("Ben")
    editors = team("Editors")
    here.give(editors, "view")
    group_join(by=System(), account=ben, group=editors)
    moment = Moment(now())
    Group.objects.filter(pk=editors.pk).update(name="Writers")
    assert "Whether Ben was in group Writers then." in facts_at(Person(ben.pk), here.document, moment).unknown


def test_what_is_recorded_nowhere_is_said_to_be_taken_as_at_present():
    here, ben = place(), account("Ben")
    here.give(ben, "view")
    moment = Moment(now())
    account_deactivate(by=System(), account=ben)
    past = facts_at(Person(ben.pk), here.document, moment)
    assert decide(Person(ben.pk), Action.VIEW, past.facts).level is Level.DENY
    assert past.unknown == ("Whether the account of Ben was active, or a superuser's. It is taken as at present.",)


def test_a_grant_in_another_workspace_is_not_held_here():
    here, there, ben = place(), place("Elsewhere"), account("Ben")
    there.give(ben, "view")
    assert facts_at(Person(ben.pk), here.document, Moment(now())).facts.standings[ben.pk].grants == ()


def test_it_takes_as_many_queries_however_long_the_history_is(queries):
    here, ben = place(), account("Ben")
    editors = team("Editors", ben)
    counts = []
    for _ in range(2):
        for _ in range(10):
            grant_give(by=System(), holder=editors, codename="view", obj=here.document)
            grant_take(by=System(), holder=editors, codename="view", obj=here.document)
        grant_give(by=System(), holder=editors, codename="view", obj=here.document)
        with queries() as sent:
            facts_at(Person(ben.pk), here.document, Moment(now()))
        counts.append(len(sent))
    assert counts[0] == counts[1] <= 5


def test_nobody_is_told_of_a_refusal_that_never_happened():
    """A grant that a service refused leaves no line, and so no trace in a rebuilt moment."""
    here, ben, zoe = place(), account("Ben"), account("Zoe")
    here.give(ben, "view", "manage")
    with pytest.raises(PermissionsError), transaction.atomic():
        grant_give(by=Person(ben.pk), holder=zoe, codename="change_document", obj=here.workspace)
    assert facts_at(Person(zoe.pk), here.document, Moment(now())).facts.standings[zoe.pk].grants == ()
