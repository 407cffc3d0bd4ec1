"""What is fanned out: short sentences, 200 a second, each with the time at which it was sent."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator

A_SECOND = 200
PARAGRAPH = 20
"""Sentences after which a new paragraph begins."""

STAMP = re.compile(r"At (\d+\.\d) it stands")


async def deltas(count: int) -> AsyncIterator[str]:
    """Yield this many sentences, each when it is due; a late one is sent at once and stamped when it is sent."""
    start = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(0.0, start + number / A_SECOND - time.monotonic()))
        end = "\n\n" if number % PARAGRAPH == PARAGRAPH - 1 else " "
        yield f"At {time.monotonic() * 1e3:.1f} it stands.{end}"


def stamps(text: str) -> list[float]:
    """Return the times in a text, in milliseconds of the clock that all processes share."""
    return [float(found) for found in STAMP.findall(text)]
