"""Forgetting what was acted on, once no sender sends it any more (DESIGN 8; FAILURES D9)."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q

from agents.models.sources import Delivery, Source
from permissions.clock import AccordNow

LEAST_DAYS = 7
"""Days that every delivery is kept at least: senders try again for more than three."""

OVER = (Delivery.State.ACTED, Delivery.State.SUPERSEDED)
AT_ONCE = 500


def deliveries_forget(*, at_once: int = AT_ONCE) -> int:
    """Delete deliveries that were settled longer ago than their source keeps them, and return how many.

    What waits to be acted on or routed stays, however old it is.

    Args:
        at_once: how many of each source at most.
    """
    return sum(_of(source, at_once) for source in Source.objects.only("id", "keep_days"))


def _of(source: Source, at_once: int) -> int:
    before = AccordNow() - timedelta(days=max(source.keep_days, LEAST_DAYS))
    settled = Q(acted_at=None) | Q(acted_at__lt=before)
    old = Delivery.objects.filter(settled, source=source, state__in=OVER, received_at__lt=before)
    ids = list(old.order_by("received_at").values_list("pk", flat=True)[:at_once])
    return Delivery.objects.filter(pk__in=ids, state__in=OVER).delete()[0] if ids else 0
