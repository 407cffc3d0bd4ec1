"""What a search costs among 100,000 messages and 1,000 documents, beside a LIKE scan that asks nobody's rights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from django.db import connection

from collab.models.documents import Document
from collab.models.threads import Message, Thread
from collab.search import Kind, found, question, workspaces_in_reach
from tests.benchmarks import history, people
from tests.benchmarks.results import Result, p50, ratio_at_most
from tests.benchmarks.run import Run
from tests.benchmarks.timing import alternately
from tests.support.cast import Studio

ROUNDS = 20
RARES, USUALS = "a rare word", "a usual word"
THREADS = 10
RARE, USUAL = "candelabra", "flowers"
"""A word of ten messages and ten documents, so that a scan reads all; a word of every second message."""


def measure(run: Run) -> list[Result]:
    """Fill ten threads and many documents, then search as Ben, who may view all of it."""
    made = people.studio()
    messages, documents = run.size(100_000, 4_000), run.size(1_000, 100)
    _fill(made, messages, documents)
    took = alternately(_calls(made), run.size(ROUNDS, 5))
    at = f"{Message.objects.count():,} messages, {Document.objects.count():,} documents"
    like = "LIKE over every text, newest 21, nobody's rights"
    return [
        Result(f"search {name}, p50", p50(took[name]), "ms", p50(took[f"like, {name}"]), like, target, at)
        for name, target in (
            (f"messages for {RARES}", ratio_at_most(1)),
            (f"documents for {RARES}", None),
            (f"messages for {USUALS}", None),
        )
    ]


def _fill(made: Studio, messages: int, documents: int) -> None:
    for number in range(THREADS):
        thread = people.another_thread(made, f"Thread {number}")
        Message.objects.bulk_create(_messages(made, thread, messages // THREADS), batch_size=1_000)
    Document.objects.bulk_create(
        Document(workspace=made.workspace, title=f"Document {number}", kind="markdown", data={}, text=_text(number))
        for number in range(documents)
    )
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # what its own autovacuum does


def _messages(made: Studio, thread: Thread, number: int) -> Iterator[Message]:
    """Yield messages without their events, which no search reads."""
    for seq in range(1, number + 1):
        text = history.REPLIED if seq % 2 else history.ASKED
        yield Message(
            thread=thread, seq=seq, kind="message", author=made.ana.actor, author_key="x", client_id=str(seq), salt="",
            content=f"{text} {RARE if seq == number else ''} ({seq})", posted_at=thread.created_at,
        )  # fmt: skip


def _text(number: int) -> str:
    return f"{history.REPLIED} {RARE if number < THREADS else ''} {number}\n" * 20


def _calls(made: Studio) -> Mapping[str, Callable[[], object]]:
    """Search and scan; the scan for a usual word stops at the first few, the search counts 200 more."""
    reach = workspaces_in_reach(made.ben.actor)
    calls: dict[str, Callable[[], object]] = {}
    for kind, words, word in (
        (Kind.MESSAGES, RARES, RARE), (Kind.DOCUMENTS, RARES, RARE), (Kind.MESSAGES, USUALS, USUAL),
    ):  # fmt: skip
        wanted = question(word)
        assert wanted is not None
        assert found(made.ben.actor, wanted, kind, reach).hits
        name = f"{kind} for {words}"
        calls[name] = partial(found, made.ben.actor, wanted, kind, reach)
        calls[f"like, {name}"] = partial(_scan, kind, word)
    return calls


def _scan(kind: Kind, word: str) -> None:
    texts = (
        Message.objects.filter(content__icontains=word)
        if kind is Kind.MESSAGES
        else Document.objects.filter(text__icontains=word)
    )
    assert list(texts.order_by("-pk")[:21])
