"""The audit: every thread's log from its first event to its head, judged by every rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agents.audit import ends, reading
from agents.audit.chain import Chain
from agents.audit.grants import GrantHistory
from agents.audit.rows import EventRow, Finding, Rows, ThreadRow
from agents.audit.rules import RULES
from agents.audit.state import State, apply


def _nothing(_: object) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class Progress:
    """How far an audit has come; ``tell`` is called with it now and then."""

    tell: Callable[[Progress], None] = _nothing
    threads: int = 0
    events: int = 0


def audit(progress: Progress, passed: Callable[[ThreadRow], None] = _nothing) -> Iterator[Finding]:
    """Judge every thread, and yield what is wrong as it is found.

    What it holds in memory is a stretch of one log, what is open in it, and the grant history of one workspace.

    Args:
        progress: is moved on as the audit goes.
        passed: is called with every thread that has been read.
    """
    workspace, grants = "", GrantHistory(frozenset(), {})
    for thread in reading.threads():
        if thread.workspace != workspace:
            workspace, grants = thread.workspace, reading.history(thread.workspace)
        yield from _thread(thread, grants, progress)
        progress.threads += 1
        passed(thread)


def _thread(thread: ThreadRow, grants: GrantHistory, progress: Progress) -> Iterator[Finding]:
    state, chain = State(thread, grants), Chain(thread)
    for stretch in reading.stretches(thread):
        rows = reading.rows_named(thread, stretch)
        for event in stretch:
            yield from chain.follow(event)
            yield from _event(state, event, rows)
            apply(state, event, rows)
        progress.events += len(stretch)
        progress.tell(progress)
    yield from chain.end()
    yield from ends.end(state, reading.rows_open(state))


def _event(state: State, event: EventRow, rows: Rows) -> Iterator[Finding]:
    for name, rules in RULES.items():
        for rule in rules:
            for because in rule(state, event, rows):
                yield Finding(name, state.thread.id, event.seq, because)
