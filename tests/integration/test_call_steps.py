"""Frozen steps as they are carried out, and calls that a crash left behind (DESIGN 6 and 7)."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings

from agents.actions.closing import waiting_before
from agents.models.turns import Call
from agents.tools import frozen as steps
from agents.tools import gate, reuse
from agents.tools.consent import Frozen, step_hash
from agents.tools.contract import Looked
from agents.tools.frozen import carry_out_step
from agents.turns.boundary import Work
from agents.turns.sharing import call_share
from agents.turns.start import start_next
from collab.models.documents import Document
from collab.models.threads import Event
from collab.services.documents import document_edit
from permissions.services import grant_take
from tests.support.cast import Studio
from tests.support.other_side import Counter, Outside
from tests.support.tools import registered
from tests.support.turns import Puppet, Stage, posts, staged, turns, until
from tests.support.worked import Worker

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "reserve_table"


@pytest.fixture
def outside() -> Outside:
    return Outside()


@pytest.fixture
def counter(studio: Studio, outside: Outside) -> Iterator[Counter]:
    """The other side's tool asks first always, and may be sent twice with one key."""
    tool = outside.tool(consent="always", keyed=True)
    with registered(tool):
        yield Counter(studio, tool, studio.ben)


@pytest.fixture
def waiting(counter: Counter, studio: Studio) -> list[Call]:
    """Two calls of Ben's that wait for consent: a table, and then a change of the plan."""
    worker = counter.turn_for(studio.ben)
    worker.calls(NAME, guests=4)
    worker.calls("edit_document", document=str(studio.document.id), edits=[{"find": "900", "replace": "950"}])
    found = list(worker.work.steps)
    worker.work.steps = []  # no action is asked for: each test stands for one that was approved
    worker.ends()
    return found


def as_frozen(call: Call, versions: dict[UUID, int] | None = None) -> Frozen:
    return Frozen(step_hash(call.called_as, call.args), versions or {})


def approved(studio: Studio) -> Work:
    """A turn of Ben's that stands for the one an approval starts."""
    posts(studio.ben, studio.thread, "yes")
    return Worker.begins(studio).work


def carries(work: Work, call: Call, frozen: Frozen) -> tuple[str | None, str]:
    call.refresh_from_db()
    async_to_sync(carry_out_step)(work, call, frozen)
    call.refresh_from_db()
    return call.outcome, call.reason


def test_a_step_is_carried_out_by_the_turn_of_its_approval_with_its_own_key(waiting, studio, outside):
    work, call = approved(studio), waiting[0]
    assert carries(work, call, as_frozen(call)) == ("done", "")
    assert (call.carried_by_id, call.moved_from) == (work.turn.id, "pending_confirmation")
    assert outside.sent == [call.key]
    assert outside.asked_by == [studio.robin.acting_for(studio.ben, studio.thread)]
    assert [event.turn_id for event in Event.objects.filter(type="call_started").order_by("seq")][-1] == work.turn.id
    assert [record.outcome for record in work.records] == ["done"]


def test_a_step_is_carried_out_once(waiting, studio, outside):
    work, call = approved(studio), waiting[0]
    stale = Call.objects.get(pk=call.pk)
    carries(work, call, as_frozen(call))
    carries(work, call, as_frozen(call))
    async_to_sync(carry_out_step)(work, stale, as_frozen(stale))
    assert stale.outcome == "done"
    assert len(outside.sent) == 1


def test_a_step_shared_while_one_before_it_runs_stays_shared(waiting, studio):
    work, call = approved(studio), waiting[0]
    stale = Call.objects.get(pk=call.pk)
    call_share(actor=studio.ben.actor, call=call.id)
    async_to_sync(carry_out_step)(work, stale, as_frozen(stale))
    call.refresh_from_db()
    assert (call.outcome, call.shared_by, call.carried_by_id) == ("done", studio.ben.actor, work.turn.id)


def test_a_grant_lost_between_consent_and_step_stops_it(waiting, counter, studio, outside):
    work, call = approved(studio), waiting[0]
    grant_take(by=studio.ana.actor, holder=studio.ben.user, codename="use_tool", obj=counter.enabled)
    assert carries(work, call, as_frozen(call)) == ("refused", "forbidden")
    assert "Ben" in call.because
    assert outside.sent == []


def test_arguments_that_are_not_those_approved_are_not_sent(waiting, studio, outside):
    call = waiting[0]
    frozen = as_frozen(call)
    Call.objects.filter(pk=call.pk).update(args='{"guests":12,"near":"window"}')
    assert carries(approved(studio), call, frozen) == ("failed", "changed")
    assert outside.sent == []


def test_a_document_that_changed_since_stops_the_step_that_names_it(waiting, studio):
    call, document = waiting[1], studio.document
    frozen = as_frozen(call, {document.id: 1})
    document_edit(
        actor=studio.ana.actor, document=document.id, thread=studio.thread.id,
        edits=[{"find": "Friday", "replace": "Sunday"}],
    )  # fmt: skip
    assert carries(approved(studio), call, frozen) == ("refused", "changed_since")
    assert Document.objects.get(pk=document.id).version == 2


def test_what_an_earlier_step_of_the_action_changed_stops_no_later_one(waiting, studio):
    call, document = waiting[1], studio.document
    frozen, work = as_frozen(call, {document.id: 1}), approved(studio)
    Worker(studio, work).calls(
        "edit_document", document=str(document.id), edits=[{"find": "Friday", "replace": "Sunday"}]
    )
    assert carries(work, call, frozen) == ("done", "")
    assert Document.objects.get(pk=document.id).version == 3


