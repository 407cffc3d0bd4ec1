"""How many deliveries a second are admitted, beside the same as a Django view and a bare ASGI hello on one server."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from uuid import uuid4

from agents.models.sources import Delivery
from tests.benchmarks import asking, people
from tests.benchmarks.results import Result, p50, ratio_at_least
from tests.benchmarks.run import Run
from tests.support.deliveries import headers_of, source

SETTINGS = "tests.benchmarks.peers.admission_settings"
AT_ONCE = 64
"""Connections: so many senders deliver at the same time."""

A_MINUTE = 100_000
"""What the source may send: the most that can be set."""

PATIENCE = 60.0
BODY = json.dumps({"type": "table.offered", "subject": "reservation R1", "text": "A table for 4 is free."}).encode()
"""Nothing here is known as its subject, so that acting on it costs the least: it waits for people."""

SLOWER = 4
"""By how much less the view is sent in a round, so that each takes about as long."""

PATHS = {"hooks": ("/hooks/restaurant/", 1), "view": ("/view/restaurant/", SLOWER)}


def measure(run: Run) -> list[Result]:
    """Send rounds to each by turns; what was stored is acted on before the next begins."""
    source(people.studio(), per_minute=A_MINUTE)
    with run.accord(DJANGO_SETTINGS_MODULE=SETTINGS) as server:
        rates = _rounds(server.url, run.size(5, 2), run.size(1_000, 200))
    name = f"deliveries admitted a second, {AT_ONCE} senders at once, p50"
    ours = p50(rates["hooks"])
    return [
        Result(name, ours, "/s", p50(rates["view"]), "the same as a Django view", ratio_at_least(4)),
        Result(name, ours, "/s", p50(rates["hello"]), "a bare ASGI hello", ratio_at_least(0.2)),
    ]


def _rounds(url: str, rounds: int, size: int) -> dict[str, list[float]]:
    """Return how many a second each answered, round for round; the first one is not counted."""
    hello = asking.request(url, "/hello/")
    rates: dict[str, list[float]] = {name: [] for name in ("hello", *PATHS)}
    for _ in range(1 + rounds):
        rates["hello"].append(_answered(url, [hello] * size))
        for name, (path, less) in PATHS.items():
            rates[name].append(_answered(url, [_delivery(url, path) for _ in range(size // less)]))
            _acted_on()
    return {name: each[1:] for name, each in rates.items()}


def _answered(url: str, requests: Sequence[bytes]) -> float:
    return asyncio.run(asking.a_second(url, requests, at_once=AT_ONCE))


def _delivery(url: str, path: str) -> bytes:
    return asking.request(url, path, BODY, headers_of(BODY, id=uuid4().hex))


def _acted_on() -> None:
    """Wait until what was stored has been acted on."""
    deadline = time.monotonic() + PATIENCE
    while Delivery.objects.filter(state=Delivery.State.STORED).exists():
        assert time.monotonic() < deadline, "it was not acted on"
        time.sleep(0.02)
