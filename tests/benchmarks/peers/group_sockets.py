"""The usual Channels design: each viewer's consumer is in the room's group, on Daphne. ``PORT VIEWERS DELTAS``.

The layer is in memory and keeps its default capacity, 100 messages a channel.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from channels.layers import get_channel_layer
from daphne.server import Server
from django.conf import settings
from twisted.internet import reactor

from tests.benchmarks.peers.deltas import deltas

ROOM = "room"


class State:
    """Who is here, and what begins when all are."""

    viewers = 0
    count = 0
    here = 0
    producing: asyncio.Task[None] | None = None


class Viewer(AsyncWebsocketConsumer):
    """One viewer of the room."""

    async def connect(self) -> None:
        await self.channel_layer.group_add(ROOM, self.channel_name)
        await self.accept()
        State.here += 1
        if State.here == State.viewers:
            State.producing = asyncio.create_task(produce())

    async def room_delta(self, event: dict[str, Any]) -> None:
        """Pass one delta on."""
        await self.send(event["text"])


async def produce() -> None:
    """Send every delta to the group."""
    layer = get_channel_layer()
    async for delta in deltas(State.count):
        await layer.group_send(ROOM, {"type": "room.delta", "text": delta})


def main(port: int, viewers: int, count: int) -> None:
    """Serve until killed."""
    State.viewers, State.count = viewers, count
    settings.configure(CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}})
    endpoint = f"tcp:port={port}:interface=127.0.0.1"
    server = Server(Viewer.as_asgi(), endpoints=[endpoint], signal_handlers=False)
    reactor.addSystemEventTrigger("before", "shutdown", server.kill_all_applications)
    server.run()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
