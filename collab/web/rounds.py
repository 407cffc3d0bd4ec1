"""Work that is done in rounds: what goes wrong in one is logged, and made up for by the next."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

logger = logging.getLogger(__name__)


async def every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    """Do something again and again, until this is cancelled.

    Args:
        seconds: how long each round is waited for.
    """
    while True:
        await asyncio.sleep(seconds)
        await logged(work())


async def logged(work: Awaitable[None]) -> None:
    """Do something of a round. A failure (a database that is away) is logged."""
    try:
        await work
    except Exception:
        logger.exception("A round could not be done")
