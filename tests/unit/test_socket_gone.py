"""A socket whose connection went away before its end was heard."""

from __future__ import annotations

from uuid import uuid4

from collab.web.access import Admission, SignIn, Viewer
from collab.web.socket import Socket


async def test_sending_to_a_connection_that_went_away_lets_it_go_and_disturbs_nobody():
    tried: list[str] = []

    async def send(text: str) -> None:
        tried.append(text)
        raise RuntimeError("Attempt to send on a closed protocol")

    async def end(code: int) -> None:
        raise AssertionError("there is nothing to close")

    person = uuid4()
    gone = Socket(
        thread_id=uuid4(),
        sign_in=SignIn("key", person, "hash"),
        admission=Admission(Viewer(person, whole=True), {}),
        send=send,
        end=end,
    )
    await gone.text("first", 1)
    await gone.text("second", 2)
    assert tried == ["first"]
    assert not gone.open
