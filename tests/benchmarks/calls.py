"""What a call costs besides what its tool does: its checks, its rows and its events, twice committed (DESIGN 7)."""

from __future__ import annotations

import asyncio
import time
from uuid import uuid4

from pydantic import JsonValue
from pydantic_ai.messages import ToolCallPart

from agents.models.turns import Call
from agents.tools import gate
from agents.tools.contract import ToolContext, tool
from agents.turns.boundary import Work
from collab.db import close_connections
from tests.benchmarks import people
from tests.benchmarks.results import Result, at_most, p50
from tests.benchmarks.run import Run
from tests.support.cast import Studio
from tests.support.other_side import Counter
from tests.support.queries import queries
from tests.support.tools import registered
from tests.support.turns import posts
from tests.support.worked import Worker

A_TURN = 20


@tool(effect="write", keyed=True, per_turn=A_TURN, per_day=10_000, label="Do nothing")
async def do_nothing(ctx: ToolContext, number: int) -> JsonValue:
    """Do nothing; both of its limits are counted each time."""
    return None


def measure(run: Run) -> list[Result]:
    """Have turns call the tool again and again; the first one's calls are not timed."""
    made = people.studio()
    turns = run.size(15, 2)
    with registered(do_nothing):
        Counter(made, do_nothing)
        statements = _statements(made)
        timed = [one for _ in range(turns) for one in _turn(made, A_TURN)]
    close_connections()
    done = Call.objects.filter(outcome=Call.Outcome.DONE).count()
    assert done == (1 + turns) * A_TURN, f"{done} calls were done"
    took, worked = zip(*timed, strict=True)
    name = "a call of a keyed write tool that does nothing"
    return [
        Result(f"{name}, p50", p50(took), "ms", None, "", at_most(25)),
        Result(f"{name}: processor time of our process, p50", p50(worked), "ms"),
        Result(f"{name}: statements", statements, ""),
    ]


def _statements(made: Studio) -> int:
    """Return how many statements the last call of a turn sends."""
    worker = _begun(made)
    asyncio.run(_called(worker.work, A_TURN - 1))
    with queries() as sent:
        asyncio.run(_called(worker.work, 1))
    worker.ends()
    return len(sent)


def _turn(made: Studio, calls: int) -> list[tuple[float, float]]:
    worker = _begun(made)
    timed = asyncio.run(_called(worker.work, calls))
    worker.ends()
    return timed


def _begun(made: Studio) -> Worker:
    posts(made.ana, made.thread, "do nothing")
    return Worker.begins(made)


async def _called(work: Work, calls: int) -> list[tuple[float, float]]:
    """Make calls as a runner does; return how long each took and how long this process worked for it, in ms."""
    timed, before = [], len(work.records)
    for number in range(before + 1, before + calls + 1):
        part = ToolCallPart(do_nothing.name, {"number": number}, tool_call_id=uuid4().hex)
        start, worked = time.perf_counter(), time.process_time()
        await gate.carry_out(work, part, step=1, number=number)
        timed.append(((time.perf_counter() - start) * 1e3, (time.process_time() - worked) * 1e3))
    return timed
