"""What sources and timers are called wherever an actor is shown (DESIGN 5: input has a verified sender)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from agents.models.sources import Source
from agents.models.timers import Timer
from permissions.senders import Sender

TIMER_NAME = "Timer"
SIGNATURE, OWN_CLOCK = "signature", "own clock"
"""By what the input of a source is known to be its own: a webhook's and a timer's."""


def senders(ids: Iterable[UUID]) -> Mapping[UUID, Sender]:
    """Return the sources and timers among some ids, in two queries at most."""
    wanted = set(ids)
    rows = Source.objects.filter(pk__in=wanted).values_list("pk", "label")
    found = {id: Sender(label, SIGNATURE) for id, label in rows}
    if left := wanted - found.keys():
        timers = Timer.objects.filter(pk__in=left).values_list("pk", flat=True)
        found |= {id: Sender(TIMER_NAME, OWN_CLOCK) for id in timers}
    return found
