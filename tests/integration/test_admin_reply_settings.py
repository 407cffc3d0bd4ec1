"""An agent's reply settings in the admin, each with an example that is run with it (REPLIES 10, Composers)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from agents.models.agents import Agent
from tests.integration.test_admin_pages import budgets
from tests.support.admin import page, staffed, supered
from tests.support.cast import Someone, Studio
from tests.support.turns import Puppet, Stage, posts, replies

RULES = {
    "reader": "on", "on_unread": "ask", "never_show": ["card", "email"], "region": "de",
    "never_say": "as an AI model\n\n as  an AI model \nmy dear", "never_offer": "voucher", "required": "Bye for now.",
}  # fmt: skip


def saved(browser: Client, **changes: Any) -> tuple[int, str]:
    agent = Agent.objects.select_related("account").get()
    answer = browser.post(page(agent), budgets(agent, **{**RULES, **changes}))
    return answer.status_code, " ".join(answer.content.decode().split())


@pytest.mark.django_db
def test_they_are_saved_by_superusers_and_every_example_is_run_with_them(studio: Studio, zoe: Someone) -> None:
    assert saved(staffed(studio.ana))[0] == 403
    assert saved(supered(zoe))[0] == 302
    agent = Agent.objects.get()
    assert (agent.reader, agent.on_unread, agent.never_show, agent.region) == ("on", "ask", "email card", "DE")
    assert agent.never_say == "as an AI model\nmy dear"
    shown = supered(zoe).get(page(agent)).content.decode()
    for example in (
        "Called without a model: refund_card with order 4412, amount 12.5.",
        "I can get order or refund card. Which do you mean? So is the next.",
        "Write to [address withheld], ring",
        "or pay with [card number withheld].",
        "“Hello. Well, as an AI model. Goodbye.” → “Hello. Goodbye.",
        "“Hello. I can give you a voucher. Goodbye.” → “Hello. Goodbye.",
        "Bye for now.",
    ):
        assert example in shown


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"region": "XX"}, "No country is called by these two letters."),
        ({"never_say": "x" * 201}, "at most 200 fit"),
        ({"never_say": "\n".join(f"a{number}" for number in range(51))}, "There are 51 lines; at most 50 fit."),
        ({"required": "Write to ana@example.org."}, "holds what may never be said, shown or offered."),
        ({"never_show": ["shoe"]}, "Select a valid choice."),
        ({"on_unread": "shout"}, "Select a valid choice."),
    ],
    ids=["region", "long", "many", "contradiction", "kind", "on unread"],
)
def test_what_cannot_be_saved_is_said_in_a_sentence(
    studio: Studio, zoe: Someone, changes: dict[str, Any], told: str
) -> None:
    code, shown = saved(supered(zoe), **changes)
    assert code == 200
    assert told in shown
    assert Agent.objects.get().required == ""


@pytest.mark.django_db(transaction=True)
def test_the_rules_of_an_agent_hold_for_what_it_writes(studio: Studio, puppet: Puppet, stage: Stage) -> None:
    Agent.objects.update(never_show="email", never_say="my dear", never_offer="voucher", required="Bye for now.")
    posts(studio.ana, studio.thread, "hello")
    puppet.says("Hello. Well, my dear. Write to ana@example.org. I can give you a voucher.")
    stage.settles()
    assert replies(studio.thread) == ["Hello. Write to [address withheld]. \n\nBye for now."]
