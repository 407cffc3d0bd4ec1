"""Database work from asynchronous code: a small pool of threads of our own (STACK, Commit).

`sync_to_async` runs everything of a process on one shared thread; this pool has ``ACCORD_DB_THREADS``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from threading import Barrier
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, connections

P = ParamSpec("P")
T = TypeVar("T")

AWAY = (OperationalError, InterfaceError)
"""What is raised when the database is away, or went away: nobody knows whether what was being committed then was."""

THREADS: int = settings.ACCORD_DB_THREADS
_pool = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="accord-db")


async def in_db(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run one unit of database work in the pool and return what it returns; its exceptions pass through.

    The unit sees a copy of the caller's context variables. Connections that died or grew too old are closed before
    and after it. A caller that is cancelled stops waiting; the unit itself runs to its end.
    """
    unit = partial(copy_context().run, _unit, partial(fn, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_pool, unit)


def close_connections() -> None:
    """Close the database connections of every thread of the pool: at the end of a process, or of a test."""
    barrier = Barrier(THREADS)
    for done in [_pool.submit(_close, barrier) for _ in range(THREADS)]:
        done.result()


def _unit(fn: Callable[[], T]) -> T:
    close_old_connections()
    try:
        return fn()
    finally:
        close_old_connections()


def _close(barrier: Barrier) -> None:
    barrier.wait(timeout=30)  # so that each thread of the pool gets one
    connections.close_all()
