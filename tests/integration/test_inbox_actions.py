"""Actions that wait for a person: listed, approved and declined in the inbox by the same commands (DESIGN 7 and 11)."""

from __future__ import annotations

import html
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from pydantic import JsonValue

from agents.models.actions import PendingAction
from agents.tools.contract import ToolContext, tool
from tests.support.cast import Someone, Studio
from tests.support.tools import registered
from tests.support.turns import posts
from tests.support.worked import Worker

LONG = "We moved to the other side of the street. " * 6


@tool(effect="write", permission="", consent="always", label="Tell group")
async def tell_group(ctx: ToolContext, text: str) -> JsonValue:
    """Tell everybody."""
    return None


pytestmark = pytest.mark.django_db(transaction=True)


def asked(studio: Studio, text: str = "We moved.") -> PendingAction:
    """Have Robin ask Ana for consent to a text, and then a second one."""
    posts(studio.ana, studio.thread, "tell them")
    robin = Worker.begins(studio)
    for said in (text, "Bye."):
        robin.calls("tell_group", text=said)
    robin.ends("It waits for you.")
    return PendingAction.objects.get(turn=robin.turn)


def browser(someone: Someone) -> Client:
    client = Client()
    client.force_login(someone.user)
    return client


def page(someone: Someone) -> str:
    return html.unescape(browser(someone).get(reverse("inbox")).content.decode())


def settles(someone: Someone, action: PendingAction, act: str = "approve", **form: str) -> str:
    """Act on an action from the inbox and return what the page then says."""
    data = {"act": act, "action": str(action.id), "command": str(uuid4()), **form}
    answer = browser(someone).post(reverse("inbox"), data, follow=True)
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


@pytest.fixture(autouse=True)
def tools():
    with registered(tell_group):
        yield


def test_approving_in_the_inbox_approves_once_and_says_so(studio: Studio) -> None:
    action, command = asked(studio), str(uuid4())
    for _ in range(2):
        assert "Approved. It runs in a new turn for you." in settles(studio.ana, action, command=command)
    action.refresh_from_db()
    assert (action.state, action.decided_by) == ("approved", studio.ana.actor)
    assert "To approve" not in page(studio.ana)


def test_declining_keeps_the_reason_and_runs_nothing(studio: Studio) -> None:
    action = asked(studio)
    assert "Declined. Nothing was done." in settles(studio.ana, action, "decline", reason="Too late.")
    action.refresh_from_db()
    assert (action.state, action.reason) == ("declined", "Too late.")


def test_another_persons_action_is_not_listed_and_not_approved_through_a_form(studio: Studio) -> None:
    action = asked(studio)
    assert "To approve" not in page(studio.ben)
    assert "Only Ana may approve" in settles(studio.ben, action)
    action.refresh_from_db()
    assert action.state == "open"


@pytest.mark.parametrize("act", ["accept", "burn", ""])
def test_an_act_of_another_kind_does_nothing_about_an_action(studio: Studio, act: str) -> None:
    action = asked(studio)
    assert 'role="alert"' in settles(studio.ana, action, act)
    action.refresh_from_db()
    assert action.state == "open"


def test_a_row_says_everything_that_is_approved_there_and_until_when(studio: Studio) -> None:
    action = asked(studio)
    text = page(studio.ana)
    assert f"/t/{studio.thread.id}/#a-{action.id}" in text
    assert action.text in text
    assert "Approve both steps" in text
    assert action.expires_at.isoformat() in text


def test_what_a_row_would_shorten_is_approved_only_on_its_card(studio: Studio) -> None:
    asked(studio, LONG)
    text = page(studio.ana)
    assert "To approve" in text
    assert 'value="approve"' not in text


def test_what_is_over_is_in_no_inbox(studio: Studio, clock) -> None:
    asked(studio)
    clock(601)
    assert "To approve" not in page(studio.ana)
