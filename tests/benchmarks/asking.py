"""Asking a server over HTTP as fast as it answers, on connections that stay open."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
END = b"\r\n\r\n"


def request(url: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> bytes:
    """Return a request as it is sent: a GET, or with a body a POST."""
    lines = [f"{'GET' if body is None else 'POST'} {path} HTTP/1.1", f"Host: {urlsplit(url).netloc}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    lines += [f"Content-Length: {len(body)}"] if body is not None else []
    return "\r\n".join(lines).encode() + END + (body or b"")


async def a_second(url: str, requests: Sequence[bytes], *, at_once: int) -> float:
    """Send each request once, on so many connections, each as soon as the one before it is answered.

    Returns:
        How many were answered a second.

    Raises:
        AssertionError: one was not answered with 2xx.
    """
    where = urlsplit(url)
    opened = await asyncio.gather(*(asyncio.open_connection(where.hostname, where.port) for _ in range(at_once)))
    left = iter(requests)
    start = time.perf_counter()
    await asyncio.gather(*(_ask(reader, writer, left) for reader, writer in opened))
    seconds = time.perf_counter() - start
    for _, writer in opened:
        writer.close()
    return len(requests) / seconds


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: Iterator[bytes]) -> None:
    for one in left:
        writer.write(one)
        head = await reader.readuntil(END)
        length = LENGTH.search(head)
        assert length, head
        told = await reader.readexactly(int(length[1]))
        assert head[9:10] == b"2", (head, told)
