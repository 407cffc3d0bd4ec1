"""Work that is done in rounds (DESIGN 9)."""

from __future__ import annotations

import asyncio

import pytest

from collab.web.rounds import every


async def test_a_round_that_fails_is_logged_and_the_next_is_done(caplog: pytest.LogCaptureFixture) -> None:
    done = asyncio.Event()
    rounds = []

    async def breaks_at_first() -> None:
        rounds.append(1)
        if len(rounds) == 1:
            raise ConnectionError("the database is away")
        done.set()

    going = asyncio.create_task(every(0.001, breaks_at_first))
    async with asyncio.timeout(10):
        await done.wait()
    going.cancel()
    assert "the database is away" in caplog.text
