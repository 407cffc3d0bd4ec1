"""An AG-UI front end at a web process, its turns in a runner, on PostgreSQL and Redis (DESIGN 11 and 12)."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.support.fleet import Fleet, fleet
from tests.support.front import (
    SCRIPT,
    Front,
    a_question_is_answered_by_the_next_run,
    an_action_is_seen_and_stays_with_its_person,
)
from tests.support.issuing import issued
from tests.support.visitor import visiting


@pytest.fixture
def processes(demo: dict[str, str]) -> Iterator[Fleet]:
    with fleet(demo, ACCORD_MODEL=f"scripted:{SCRIPT}") as found:
        yield found


async def test_what_waits_for_people_interrupts_runs_and_is_answered_by_who_may(processes: Fleet) -> None:
    (web,) = processes.starts(webs=1, runners=1)
    secret = issued(web)["ana"]
    with httpx.Client(base_url=web.url, timeout=60) as http, visiting(web, "ana") as ana:
        a_question_is_answered_by_the_next_run(Front(http, secret))
        await an_action_is_seen_and_stays_with_its_person(Front(http, secret), ana)
    assert "no violation" in processes.audit()
