"""How true, how watchful and how fast the reply check is on a file of cases (REPLIES, Targets).

``make replies DATA=FILE`` writes what this prints to ``docs/replies-report.md``. It needs no database.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from agents.replies.cases import Case, case_of, checked_case, setting_of, writes_of
from agents.replies.mending import Setting
from agents.replies.mutations import detections

LONGEST = 4_000
"""Characters of the replies that are timed."""
MOST_CALLS = 20
REPEATS = 5
BLIND = Path(__file__).with_name("replies_blind.md")
"""How the check did on replies it had not been made with, when it first read them."""


def report(path: Path) -> str:
    """Return the report on a file of cases, in Markdown."""
    cases = [case_of(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line.strip()]
    setting = setting_of(cases)
    lines = [
        "# The reply check, measured",
        "",
        f"On `{path.name}`: {len(cases)} replies. `make replies DATA=FILE` writes this page.",
        "",
    ]
    lines += _kept(cases, setting)
    lines += ["", "| change | caught | of | |", "|---|---:|---:|---:|"]
    lines += [
        f"| {found.kind} | {found.caught} | {found.of} | {found.caught / found.of:.1%} |"
        for found in detections(cases, setting)
    ]
    lines += ["", *_timed(cases, setting), BLIND.read_text("utf-8")]
    return "\n".join(lines)


def _kept(cases: Sequence[Case], setting: Setting) -> list[str]:
    changed = [case for case in cases if checked_case(case, setting).rulings]
    writing = [case for case in cases if writes_of(case, setting)]
    share = sum(case in changed for case in writing)
    return [
        "| replies as they were written | changed | of | |",
        "|---|---:|---:|---:|",
        f"| all | {len(changed)} | {len(cases)} | {len(changed) / max(1, len(cases)):.2%} |",
        f"| of turns that did a write | {share} | {len(writing)} | {share / max(1, len(writing)):.2%} |",
    ]


def _timed(cases: Sequence[Case], setting: Setting) -> list[str]:
    timed = [case for case in cases if len(case.reply) <= LONGEST and len(case.record.all) <= MOST_CALLS]
    for case in timed:
        for call in case.record.all:
            # Evidence is made once, when a call is recorded.
            _ = call.evidence, call.sent
    times = sorted(min(_once(case, setting) for _ in range(REPEATS)) for case in timed)
    median, slow = times[len(times) // 2], times[int(len(times) * 0.99)]
    return [
        f"Of {len(times)} replies of up to {LONGEST:,} characters with up to {MOST_CALLS} calls:"
        f" median {median * 1000:.2f} ms, 99 of 100 within {slow * 1000:.2f} ms."
    ]


def _once(case: Case, setting: Setting) -> float:
    start = perf_counter()
    checked_case(case, setting)
    return perf_counter() - start


if __name__ == "__main__":
    sys.stdout.write(report(Path(sys.argv[1])))
