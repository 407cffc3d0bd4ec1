"""Rulings on replies are counted without their text, and whoever runs Accord may watch them (REPLIES; DESIGN 11)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from uuid import uuid4

import pytest
from django.db import DatabaseError, connections, transaction
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from agents.models.replies import ReplyCount
from agents.models.turns import Turn
from agents.replies.mending import Ruling
from agents.turns import counts
from agents.turns.counts import rulings_counted
from tests.support.admin import listing, page, staffed, supered, turn
from tests.support.cast import Someone, Studio
from tests.support.turns import Puppet, Stage, posts, replies

AGENT = uuid4()
TOKEN = "a token of the tests"
LABELS = ("rule", "tool", "action", "status")
RULED = Ruling(0, 5, "values", "edit_document", "replaced")
LEFT_OUT = Ruling(9, 9, "left_out", "edit_document", "added")


def counted() -> dict[tuple[str, str, str], int]:
    rows = ReplyCount.objects.values_list("rule", "tool", "action", "number")
    return {(rule, tool, action): number for rule, tool, action, number in rows}


@pytest.mark.django_db(transaction=True)
class TestCounting:
    def test_adds_up_what_is_alike_on_one_day_for_one_agent(self) -> None:
        rulings_counted(AGENT, [RULED, LEFT_OUT, RULED])
        rulings_counted(AGENT, [RULED])
        assert counted() == {
            ("values", "edit_document", "replaced"): 3,
            ("left_out", "edit_document", "added"): 1,
        }
        today = timezone.now().date()
        assert {(row.day, row.agent_id) for row in ReplyCount.objects.all()} == {(today, AGENT)}
        rulings_counted(uuid4(), [RULED])
        assert ReplyCount.objects.count() == 3

    def test_takes_one_statement_for_each_kind_of_ruling_and_none_for_none(self, queries) -> None:
        rulings_counted(AGENT, [RULED, LEFT_OUT])
        with queries() as sent:
            rulings_counted(AGENT, [RULED, LEFT_OUT, RULED])
        assert len(sent) == 2
        with queries() as sent:
            rulings_counted(AGENT, [])
        assert len(sent) == 0

    def test_loses_none_that_several_processes_count_at_once(self) -> None:
        def count(_: int) -> None:
            rulings_counted(AGENT, [RULED])
            connections.close_all()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(count, range(20)))
        assert counted() == {("values", "edit_document", "replaced"): 20}

    def test_calls_a_tool_that_does_not_exist_nothing(self) -> None:
        rulings_counted(AGENT, [Ruling(0, 1, "outcome", f"made_up_{number}", "replaced") for number in range(3)])
        assert counted() == {("outcome", "", "replaced"): 3}

    def test_counts_nothing_of_what_was_rolled_back(self) -> None:
        with transaction.atomic():
            rulings_counted(AGENT, [RULED])
            transaction.set_rollback(True)
        assert counted() == {}


@pytest.mark.django_db(transaction=True)
class TestATurn:
    def says(self, studio: Studio, puppet: Puppet, stage: Stage, text: str) -> None:
        posts(studio.ana, studio.thread, "how is it going?")
        puppet.is_asked()
        puppet.says(text)
        stage.settles()

    def test_is_counted_where_something_it_said_was_replaced(
        self, studio: Studio, puppet: Puppet, stage: Stage
    ) -> None:
        self.says(studio, puppet, stage, "Well.")
        assert counted() == {}
        self.says(studio, puppet, stage, "I've archived the Launch plan.")
        assert counted() == {("not_attempted", "archive_document", "replaced"): 1}
        assert ReplyCount.objects.get().agent_id == studio.robin.id

    def test_is_counted_where_it_breaks_off(self, studio: Studio, puppet: Puppet, stage: Stage) -> None:
        posts(studio.ana, studio.thread, "how is it going?")
        puppet.is_asked()
        puppet.says("I've archived the Launch plan. It was old. And then I", calls=[("ask_person", "{")])
        puppet.is_asked()
        puppet.breaks(RuntimeError("gone"))
        stage.settles()
        assert sum(counted().values()) == 1

    def test_ends_as_ever_where_counting_fails(
        self, studio: Studio, puppet: Puppet, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fails(*_: object) -> None:
            raise DatabaseError("no room")

        monkeypatch.setattr(counts, "_add", fails)
        self.says(studio, puppet, stage, "I've archived the Launch plan.")
        assert replies(studio.thread) == ["Not done: archive document."]
        assert Turn.objects.get().status == Turn.Status.COMPLETED
        assert counted() == {}


@pytest.mark.django_db
class TestMetrics:
    @pytest.fixture(autouse=True)
    def token(self, settings) -> None:
        settings.ACCORD_METRICS_TOKEN = TOKEN

    def shown(self, client: Client) -> dict[str, dict[tuple[str, ...], float]]:
        answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert "no-store" in answer.headers["Cache-Control"]
        return {
            sample.name: {
                tuple(each.labels[name] for name in LABELS if name in each.labels): each.value
                for each in family.samples
                if each.name == sample.name
            }
            for family in text_string_to_metric_families(answer.content.decode())
            for sample in family.samples
        }

    def test_add_up_rulings_of_all_days_and_agents(self, client: Client) -> None:
        for day in (date(2026, 1, 1), date(2026, 1, 2)):
            ReplyCount.objects.create(day=day, agent_id=AGENT, rule="values", tool='a"b', action="replaced", number=2)
        ReplyCount.objects.create(day=day, agent_id=uuid4(), rule="language", tool="", action="removed", number=1)
        shown = self.shown(client)["accord_reply_rulings_total"]
        assert shown == {("values", 'a"b', "replaced"): 4, ("language", "", "removed"): 1}

    @pytest.mark.corrupts
    def test_tell_of_turns_that_run_or_are_paused_and_of_messages_that_wait(
        self, client: Client, studio: Studio
    ) -> None:
        posts(studio.ana, studio.thread, "hello")
        for number, status in enumerate(["running", "paused", "paused", "completed"], 1):
            made = turn(studio, studio.ana.actor, number)
            Turn.objects.filter(pk=made.pk).update(status=status)
        shown = self.shown(client)
        assert shown["accord_turns"] == {("running",): 1, ("paused",): 2}
        assert shown["accord_messages_waiting"] == {(): 1}

    def test_cost_the_same_however_much_was_counted(self, client: Client, queries) -> None:
        with queries() as sent:
            self.shown(client)
        before = len(sent)
        for number in range(20):
            day = date(2026, 1, 1) + timedelta(days=number)
            ReplyCount.objects.create(day=day, agent_id=AGENT, rule="values", tool=f"t{number}", action="added")
        with queries() as sent:
            self.shown(client)
        assert len(sent) == before <= 5

    @pytest.mark.parametrize("sent", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer \u00e9"])
    def test_are_refused_without_the_token(self, client: Client, sent: str) -> None:
        answer = client.get("/metrics", headers={"Authorization": sent})
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert b"accord_" not in answer.content

    def test_are_refused_to_superusers_too(self, zoe: Someone) -> None:
        assert supered(zoe).get("/metrics").status_code == 401

    def test_are_not_there_where_no_token_is_set(self, client: Client, settings) -> None:
        settings.ACCORD_METRICS_TOKEN = ""
        for sent in ("", "Bearer ", f"Bearer {TOKEN}"):
            assert client.get("/metrics", headers={"Authorization": sent}).status_code == 404


@pytest.mark.django_db
class TestThePageOfCounts:
    def test_names_the_agent_the_rule_and_the_tool_to_staff(self, studio: Studio, zoe: Someone) -> None:
        rulings = {"rule": "values", "tool": "edit_document", "action": "replaced", "number": 41}
        made = ReplyCount.objects.create(day=date(2026, 1, 2), agent_id=studio.robin.id, **rulings)
        for address in (listing(ReplyCount), page(made)):
            shown = staffed(zoe).get(address).content.decode()
            for told in ("2 Jan", "Robin", *map(str, rulings.values())):
                assert told in shown.replace("Jan. 2", "2 Jan"), (address, told)

    def test_is_changed_by_nobody(self, studio: Studio, zoe: Someone) -> None:
        made = ReplyCount.objects.create(
            day=date(2026, 1, 2), agent_id=studio.robin.id, rule="values", action="added", number=41
        )
        assert supered(zoe).post(page(made), {"number": "1"}).status_code == 403
        assert supered(zoe).post(page(made, "delete"), {"post": "yes"}).status_code == 403
        assert ReplyCount.objects.get().number == 41
