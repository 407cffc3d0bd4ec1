"""``POST /agui/<thread>/``: runs as a front end sends them, over a real socket and in this process (DESIGN 11)."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest
from ag_ui.core import Event
from pydantic import TypeAdapter

from agents.clients.agui.asgi import LARGEST
from agents.models.actions import PendingAction
from collab.asgi import application
from collab.db import close_connections, in_db
from collab.models.threads import Message
from tests.support.clients import connected
from tests.support.issuing import issued
from tests.support.server import Server

EVENT: TypeAdapter[Any] = TypeAdapter(Event)


class Front:
    """A front end of a thread."""

    def __init__(self, http: httpx.Client, secret: str) -> None:
        self.http = http
        self.header = {"Authorization": f"Bearer {secret}"}
        (place,) = self.read("/workspaces")["workspaces"]
        self.thread = self.read(f"/workspaces/{place['id']}/threads")["threads"][0]["id"]

    def read(self, path: str) -> Any:
        return self.http.get(f"/api/v1{path}", headers=self.header).json()

    def run(self, id: str, text: str = "", **more: Any) -> list[Any]:
        """Send a run; return the events of AG-UI that it is answered, each read as the protocol's."""
        body = {
            "threadId": self.thread, "runId": id, "messages": [{"id": f"{id}-1", "role": "user", "content": text}],
            "tools": [], "context": [], "state": {}, "forwardedProps": {}, **more,
        }  # fmt: skip
        answer = self.http.post(f"/agui/{self.thread}/", json=body, headers=self.header, timeout=90)
        assert answer.status_code == 200, answer.text
        blocks = [block for block in answer.text.split("\n\n") if block]
        return [EVENT.validate_json(block.removeprefix("data: ")) for block in blocks]


@pytest.fixture
def front(server: Server) -> Any:
    with httpx.Client(base_url=server.url, timeout=60) as http:
        yield Front(http, issued(server)["ana"])


def text_of(events: list[Any]) -> str:
    return "".join(event.delta for event in events if event.type == "TEXT_MESSAGE_CONTENT")


def test_a_run_is_shown_its_turn_and_sent_again_it_is_the_same_run(front: Front) -> None:
    events = front.run("one", "add book the venue to the plan")
    assert (events[0].type, events[-1].type) == ("RUN_STARTED", "RUN_FINISHED")
    assert events[-1].outcome.type == "success"
    assert "was suggested" in text_of(events)
    assert {"TOOL_CALL_START", "TOOL_CALL_RESULT"} <= {event.type for event in events}
    posted = front.read(f"/threads/{front.thread}/messages")["items"]
    assert posted[-1]["text"] == text_of(events)
    again = front.run("one", "add book the venue to the plan")
    assert text_of(again) == text_of(events)
    assert front.read(f"/threads/{front.thread}/messages")["items"] == posted


def test_a_question_interrupts_a_run_and_the_next_one_answers_it(front: Front) -> None:
    (asked,) = front.run("two", "ask me")[-1].outcome.interrupts
    assert asked.message == "When should the launch be?"
    answers = [{"interruptId": asked.id, "status": "resolved", "payload": "In spring"}]
    events = front.run("three", resume=answers)
    assert events[-1].outcome.type == "success"
    assert 'answered "In spring"' in text_of(events)
    assert text_of(front.run("three", resume=answers)) == text_of(events)


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
    close_connections()
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
    ]
    for expected, client, where, body in cases:
        assert await refused(client, where, body) == expected, (where, body)
    assert await refused(desk, path, b"{", method="POST") == (400, "not_json")
    assert await refused(desk, path, b"x" * (LARGEST + 1)) == (413, "too_long")
    assert (await refused(desk, path, {}, method="GET"))[0] == 405
    assert (await refused(desk, path, body_of(thread), **{"Content-Type": "text/plain"}))[0] == 415
    assert await in_db(Message.objects.count) == 0


@pytest.mark.django_db(transaction=True)
async def test_whoever_may_only_view_posts_nothing_and_is_told_who_lacked_what(studio):
    eyes = await in_db(connected, studio, studio.vera)
    assert await refused(eyes, f"/agui/{studio.thread.id}/", body_of(studio.thread.id)) == (403, "forbidden")
    assert await in_db(Message.objects.count) == 0
    assert await in_db(PendingAction.objects.count) == 0
