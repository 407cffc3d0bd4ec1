"""The floor: `websockets` alone, one process, every delta sent to every viewer. ``PORT VIEWERS DELTAS``."""

from __future__ import annotations

import asyncio
import sys

from websockets.asyncio.server import ServerConnection, broadcast, serve

from tests.benchmarks.peers.deltas import deltas


async def main(port: int, viewers: int, count: int) -> None:
    """Serve until killed; the deltas begin when all viewers are there."""
    here: set[ServerConnection] = set()
    complete = asyncio.Event()

    async def stays(connection: ServerConnection) -> None:
        here.add(connection)
        if len(here) == viewers:
            complete.set()
        await connection.wait_closed()

    async with serve(stays, "127.0.0.1", port, compression=None, ping_interval=None):
        await complete.wait()
        async for delta in deltas(count):
            broadcast(here, delta)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
