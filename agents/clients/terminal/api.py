"""The public API as the terminal's commands speak it: nothing of the database, only its address and a token."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2

from agents.errors import AgentsError
from permissions.ids import new_id

READ_SECONDS = 60.0
"""How long an answer, or the next word of a stream, may take: a stream says that it is there every 15 seconds."""

ATTEMPTS = 6
"""How often something is sent that nobody answers, or that is asked to come back later."""

LONGEST_PAUSE = 30.0
LARGEST_EVENT = 16 * 1024 * 1024
LATER = frozenset({429, 502, 503, 504})

Notice = Callable[[str], None]


class Denied(AgentsError):
    """The server refused it."""

    code = "forbidden"

    def __init__(self, because: str, *, code: str = "forbidden") -> None:
        super().__init__(because)
        self.code = code


class Unanswered(AgentsError):
    """No server answers."""

    code = "unanswered"


@dataclass(frozen=True, slots=True)
class Told:
    """One event of a stream."""

    event: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Later:
    """Something to send again, after so many seconds, and why."""

    seconds: float
    because: str


class Api:
    """A server's API for the bearer of a token."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        notice: Notice,
        pause: Callable[[float], None] = time.sleep,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        """Speak to the server at an address.

        Args:
            notice: is told, in a sentence, why something takes longer.
            pause: waits for so many seconds.
            transport: carries requests; None is the network.

        Raises:
            Unanswered: the address is none.
        """
        self._http = httpx2.Client(
            base_url=f"{_address(url)}/api/v1",
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx2.Timeout(READ_SECONDS, connect=10.0),
            transport=transport,
        )
        self._url = url
        self._notice = notice
        self._pause = pause

    def read(self, path: str, **query: Any) -> dict[str, Any]:
        """Return what an address of the API says. Raises :class:`Denied` and :class:`Unanswered`."""
        return self._answered("GET", path, params=query)

    def command(self, name: str, key: str = "", /, **args: Any) -> dict[str, Any]:
        """Carry out a command once, however often it has to be sent, and return its result.

        Args:
            key: what makes it the same command when it is sent again; "" makes a new one.

        Raises:
            Denied: it was refused, with the code and the sentence of the server.
            Unanswered: no server answers; it may or may not have been carried out.
        """
        headers = {"Idempotency-Key": key or str(new_id())}
        return self._answered("POST", f"/commands/{name}", json=args, headers=headers)

    def follow(self, thread: str, cursor: str) -> Iterator[Told]:
        """Yield what happens in a thread behind a cursor, without an end; a stream that ends or breaks is resumed.

        Raises:
            Denied: the thread may not be followed, or not any more.
            Unanswered: the server stays away.
        """
        failures = 0
        while True:
            try:
                with self._http.stream("GET", f"/stream/{thread}", headers={"Last-Event-ID": cursor}) as answer:
                    later = self._later(answer) if answer.status_code != 200 else None
                    for said in httpx2.EventSource(answer, LARGEST_EVENT) if later is None else ():
                        failures, cursor = 0, said.id or cursor
                        if said.data:
                            yield _told(said.event, said.data)
            except httpx2.TransportError as error:
                later = self._away(error)
            failures += 1
            self._wait(later or _Later(1.0, ""), failures)

    def _answered(self, method: str, path: str, **how: Any) -> dict[str, Any]:
        failures = 0
        while True:
            found = self._asked(method, path, **how)
            if not isinstance(found, _Later):
                return found
            failures += 1
            self._wait(found, failures)

    def _asked(self, method: str, path: str, **how: Any) -> dict[str, Any] | _Later:
        try:
            answer = self._http.request(method, path, **how)
        except httpx2.TransportError as error:
            return self._away(error)
        return _object(answer) if answer.status_code == 200 else self._later(answer)

    def _away(self, error: httpx2.TransportError) -> _Later:
        return _Later(1.0, f"{self._url} does not answer ({type(error).__name__}).")

    def _later(self, answer: httpx2.Response) -> _Later:
        """Return when to come back. Raises :class:`Denied` where that would be of no use."""
        answer.read()
        try:
            said = _object(answer)
        except Unanswered:
            said = {}
        because = str(said.get("detail") or said.get("because") or f"{self._url} answered {answer.status_code}.")
        if answer.status_code not in LATER:
            raise Denied(because, code=str(said.get("code", "forbidden")))
        return _Later(_seconds(answer.headers.get("Retry-After", "")), because)

    def _wait(self, later: _Later, failures: int) -> None:
        if failures >= ATTEMPTS:
            raise Unanswered(later.because or f"{self._url} ends every stream.")
        if later.because:
            self._notice(later.because)
        self._pause(min(max(later.seconds, 0.5 * 2 ** (failures - 1)), LONGEST_PAUSE))


def _address(text: str) -> str:
    """Return a server's address without a slash at its end. Raises :class:`Unanswered` where the text is none."""
    try:
        url = httpx2.URL(text)
    except (httpx2.InvalidURL, ValueError) as error:
        raise Unanswered(f"{text} is no address: {error}.") from error
    if url.scheme not in {"http", "https"} or not url.host or not 0 <= (url.port or 0) <= 65_535:
        raise Unanswered(f"{text} is no address like https://accord.example.")
    return text.rstrip("/")


def _object(answer: httpx2.Response) -> dict[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Unanswered(f"{answer.request.url} did not answer as this API does.")
    return found


def _told(event: str, text: str) -> Told:
    data = json.loads(text)
    if event == "end":
        raise Denied(str(data["because"]), code=str(data["code"]))
    return Told(event, data)


def _seconds(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() else 1.0
