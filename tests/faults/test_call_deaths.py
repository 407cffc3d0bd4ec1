"""A runner is killed at each point of a call's path: the world is asked at most once for a key (FAILURES C; promise 7).

The cases die one after another; one runner then goes on with what all of them left, and each test reads what came of
its own.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.faults.dying import ENTRY
from tests.faults.watching import PATIENCE
from tests.support.fleet import Fleet, fleet
from tests.support.server import ROOT, the_world, working

pytestmark = pytest.mark.timeout(600)
SCRIPT = Path(__file__).with_name("tables.yaml")
UNFINISHED = (
    "SELECT 1 FROM agents_turn WHERE status = 'running' UNION ALL SELECT 1 FROM collab_message WHERE waits"
    " UNION ALL SELECT 1 FROM agents_pendingaction WHERE state = 'approved' AND approved_turn_id IS NULL"
)
TURNS = "SELECT thread_id::text, status, reason FROM agents_turn ORDER BY number"
CALLS = (
    "SELECT thread_id::text, outcome, moved_from, key FROM agents_call JOIN agents_turn ON agents_turn.id = turn_id"
    " ORDER BY agents_turn.number, agents_call.number"
)
SAID = "SELECT thread_id::text, content FROM collab_message WHERE turn_id IS NOT NULL ORDER BY seq"

PLAIN, RESENT = ("done", ""), ("done", "unknown")
STEP, LEFT_OUT = ("done", "pending_confirmation"), ("not_attempted", "pending_confirmation")
ONCE, NO_ONE_KNOWS = [1], [("unknown", "")]
LOST, UNDONE, UNDOES = ("unknown", ""), ("undone", "done"), [0, 0]
BOTH, STEPS, STEPS_RESENT = [1, 1], [STEP, STEP], [RESENT, STEP]
STEPS_STOPPED = [("unknown", "pending_confirmation"), LEFT_OUT]
CAME: dict[str, tuple[list[tuple[str, str]], list[int]]] = {
    "book_keyed:not_stored": ([PLAIN], ONCE),
    "book_keyed:stored": ([RESENT], ONCE),
    "book_keyed:acted": ([RESENT], ONCE),
    "book_keyed:answered": ([RESENT], ONCE),
    "book_keyed:settled": ([PLAIN], ONCE),
    "book_looked_up:not_stored": ([PLAIN], ONCE),
    "book_looked_up:stored": ([("failed", "unknown"), PLAIN], [0, 1]),
    "book_looked_up:acted": ([RESENT], ONCE),
    "book_looked_up:answered": ([RESENT], ONCE),
    "book_looked_up:settled": ([PLAIN], ONCE),
    "book_neither:not_stored": ([PLAIN], ONCE),
    "book_neither:stored": (NO_ONE_KNOWS, [0]),
    "book_neither:acted": (NO_ONE_KNOWS, ONCE),
    "book_neither:answered": (NO_ONE_KNOWS, ONCE),
    "book_neither:settled": ([PLAIN], ONCE),
    "order_keyed:not_stored": (STEPS, BOTH),
    "order_keyed:stored": (STEPS_RESENT, BOTH),
    "order_keyed:acted": (STEPS_RESENT, BOTH),
    "order_keyed:answered": (STEPS_RESENT, BOTH),
    "order_keyed:settled": (STEPS, BOTH),
    "order_looked_up:not_stored": (STEPS, BOTH),
    "order_looked_up:stored": ([("failed", "unknown"), LEFT_OUT], [0, 0]),
    "order_looked_up:acted": (STEPS_RESENT, BOTH),
    "order_looked_up:answered": (STEPS_RESENT, BOTH),
    "order_looked_up:settled": (STEPS, BOTH),
    "order_neither:not_stored": (STEPS, BOTH),
    "order_neither:stored": (STEPS_STOPPED, [0, 0]),
    "order_neither:acted": (STEPS_STOPPED, [1, 0]),
    "order_neither:answered": (STEPS_STOPPED, [1, 0]),
    "order_neither:settled": (STEPS, BOTH),
    "repeat_keyed:not_stored": ([LOST, PLAIN], BOTH),
    "repeat_keyed:stored": ([LOST, RESENT], BOTH),
    "repeat_keyed:acted": ([LOST, RESENT], BOTH),
    "repeat_keyed:answered": ([LOST, RESENT], BOTH),
    "repeat_neither:not_stored": ([LOST, PLAIN], BOTH),
    "repeat_neither:stored": ([LOST, LOST], [1, 0]),
    "repeat_neither:acted": ([LOST, LOST], BOTH),
    "repeat_neither:answered": ([LOST, LOST], BOTH),
    "undo_keyed:not_stored": ([UNDONE, PLAIN], UNDOES),
    "undo_keyed:stored": ([UNDONE, ("failed", "unknown"), PLAIN], [0, 0, 0]),
    "undo_keyed:claimed": ([PLAIN, LOST], [1, 0]),
    "undo_keyed:taken_back": ([PLAIN, LOST], UNDOES),
    "undo_keyed:answered": ([UNDONE, RESENT], UNDOES),
    "undo_keyed:settled": ([UNDONE, PLAIN], UNDOES),
}
"""What comes of each call of a case, as its outcome and the one before, and how often the world acts for it; what it
took back is not counted."""


@dataclass(frozen=True, slots=True)
class Left:
    """What came of a case: how its process ended, the thread's turns, its calls in order as outcome and the one before,
    how often the world acted for each of them and did not take it back, and what the agent said."""

    ended: int
    turns: list[tuple[str, str]]
    calls: list[tuple[str, str]]
    deeds: list[int]
    said: str


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What came of every case, what the world did for no call, and what the audit says."""

    of: dict[str, Left]
    unclaimed: list[str]
    audit: str


