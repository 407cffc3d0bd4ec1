"""A small OpenAI-compatible chat service on 127.0.0.1 that answers as it is told."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Self

DONE = "[DONE]"


@dataclass(frozen=True)
class Reply:
    """One answer of the service.

    Attributes:
        status, headers: of the HTTP response; anything but 200 has an error body.
        chunks: the streamed events, as JSON objects or as raw text.
        silent_before: the position of the chunk before which the service falls silent for good; None for never.
        cut: whether the connection breaks after the chunks instead of ending.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: Sequence[Mapping[str, Any] | str] = ()
    silent_before: int | None = None
    cut: bool = False


def chunk(*, finish: str | None = None, usage: Mapping[str, int] | None = None, **delta: object) -> dict[str, Any]:
    """Return one streamed piece of a chat completion."""
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "test-model"}
    return {**head, "choices": [choice], "usage": usage}


def says(*pieces: str) -> Reply:
    """Return a whole answer in words."""
    usage = {"prompt_tokens": 7, "completion_tokens": len(pieces), "total_tokens": 7 + len(pieces)}
    return Reply(chunks=[*(chunk(content=piece) for piece in pieces), chunk(finish="stop", usage=usage), DONE])


def calls(tool: str, *argument_pieces: str) -> Reply:
    """Return an answer that calls a tool, its arguments streamed in pieces."""
    first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": tool, "arguments": ""}}
    rest = [{"index": 0, "function": {"arguments": piece}} for piece in argument_pieces]
    return Reply(chunks=[*(chunk(tool_calls=[call]) for call in (first, *rest)), chunk(finish="tool_calls"), DONE])


def refuses(status: int, **headers: str) -> Reply:
    """Return an HTTP error; header names are written with underscores."""
    return Reply(status=status, headers={name.replace("_", "-"): value for name, value in headers.items()})


def breaks_off(*pieces: str) -> Reply:
    """Return an answer whose connection breaks after these words."""
    return Reply(chunks=[chunk(content=piece) for piece in pieces], cut=True)


def stops_short(*pieces: str) -> Reply:
    """Return an answer that ends cleanly, but without saying that it is whole."""
    return Reply(chunks=[chunk(content=piece) for piece in pieces])


def falls_silent(*pieces: str) -> Reply:
    """Return an answer that says these words and then nothing more, keeping the connection open."""
    return Reply(chunks=[chunk(content=piece) for piece in pieces], silent_before=len(pieces))


class OpenAIServer:
    """Gives its replies in order; each request takes one.

    Attributes:
        requests: the bodies it was sent.
        hung_up: set when a client closed the connection before its answer ended.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.hung_up = asyncio.Event()
        self._replies: deque[Reply] = deque()
        self._busy: set[asyncio.Task[None]] = set()

    def will(self, *replies: Reply) -> None:
        """Queue replies."""
        self._replies.extend(replies)

    @property
    def url(self) -> str:
        """The base address for a client."""
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://{host}:{port}/v1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._busy:
            task.cancel()
        await asyncio.gather(*self._busy, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._busy.add(task)
        try:
            await self._answer(reader, writer)
        except ConnectionError:
            self.hung_up.set()
        except (asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._busy.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length:"))
        self.requests.append(json.loads(await reader.readexactly(length)))
        reply = self._replies.popleft()
        if reply.status != HTTPStatus.OK:
            await self._refuse(reply, writer)
            return
        writer.write(_head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", **reply.headers}))
        for position, piece in enumerate(reply.chunks):
            if reply.silent_before == position:
                break
            await _send(writer, f"data: {piece if isinstance(piece, str) else json.dumps(piece)}\n\n")
        if reply.silent_before is not None:
            await writer.drain()
            await reader.read()
            self.hung_up.set()
        elif not reply.cut:
            writer.write(b"0\r\n\r\n")
            await writer.drain()

    async def _refuse(self, reply: Reply, writer: asyncio.StreamWriter) -> None:
        body = json.dumps({"error": {"message": f"refused with {reply.status}", "type": "test", "code": None}})
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **reply.headers}
        writer.write(_head(reply.status, headers) + body.encode())
        await writer.drain()


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _send(writer: asyncio.StreamWriter, text: str) -> None:
    body = text.encode()
    writer.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
    await writer.drain()
