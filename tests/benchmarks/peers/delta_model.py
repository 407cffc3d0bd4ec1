"""A model that streams the deltas, as an OpenAI-compatible service. ``PORT DELTAS``."""

from __future__ import annotations

import asyncio
import json
import sys
from functools import partial
from typing import Any

from tests.benchmarks.peers.deltas import deltas

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


async def answer(count: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Stream one whole answer to one request."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length:"))
        await reader.readexactly(length)
        writer.write(HEAD)
        async for text in deltas(count):
            writer.write(_piece({"content": text}))
            await writer.drain()
        writer.write(_piece({}, finish="stop") + b"data: [DONE]\n\n")
        await writer.drain()
    except asyncio.IncompleteReadError:
        pass  # somebody only looked whether the port answers
    finally:
        writer.close()


def _piece(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "deltas"}
    return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode()


async def main(port: int, count: int) -> None:
    """Serve until killed."""
    server = await asyncio.start_server(partial(answer, count), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