@pytest.fixture(scope="module")
def aftermath(demo: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    """Every case worked to its death, and then what it left worked to its end by a runner."""
    ledger = tmp_path_factory.mktemp("world") / "world.jsonl"
    with the_world(demo, "--ledger", str(ledger)) as world:
        variables = {"ACCORD_WORLD_URL": world.url, "ACCORD_MODEL": f"scripted:{SCRIPT}", "ACCORD_LEASE_SECONDS": "3"}
        with fleet(demo, **variables) as processes:
            died = _died(processes, list(CAME))
            with working(processes.environment, entry=(*ENTRY, "manage")):
                _until_finished(processes)
            return _aftermath(processes, ledger, died)


@pytest.mark.parametrize("case", CAME)
def test_what_a_killed_process_left_is_done_at_most_once_and_recorded_as_it_is(aftermath: Aftermath, case: str) -> None:
    left = aftermath.of[case]
    assert left.ended == -signal.SIGKILL, "it did not come to its point"
    calls, deeds = CAME[case]
    assert left.calls == calls
    assert left.deeds == deeds, "the world's own ledger"
    assert left.turns[-2:] == [("failed", "abandoned"), ("completed", "")]
    assert ("being checked" in left.said) == any(outcome == "unknown" for outcome, _ in calls)


def test_after_all_of_it_every_deed_is_of_a_call_and_the_audit_finds_nothing(aftermath: Aftermath) -> None:
    assert aftermath.unclaimed == []
    assert "no violation" in aftermath.audit


def _died(processes: Fleet, cases: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Work cases to their deaths; return the thread that each left, and how its process ended."""
    command = [sys.executable, *ENTRY, "die", *cases]
    done = subprocess.run(command, cwd=ROOT, env=processes.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert all(one["thread"] for one in found), done.stderr
    return {one["case"]: (one["thread"], one["ended"]) for one in found}


def _until_finished(processes: Fleet) -> None:
    give_up = time.monotonic() + PATIENCE
    while processes.ask(UNFINISHED):
        assert time.monotonic() < give_up, "what was left was not worked to its end"
        time.sleep(0.1)


def _aftermath(processes: Fleet, ledger: Path, died: dict[str, tuple[str, int]]) -> Aftermath:
    deeds = Counter(
        entry["args"].get("name", entry["key"]) for entry in map(json.loads, ledger.read_text().splitlines())
    )
    turns, calls, said = (_by_thread(processes.ask(sql)) for sql in (TURNS, CALLS, SAID))
    of = {
        case: Left(
            ended, turns[thread], [(outcome, before) for outcome, before, _ in calls[thread]],
            [deeds.pop(key, 0) - deeds.pop(f"{key}:undo", 0) for _, _, key in calls[thread]],
            " ".join(text for (text,) in said[thread]),
        )
        for case, (thread, ended) in died.items()
    }  # fmt: skip
    return Aftermath(of, list(deeds), processes.audit())


def _by_thread(rows: list[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for thread, *rest in rows:
        found[thread].append(tuple(rest))
    return found