def test_a_step_of_a_tool_that_is_gone_is_refused(waiting, studio, outside):
    call = waiting[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(steps.TOOLS, NAME)
        assert carries(approved(studio), call, as_frozen(call)) == ("refused", "unknown_tool")


def test_a_step_is_not_sent_while_nobody_knows_of_the_same_one(waiting, studio, outside):
    call, work = waiting[0], approved(studio)
    outside.answers = outside.loses_its_answer
    assert carries(work, call, as_frozen(call)) == ("unknown", "no_answer")
    same = Worker(studio, work)
    same.calls(NAME, guests=4)
    assert Call.objects.latest("sent_at").reason == "unknown_before"


def test_a_keyed_step_left_unknown_is_sent_again_with_its_key_by_the_same_approval_only(waiting, studio, outside):
    call, work = waiting[0], approved(studio)
    outside.answers = outside.loses_its_answer
    carries(work, call, as_frozen(call))
    outside.answers = lambda key, guests: {"reservation": "R4"}
    assert carries(work, call, as_frozen(call)) == ("done", "")
    assert outside.sent == [call.key, call.key]
    assert len(outside.booked) == 1


def test_a_step_left_by_a_process_that_went_away_is_unknown(waiting, studio, clock):
    call, work = waiting[0], approved(studio)
    call.carried_by = work.turn
    made = steps._made(work, call, as_frozen(call))
    assert isinstance(made, gate.Made)
    assert gate._store_sent(work, made)
    clock(settings.ACCORD_LEASE_SECONDS + 1)
    start_next(studio.thread.id)
    call.refresh_from_db()
    assert (call.outcome, call.moved_from) == ("unknown", "pending_confirmation")
    assert "approved" not in call.because


def test_calls_that_wait_are_taken_over_by_the_turn_that_continues(counter, studio, clock):
    worker = counter.turn_for(studio.ben)
    worker.steps(NAME, guests=4)
    worker.calls(NAME, guests=5)
    clock(settings.ACCORD_LEASE_SECONDS + 1)
    continued = start_next(studio.thread.id)
    assert continued is not None
    assert [call.args for call in waiting_before(continued.turn)] == ['{"guests":4,"near":"window"}']
    again = Worker.on(studio, continued)
    again.work.steps, again.work.orphans = waiting_before(continued.turn), reuse.reusable(continued.turn)
    told = again.calls(NAME, guests=5)
    assert "pending_confirmation" in told[0].content
    assert Call.objects.count() == 2
    assert len(again.work.steps) == 2


class TestARunner:
    """Real turns, whose tools go to the other side."""

    @pytest.fixture
    def plain(self, studio: Studio, outside: Outside) -> Iterator[Counter]:
        tool = outside.tool(keyed=True, lookup=outside.lookup)
        with registered(tool):
            yield Counter(studio, tool, studio.ben)

    def test_a_turn_looks_up_what_is_not_known_before_its_model_is_asked(
        self, studio: Studio, plain: Counter, outside: Outside, puppet: Puppet, stage: Stage
    ):
        outside.answers, outside.looks = outside.loses_its_answer, lambda: Looked(None)
        posts(studio.ben, studio.thread, "book a table")
        puppet.is_asked()
        puppet.calls(NAME, guests=4)
        assert "unknown" in puppet.is_asked().returns[NAME]
        puppet.says("I asked for it.")
        stage.settles()
        outside.looks = None
        posts(studio.ben, studio.thread, "and now?")
        puppet.is_asked()
        assert Call.objects.get().outcome == "done"
        puppet.says("Let me see.")
        stage.settles()
        assert outside.looked_up == 2

    def test_a_call_whose_answer_was_lost_is_looked_up_before_the_model_is_told(
        self, studio: Studio, plain: Counter, outside: Outside, puppet: Puppet, stage: Stage
    ):
        outside.answers = outside.loses_its_answer
        posts(studio.ben, studio.thread, "book a table")
        puppet.is_asked()
        puppet.calls(NAME, guests=4)
        assert puppet.is_asked().returns[NAME] == {"reservation": "R4"}
        puppet.says("It is booked.")
        stage.settles()
        call = Call.objects.get()
        assert (call.outcome, call.moved_from, len(outside.sent)) == ("done", "unknown", 1)

    def test_a_keyed_call_that_a_crash_left_is_sent_again_with_its_key(
        self, studio: Studio, plain: Counter, outside: Outside, puppet: Puppet, clock
    ):
        outside.looks = lambda: Looked(None)
        posts(studio.ben, studio.thread, "book a table")
        crashed = Worker.begins(studio)
        outside.answers = outside.loses_its_answer
        crashed.calls(NAME, guests=4)
        outside.answers = lambda key, guests: {"reservation": "R4"}
        clock(settings.ACCORD_LEASE_SECONDS + 1)
        with staged() as stage:
            stage.wake(studio.thread)
            puppet.is_asked()
            puppet.calls(NAME, guests=4)
            assert puppet.is_asked().returns[NAME] == {"reservation": "R4"}
            puppet.says("It is booked.")
            until(lambda: turns(studio.thread)[-1].status == "completed")
        call = Call.objects.get()
        assert outside.sent == [call.key, call.key]
        assert (call.outcome, call.moved_from) == ("done", "unknown")
