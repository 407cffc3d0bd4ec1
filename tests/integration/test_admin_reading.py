"""The admin's "Read a reply": how a reply is read, with its calls, and who may see a turn's (DESIGN 11; REPLIES)."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from agents.models.agents import Agent
from agents.models.turns import Call, Turn
from agents.reading import LONGEST, MOST_CALLS
from agents.replies.showing import MOST_SPANS
from permissions.services import grant_take
from tests.support.admin import call, page, staffed, supered, turn
from tests.support.cast import Someone, Studio

pytestmark = pytest.mark.corrupts

REFUSED = {
    "name": "refund_card", "args": {"order": "4412", "amount": 12.5}, "outcome": "refused",
    "reason": "argument_schema",
}  # fmt: skip
NOT_YOURS = "There is no finished turn with this id, or you may not read its calls."


def read(browser: Client, **sent: Any) -> tuple[int, str]:
    answer = browser.post(reverse("admin:reading"), sent)
    return answer.status_code, " ".join(answer.content.decode().split())


def written(studio: Studio, someone: Someone, number: int = 1) -> Turn:
    """A finished turn for someone that put the Launch plan to version 2."""
    made = turn(studio, someone.actor, number)
    Turn.objects.filter(pk=made.pk).update(text="I've archived the Launch plan.")
    one = call(made)
    Call.objects.filter(pk=one.pk).update(
        tool="edit_document", effect="write", args='{"document":"Launch plan"}',
        result='{"title":"Launch plan","version":2}',
    )  # fmt: skip
    return made


def test_a_pasted_reply_is_shown_with_its_readings_its_ties_its_rules_and_as_it_may_be_read(zoe: Someone) -> None:
    code, shown = read(staffed(zoe), reply="I've refunded order 4412. Anything else?", calls=json.dumps([REFUSED]))
    assert code == 200
    assert "“refunded” says done of refund_card, held to call 1 (refused)." in shown
    assert "It breaks the rule “outcome”: what is said of refund_card, call 1 (refused), takes its place." in shown
    assert "I couldn&#x27;t refund order 4412: argument_schema. Anything else?</p>" in shown
    assert "It speaks of no action." in shown


def test_a_row_as_the_command_takes_it_is_read_whole(zoe: Someone) -> None:
    row = {"calls": [], "earlier": [{**REFUSED, "outcome": "done"}], "reply": "I've refunded order 4412."}
    code, shown = read(staffed(zoe), calls=json.dumps(row))
    assert code == 200
    assert "held to earlier call 1 (done)" in shown
    assert "It stands as it was written." in shown


def test_the_tools_of_this_server_count_unless_one_asks_for_those_named_alone(zoe: Someone) -> None:
    browser = staffed(zoe)
    said = {"reply": "I've archived the document.", "calls": json.dumps([REFUSED])}
    assert "Not done: archive document." in read(browser, **said, tools="ours")[1]
    assert "of archive_document" not in read(browser, **said, tools="named")[1]


def test_which_sums_may_stand_is_chosen(zoe: Someone) -> None:
    calls = [{**REFUSED, "outcome": "done", "args": {"order_id": f"441{n}", "amount": n + 0.5}} for n in (2, 3)]
    said = {
        "reply": "I've refunded orders 4412 and 4413, £6.00 in total.",
        "calls": json.dumps(calls),
        "tools": "named",
    }
    assert "It stands as it was written." in read(staffed(zoe), **said, derived="arithmetic")[1]
    assert "It breaks the rule “values”" in read(staffed(zoe), **said, derived="strict")[1]


class TestTurns:
    def test_a_turn_is_read_by_the_person_it_was_for(self, studio: Studio) -> None:
        code, shown = read(staffed(studio.ben), turn=written(studio, studio.ben).id)
        assert code == 200
        assert "Not done: archive document.<br><br>Launch plan is at version 2.</p>" in shown

    def test_its_own_page_leads_there(self, studio: Studio) -> None:
        made, browser = written(studio, studio.ben), staffed(studio.ben)
        address = f"{reverse('admin:reading')}?turn={made.id}"
        assert f'href="{address}"' in browser.get(page(made)).content.decode()
        assert f'value="{made.id}"' in browser.get(address).content.decode()

    def test_another_reply_is_held_to_its_calls(self, studio: Studio) -> None:
        made = written(studio, studio.ben)
        assert "It stands as it was written." in read(
            staffed(studio.ben), turn=made.id, reply="I've changed the Launch plan."
        )[1]  # fmt: skip

    def test_it_has_its_agents_sums(self, studio: Studio) -> None:
        made = written(studio, studio.ben)
        Call.objects.update(args='{"amount":3.5,"document":"Launch plan"}')
        said = "I've changed the Launch plan: £7.00 in total."
        assert "values" not in read(staffed(studio.ben), turn=made.id, reply=said)[1]
        Agent.objects.update(derived="strict")
        assert "rule “values”" in read(staffed(studio.ben), turn=made.id, reply=said)[1]

    def test_nobody_else_reads_it_until_its_calls_are_shared(self, studio: Studio, zoe: Someone) -> None:
        made = written(studio, studio.ben)
        missing = read(staffed(studio.ana), turn=uuid4())
        assert missing[0] == 400
        for browser in (staffed(studio.ana), staffed(zoe), supered(studio.vera)):
            code, shown = read(browser, turn=made.id)
            assert (code, NOT_YOURS in shown) == (400, True)
            assert "version 2" not in shown
        Call.objects.update(shared_at=made.started_at)
        assert read(staffed(studio.ana), turn=made.id)[0] == 200
        assert read(staffed(zoe), turn=made.id)[0] == 400

    def test_nor_its_own_person_once_they_may_not_view_the_thread_or_while_it_runs(self, studio: Studio) -> None:
        made = written(studio, studio.ben)
        Turn.objects.filter(pk=made.pk).update(status=Turn.Status.RUNNING)
        assert read(staffed(studio.ben), turn=made.id)[0] == 400
        Turn.objects.filter(pk=made.pk).update(status=Turn.Status.STOPPED)
        assert read(staffed(studio.ben), turn=made.id)[0] == 200
        for codename in ("view", "post_message", "start_turn"):
            grant_take(by=studio.ana.actor, holder=studio.ben.user, codename=codename, obj=studio.workspace)
        assert read(staffed(studio.ben), turn=made.id)[0] == 400

    def test_earlier_calls_of_turns_for_others_tell_nothing(self, studio: Studio) -> None:
        written(studio, studio.ana, 1)
        last = turn(studio, studio.ben.actor, 2)
        said = {"turn": last.id, "reply": "I've changed the Launch plan."}
        assert "earlier call" not in read(staffed(studio.ben), **said)[1]
        Turn.objects.filter(number=1).update(on_behalf_of=studio.ben.actor)
        assert "held to earlier call 1 (done)" in read(staffed(studio.ben), **said)[1]

    def test_it_costs_the_same_however_many_calls_there_were(self, studio: Studio, queries: Any) -> None:
        browser, costs = staffed(studio.ben), []
        last = turn(studio, studio.ben.actor, 50)
        for number in range(1, 4):
            written(studio, studio.ben, number)
            call(last, number)
            with queries() as sent:
                assert read(browser, turn=last.id)[0] == 200
            costs.append(len(sent))
        assert costs[0] == costs[-1]


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({}, "Paste a reply, or name a turn."),
        ({"reply": " "}, "Paste a reply, or name a turn."),
        ({"turn": "x"}, "This is no id of a turn."),
        ({"turn": "018f0000-0000-7000-8000-000000000000", "calls": "[]"}, "give a turn or calls, not both"),
        ({"reply": "x", "calls": "{"}, "The calls cannot be read: not JSON"),
        ({"reply": "x", "calls": "[" * 100}, "The calls cannot be read: "),
        ({"reply": "x", "calls": "3"}, "a row is an object with a reply"),
        ({"reply": "x", "calls": "[3]"}, "calls is a list of calls"),
        ({"reply": "x", "calls": "[{}]"}, "a call has no name"),
        ({"reply": "x", "calls": '[{"name": "a", "outcome": ["done"]}]'}, "no outcome is called"),
        ({"reply": "x", "calls": '{"calls": [], "reply": 3}'}, ""),
        ({"reply": "x" * LONGEST, "calls": "[]"}, "longer than 65,536 bytes together"),
        ({"reply": "é" * (LONGEST // 2 + 1)}, "longer than 65,536 bytes together"),
        ({"reply": "x", "calls": json.dumps([{"name": "a"}] * (MOST_CALLS + 1))}, "There are more than 200 calls."),
        ({"reply": "x", "tools": "nobody's"}, "Select a valid choice"),
        ({"reply": "x\0"}, "Null characters are not allowed"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(zoe: Someone, sent: dict[str, str], told: str) -> None:
    code, shown = read(staffed(zoe), **sent)
    assert code == (400 if told else 200)
    assert told in shown


@pytest.mark.parametrize(
    "one",
    [
        {"name": "refund", "args": '{"amount": 1e999}', "result": '{"a": "\\ud800"}'},
        {"name": "refund", "args": [1, None], "result": [[["x"]]], "effect": {"a": 1}, "reason": {"b": 2}},
        {"name": " ", "args": {"": ""}, "result": '{"total": NaN}'},
        {"name": "<b>", "args": {"<i>": "<i>"}, "outcome": "failed", "result": {"error": 3}},
        {"name": "refund_card", "args": {"order_id": {"a": []}, "amount": True}, "outcome": "unknown"},
        {"name": "refund", "args": "[" * 2000, "result": "{" * 2000},
    ],
)
def test_odd_calls_are_read_or_refused_and_break_nothing(zoe: Someone, one: dict[str, Any]) -> None:
    code, shown = read(staffed(zoe), reply="I've refunded £12.50 of 4412 <img src=x>.", calls=json.dumps([one]))
    assert code in {200, 400}
    assert "<img src=x" not in shown


def test_long_replies_are_listed_up_to_a_bound(zoe: Someone) -> None:
    code, shown = read(staffed(zoe), reply="A word.\n" * (MOST_SPANS + 7))
    assert code == 200
    assert "7 more spans are not listed." in shown


def test_it_is_for_staff_and_stores_nothing(studio: Studio, zoe: Someone, queries: Any) -> None:
    browser = Client()
    browser.force_login(studio.ana.user)
    assert read(browser, reply="x")[0] == 302
    staff = staffed(zoe)
    assert staff.get(reverse("admin:reading")).status_code == 200
    with queries() as sent:
        assert read(staff, reply="I've archived the document.")[0] == 200
    assert [sql for sql in sent.statements if not sql.startswith("SELECT")] == []
