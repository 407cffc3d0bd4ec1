"""Asking a service over HTTP so that what became of it is known as far as it can be (DESIGN 7).

Only the service of the settings is asked, whatever an argument or an answer says: redirects are not followed and
proxies of the environment not used. A certain no is :class:`NotDone`; a connection that was lost after something was
sent raises, which the runtime records as ``unknown``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from ssl import SSLContext
from typing import Any

import httpx2
from django.conf import settings
from pydantic import JsonValue

from agents.tools.contract import Looked, NotDone
from collab.text import speakable, visible

LONGEST_ANSWER = 262_144
LONGEST_BECAUSE = 300
SECONDS = 10.0
"""How long a service may say nothing; a tool's own timeout is longer."""

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Service:
    """A service and how people hear of it.

    Attributes:
        called: what a sentence calls it, with its article: "The restaurant".
        nothing: what is added to be sure of: "nothing was booked".
    """

    called: str
    nothing: str

    async def asked(
        self,
        method: str,
        path: str,
        *,
        key: str = "",
        body: Mapping[str, JsonValue] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request and return its answer.

        Args:
            path: below the service's address; what is not ours in it must be safe to stand there.
            key: sent as ``Idempotency-Key``.
            query: what follows the question mark.

        Raises:
            NotDone: nothing was sent, or the service says that it did nothing.
            TimeoutError: no answer came in time.
            ConnectionError: the connection was lost, or the answer cannot be read.
        """
        headers = {"Idempotency-Key": key} if key else {}
        client = httpx2.AsyncClient(
            base_url=settings.ACCORD_WORLD_URL, timeout=SECONDS, follow_redirects=False, trust_env=False,
            verify=_authorities(),
        )  # fmt: skip
        try:
            async with (
                client,
                client.stream(method, path, json=body, params=query, headers=headers) as response,
            ):
                return self._read(response.status_code, await _bounded(response))
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise NotDone(f"{self.called} cannot be reached; {self.nothing}.") from error
        except httpx2.TimeoutException as error:
            raise TimeoutError from error
        except (httpx2.RequestError, httpx2.StreamError) as error:
            raise ConnectionError from error

    async def done_with(self, key: str) -> Looked:
        """Ask what was done for a key; where the service does not say, that is still not known."""
        try:
            entries = (await self.asked("GET", "/ledger", query={"key": key})).get("entries")
        except (NotDone, TimeoutError, ConnectionError):
            return Looked(None)
        match entries:
            case []:
                return Looked(happened=False, because=f"{self.called} never got it; {self.nothing}.")
            case [{"answer": answer}]:
                return Looked(happened=True, result=answer)
        return Looked(None)

    def _read(self, status: int, told: bytes) -> Answer:
        try:
            answer = json.loads(told)
        except (ValueError, RecursionError):
            answer = None
        if isinstance(answer, dict) and 200 <= status < 300:
            return answer
        says_no = isinstance(answer, dict) and answer.get("done") is False
        if 400 <= status < 500 or says_no:
            raise NotDone(self._because(answer))
        raise ConnectionError

    def _because(self, answer: object) -> str:
        said = answer.get("because") if isinstance(answer, dict) else None
        if not isinstance(said, str) or not said.strip():
            return f"{self.called} refused it; {self.nothing}."
        return visible(" ".join(speakable(said).split()))[:LONGEST_BECAUSE]


@cache
def _authorities() -> SSLContext:
    """Whose certificates are believed. A client that is not given them reads them all anew, which takes the event loop
    25 ms each time."""
    return httpx2.create_ssl_context(trust_env=False)


async def _bounded(response: httpx2.Response) -> bytes:
    told = b""
    async for piece in response.aiter_bytes():
        told += piece
        if len(told) > LONGEST_ANSWER:
            raise ConnectionError
    return told
