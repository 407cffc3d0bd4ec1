"""What those who run Accord watch, in Prometheus's text format (DESIGN 11, Metrics).

It is read from the database, so every web process answers the same; only how deliveries were answered is each
process's own, as refusing one writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from hmac import compare_digest

from django.conf import settings
from django.db import connection
from django.db.models import Count, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from agents.models.replies import ReplyCount
from agents.models.sources import Delivery
from agents.models.turns import Turn
from agents.sources import counts
from collab.models.threads import Message


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Show the metrics to who sends ACCORD_METRICS_TOKEN as a bearer token; where it is not set there are none."""
    token: str = settings.ACCORD_METRICS_TOKEN
    if not token:
        raise Http404
    sent = request.headers.get("Authorization", "")
    if not compare_digest(sent.encode(), f"Bearer {token}".encode()):
        return HttpResponse("The token is missing or wrong.", status=401, headers={"WWW-Authenticate": "Bearer"})
    registry = CollectorRegistry(auto_describe=False)
    registry.register(FromDatabase())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)


class FromDatabase(Collector):
    """Reads each metric when it is asked for, in one query each."""

    def collect(self) -> Iterator[Metric]:
        """Yield every metric there is."""
        yield _rulings()
        yield _turns()
        waiting = Message.objects.filter(waits=True).count()
        yield GaugeMetricFamily("accord_messages_waiting", "Messages that no turn has taken yet.", value=waiting)
        yield counts.metric()
        yield _deliveries()
        if settings.ACCORD_RUNNERS:
            yield _heartbeat()


def _rulings() -> Metric:
    labels = ("rule", "tool", "action")
    found = CounterMetricFamily("accord_reply_rulings", "What rules did to what agents wrote.", labels=labels)
    for *ruled, number in ReplyCount.objects.order_by(*labels).values_list(*labels).annotate(Sum("number")):
        found.add_metric(ruled, number)
    return found


def _turns() -> Metric:
    found = GaugeMetricFamily("accord_turns", "Turns that are not over; a thread has one running.", labels=["status"])
    for status in (Turn.Status.RUNNING, Turn.Status.PAUSED):
        found.add_metric([status.value], Turn.objects.filter(status=status).count())
    return found


def _deliveries() -> Metric:
    found = GaugeMetricFamily("accord_deliveries_waiting", "Deliveries that were not acted on yet.", labels=["state"])
    waiting = Delivery.objects.filter(state__in=Delivery.WAITS)
    numbers = dict(waiting.order_by("state").values_list("state").annotate(Count("pk")))
    for state in Delivery.WAITS:
        found.add_metric([state.value], numbers.get(state.value, 0))
    return found


def _heartbeat() -> Metric:
    found = GaugeMetricFamily(
        "accord_runner_heartbeat_timestamp_seconds", "When a runner was last heard of, the newest of any."
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(last_heartbeat) FROM procrastinate_workers")
        (newest,) = cursor.fetchone()
    if newest is not None:
        found.add_metric([], newest.timestamp())
    return found
