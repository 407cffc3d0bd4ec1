"""``POST /agui/<thread>/``: runs as a front end sends them, over a real socket and in this process (DESIGN 11)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from agents.clients.agui import asgi
from agents.clients.agui.asgi import LARGEST
from agents.models.actions import PendingAction
from collab.asgi import application
from collab.db import close_connections, in_db
from collab.models.threads import Message
from tests.support.clients import connected
from tests.support.front import (
    SCRIPT,
    WITH_A_PICTURE,
    Front,
    a_question_is_answered_by_the_next_run,
    an_action_is_seen_and_stays_with_its_person,
    cancelled,
    resolved,
    text_of,
)
from tests.support.issuing import issued
from tests.support.scene import scene
from tests.support.server import Server, environment_for, serving
from tests.support.tools import book_boat, registered, reserve_table
from tests.support.visitor import visiting


@pytest.fixture(scope="module")
def served(demo_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = shutil.copytree(demo_data, tmp_path_factory.mktemp("agui") / "data")
    with serving(environment_for(folder, ACCORD_MODEL=f"scripted:{SCRIPT}")) as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_left_open() -> Iterator[None]:
    yield
    close_connections()


@pytest.fixture(scope="module")
def secret(served: Server) -> str:
    return issued(served)["ana"]


@pytest.fixture
def front(served: Server, secret: str) -> Iterator[Front]:
    with httpx.Client(base_url=served.url, timeout=60) as http:
        yield Front(http, secret)


def test_a_run_is_shown_its_turn_and_sent_again_it_is_the_same_run(front: Front) -> None:
    events = front.run("one", "add book the venue to the plan")
    assert events[-1].outcome.type == "success"
    assert "was suggested" in text_of(events)
    assert {"TOOL_CALL_START", "TOOL_CALL_RESULT"} <= {event.type for event in events}
    assert front.messages() == ["add book the venue to the plan", text_of(events)]
    again = front.run("one", "add book the venue to the plan")
    assert text_of(again) == text_of(events)
    assert front.messages() == ["add book the venue to the plan", text_of(events)]
    assert front.refused("one", "add something else to the plan")[:2] == (422, "command_id_reused")


def test_questions_interrupt_a_run_and_the_next_ones_answer_them(front: Front) -> None:
    a_question_is_answered_by_the_next_run(front)


async def test_an_action_interrupts_a_run_and_only_its_person_decides_it(front: Front, served: Server) -> None:
    with visiting(served, "ana") as ana:
        await an_action_is_seen_and_stays_with_its_person(front, ana)


def test_what_asks_and_needs_consent_waits_for_both_and_goes_on_with_the_answer(front: Front) -> None:
    asked, asks = front.waits("one", "book and ask")
    assert (asked.reason, asks.reason) == ("input_required", "accord:approval")
    both = [resolved(asked, "Sam"), resolved(asks, {"approved": True})]
    assert front.refused("two", resume=both)[1] == "forbidden"
    (question,) = front.read(f"/threads/{front.thread}/questions")["items"]
    assert question["state"] == "open"
    assert front.ends("three", resume=[resolved(asked, "Sam"), cancelled(asks)]) == "success"
    (action,) = front.read(f"/threads/{front.thread}/actions")["items"]
    assert action["state"] == "open"


def test_questions_that_are_left_unanswered_end_their_turn(front: Front) -> None:
    asked = front.waits("one", "ask me")
    assert front.ends("two", resume=[cancelled(one) for one in asked]) == "cancelled"
    states = {item["state"] for item in front.read(f"/threads/{front.thread}/questions")["items"]}
    assert states == {"dismissed"}
    # Whoever holds on to what is over gets past it.
    assert front.refused("three", resume=[resolved(asked[0], "In spring")])[:2] == (409, "already_settled")
    assert front.ends("four", "Never mind.", [cancelled(one) for one in asked]) == "success"
    assert front.messages()[-2:] == ["Never mind.", "Good to know."]


def test_an_answer_that_is_none_of_the_choices_answers_nothing(front: Front) -> None:
    when, where = front.waits("one", "ask me")
    answers = [resolved(where, "By the sea"), resolved(when, "At once")]
    assert front.refused("two", resume=answers)[:2] == (422, "invalid")
    states = {item["state"] for item in front.read(f"/threads/{front.thread}/questions")["items"]}
    assert states == {"open"}


def test_of_a_message_only_the_text_is_read_and_the_front_end_is_told(front: Front) -> None:
    events = front.run("one", WITH_A_PICTURE)
    assert (events[1].type, events[1].name) == ("CUSTOM", "accord.left_out")
    assert events[-1].outcome.type == "success"
    assert front.messages() == ["What do you think of it?", "Good to know."]
    assert front.refused("two", WITH_A_PICTURE[1:])[:2] == (422, "invalid")


def body_of(thread: Any, **more: Any) -> dict[str, Any]:
    return {
        "threadId": str(thread), "runId": "run", "messages": [{"id": "1", "role": "user", "content": "Hello."}], **more
    }  # fmt: skip


async def refused(client: Any, path: str, body: Any, *, method: str = "POST", **headers: str) -> tuple[int, str]:
    """Send what is refused; return the status and the code."""
    sent = {"Content-Type": "application/json", **(client.header if client else {}), **headers}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://127.0.0.1") as http:
        answer = await http.request(method, path, content=content, headers=sent)
    assert answer.headers["Content-Type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


@pytest.mark.django_db(transaction=True)
async def test_what_is_no_run_of_the_thread_is_refused_and_nothing_is_posted(studio, zoe):
    desk = await in_db(connected, studio, studio.ana)
    thread = studio.thread.id
    path = f"/agui/{thread}/"
    other = uuid4()
    action = {"interruptId": f"action:{other}", "status": "resolved"}
    question = {**action, "interruptId": f"question:{other}"}
    cases: list[tuple[tuple[int, str], Any, str, dict[str, Any]]] = [
        ((401, "unauthenticated"), None, path, {}),
        ((404, "not_found"), desk, f"/agui/{other}/", body_of(other)),
        ((404, "not_found"), desk, "/agui/nowhere", body_of(thread)),
        ((422, "invalid"), desk, path, body_of(other)),
        ((422, "invalid"), desk, path, body_of(thread, runId="")),
        ((422, "invalid"), desk, path, body_of(thread, messages=[])),
        ((422, "invalid"), desk, path, body_of(thread, messages=[{"id": "1", "role": "assistant", "content": "Hi"}])),
        ((422, "invalid"), desk, path, {"threadId": str(thread)}),
        ((404, "not_found"), desk, path, body_of(thread, resume=[question])),
        ((404, "not_found"), desk, path, body_of(thread, resume=[{**question, "interruptId": "nonsense"}])),
        ((404, "not_found"), desk, path, body_of(thread, resume=[action])),
        ((404, "not_found"), desk, path, body_of(thread, resume=[{**action, "status": "cancelled"}])),
        ((422, "invalid"), desk, path, body_of(thread, resume=[question, question])),
    ]
    for expected, client, where, body in cases:
        assert await refused(client, where, body) == expected, (where, body)
    assert await refused(desk, path, b"{", method="POST") == (400, "not_json")
    assert await refused(desk, path, b"x" * (LARGEST + 1)) == (413, "too_long")
    assert (await refused(desk, path, {}, method="GET"))[0] == 405
    assert (await refused(desk, path, body_of(thread), **{"Content-Type": "text/plain"}))[0] == 415
    assert await in_db(Message.objects.count) == 0


@pytest.mark.django_db(transaction=True)
async def test_an_interrupt_of_another_thread_is_not_there(studio):
    with registered(reserve_table, book_boat):
        ids = (await in_db(scene, studio)).ids
    desk = await in_db(connected, studio, studio.ana, name="Front")
    for entry in (f"question:{ids['question']}", f"action:{ids['action']}"):
        resume = [{"interruptId": entry, "status": "resolved", "payload": "Friday."}]
        body = body_of(studio.thread.id, resume=resume)
        assert await refused(desk, f"/agui/{studio.thread.id}/", body) == (404, "not_found")


@pytest.mark.django_db(transaction=True)
async def test_whoever_may_only_view_posts_nothing_and_is_told_who_lacked_what(studio):
    eyes = await in_db(connected, studio, studio.vera)
    assert await refused(eyes, f"/agui/{studio.thread.id}/", body_of(studio.thread.id)) == (403, "forbidden")
    assert await in_db(Message.objects.count) == 0
    assert await in_db(PendingAction.objects.count) == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("limit", ["RUNS_A_CLIENT", "RUNS_A_PROCESS"])
async def test_one_run_too_many_at_once_posts_nothing(studio, monkeypatch, limit):
    desk = await in_db(connected, studio, studio.ana)
    monkeypatch.setattr(asgi, limit, 0)
    assert await refused(desk, f"/agui/{studio.thread.id}/", body_of(studio.thread.id)) == (429, "busy")
    assert await in_db(Message.objects.count) == 0
