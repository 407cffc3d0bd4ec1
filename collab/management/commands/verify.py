"""``manage.py verify``: does every thread's log still hold together?"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from collab import log
from collab.models.threads import Thread


class Command(BaseCommand):
    """Check the hash chain of every thread's log (DESIGN 4)."""

    help = "Check every thread's log against its hashes; print a line for each that does not hold."

    def handle(self, *_: Any, **options: Any) -> None:
        """Verify all threads.

        Raises:
            CommandError: some log does not hold; each has been named on a line of its own.
        """
        threads = list(Thread.objects.order_by("id").values_list("id", flat=True))
        broken = [(thread, why) for thread in threads if (why := log.verify(thread))]
        for thread, why in broken:
            self.stdout.write(f"thread {thread}: {why}")
        if broken:
            raise CommandError(f"{len(broken)} of {len(threads)} logs do not hold")
        self.stdout.write(f"{len(threads)} logs hold")
