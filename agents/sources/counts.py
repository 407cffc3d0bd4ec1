"""How deliveries were answered by this process since it started, which costs the database nothing (FAILURES D14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock

from prometheus_client.metrics_core import CounterMetricFamily, Metric

_answered: Counter[tuple[str, str]] = Counter()
_lock = Lock()


def count(source: str, result: str) -> None:
    """Count an answer.

    Args:
        source: the source's name; empty where there is none of that name, so that nobody can make up labels.
        result: ``stored``, ``repeated``, ``conflict``, or the code of why it was refused.
    """
    with _lock:
        _answered[source, result] += 1


def answered() -> Mapping[tuple[str, str], int]:
    """Return how often each source was answered with each result."""
    with _lock:
        return dict(_answered)


def metric() -> Metric:
    """Return the answers as a metric."""
    labels = ("source", "result")
    found = CounterMetricFamily("accord_deliveries", "How this process answered deliveries.", labels=labels)
    for key, number in sorted(answered().items()):
        found.add_metric(key, number)
    return found
