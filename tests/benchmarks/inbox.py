"""What the inbox costs with 10,000 open proposals in 1,000 threads, beside a hand-written query for the same rows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.test import Client
from django.urls import reverse

from collab import inbox
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Thread
from permissions.actors import Person
from tests.benchmarks import people
from tests.benchmarks.decide import fill
from tests.benchmarks.places import POSTGRESQL
from tests.benchmarks.results import Result, at_most, p50
from tests.benchmarks.run import Run
from tests.benchmarks.timing import alternately
from tests.support.cast import PLAN, Studio
from tests.support.queries import queries

ROUNDS = 40
THREADS, A_THREAD = 1_000, 10
BEGUN = datetime(2026, 3, 2, tzinfo=UTC)
HAND = "one hand-written query for the same rows, and one that counts"


def measure(run: Run) -> list[Result]:
    """Time the page, and counting what waits, as Ben has it."""
    made = people.studio()
    fill(made, run.size(10_000, 1_000))
    opened = propose(made, run.size(THREADS, 50))
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(made.ben.user)
    reader = Person(made.ben.id)
    took = alternately(
        {"page": _page(browser), "count": lambda: inbox.counted(reader), "sql": _by_hand(made)}, run.size(ROUNDS, 5)
    )
    at = f"{opened:,} open proposals in {opened // A_THREAD:,} threads"
    fast = at_most(150) if run.database == POSTGRESQL else None
    beside = p50(took["sql"])
    return [
        Result("inbox: its page, p50", p50(took["page"]), "ms", beside, HAND, fast, at),
        Result("inbox: counting what waits, p50", p50(took["count"]), "ms", beside, HAND, None, at),
        Result("inbox: statements of its page", _statements(browser), "", None, "", at_most(30), at),
    ]


def propose(made: Studio, threads: int) -> int:
    """Fill the workspace with threads and documents, and propose in each thread for and by everyone in turn; return how
    many proposals there are."""
    workspace = made.workspace
    places = Thread.objects.bulk_create(Thread(workspace=workspace, title=f"Thread {n}") for n in range(threads))
    documents = Document.objects.bulk_create(
        Document(workspace=workspace, title=f"Plan {n}", kind="markdown", data={"text": PLAN}) for n in range(threads)
    )
    proposals = [
        _proposal(made, thread, document, number)
        for thread, document in zip(places, documents, strict=True)
        for number in range(A_THREAD)
    ]
    for first in range(0, len(proposals), 1_000):
        Proposal.objects.bulk_create(proposals[first : first + 1_000])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return len(proposals)


def _proposal(made: Studio, thread: Thread, document: Document, number: int) -> Proposal:
    ana, ben, robin = made.ana, made.ben, made.robin
    proposers = (ana.actor, ben.actor, *(robin.acting_for(whom, thread) for whom in (ana, ben)))
    return Proposal(
        workspace_id=thread.workspace_id, thread=thread, seq=number + 1, document=document, change="edit",
        kind="markdown", title=document.title, base_version=1, edits=[{"find": "900", "replace": "950"}],
        base_data={"text": PLAN * 20}, data={"text": PLAN * 20}, proposer=proposers[number % len(proposers)],
        proposed_at=BEGUN + timedelta(seconds=number),
    )  # fmt: skip


def _page(browser: Client) -> Callable[[], Any]:
    def load() -> Any:
        answer = browser.get(reverse("inbox"))
        assert answer.status_code == 200
        return answer

    assert b"99+" in load().content
    return load


def _statements(browser: Client) -> int:
    with queries() as sent:
        browser.get(reverse("inbox"))
    return len(sent)


_ROWS = """
SELECT p.id, p.title, p.rationale, p.proposer, p.proposed_at, t.title
FROM collab_proposal p JOIN collab_thread t ON t.id = p.thread_id
WHERE p.workspace_id = %s AND p.state = 'open' AND p.proposer <> %s ORDER BY p.proposed_at DESC LIMIT 51
"""
_COUNTS = """
SELECT thread_id, COUNT(*) FROM collab_proposal
WHERE workspace_id = %s AND state = 'open' AND proposer <> %s GROUP BY thread_id
"""


def _by_hand(made: Studio) -> Callable[[], Any]:
    """Return what reads the rows of the page and counts them by hand, for someone who is known to be an editor."""
    workspace = _adapted(made.workspace.id)

    def ask() -> Any:
        with connection.cursor() as cursor:
            cursor.execute(_ROWS, [workspace, f"person:{made.ben.id}"])
            rows = cursor.fetchall()
            cursor.execute(_COUNTS, [workspace, f"person:{made.ben.id}"])
            return rows, cursor.fetchall()

    assert len(ask()[0]) == 51
    return ask


def _adapted(id: UUID) -> Any:
    return Proposal._meta.pk.get_db_prep_value(id, connection)
