"""The fake world over HTTP: a restaurant, a shop and a phone that tools are tried with, on this machine only.

``http.server`` answers, since it can do what a real service does to its callers at its worst: do what was asked, and
then break the connection.
"""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from agents.world.ledger import Ledger
from agents.world.places import No

LONGEST_BODY = 65_536
LONGEST_KEY = 200
MOST = 60_000
"""The most that a switch that counts is set to."""

LONGEST_HOLD = 60.0
"""Seconds after which an answer that is held is given all the same."""

_COUNTS = frozenset({"slow_ms", "lose_replies", "fail"})
_EITHER = frozenset({"down", "hold"})
_DEEDS = {"/reservations": "reserve", "/texts": "text", "/refunds": "refund"}
_RESERVATION = re.compile(r"/reservations/(\w{1,40})")
_ORDER = re.compile(r"/orders/(\w{1,40})")


@dataclass(frozen=True, slots=True)
class Switches:
    """How the world misbehaves.

    Attributes:
        slow_ms: milliseconds it takes to answer what it has done already.
        lose_replies: how many of the next deeds it does and then hangs up.
        fail: how many of the next deeds it says no to.
        down: whether it says to everything that it is closed, and does nothing.
        hold: whether it keeps its answers, to what it has done already, until this is switched off.
    """

    slow_ms: int = 0
    lose_replies: int = 0
    fail: int = 0
    down: bool = False
    hold: bool = False


class World(ThreadingHTTPServer):
    """Serves a ledger on 127.0.0.1.

    Args:
        ledger: what it does is written there.
        port: 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, ledger: Ledger, port: int) -> None:
        self.ledger = ledger
        self.switches = Switches()
        self._waiting = 0
        self._lock = threading.Condition()
        super().__init__(("127.0.0.1", port), _Asked)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def switch(self, given: Mapping[str, Any]) -> Switches:
        """Change how it misbehaves; what is not given stays.

        Raises:
            No: there is no such switch, or it cannot be set so.
        """
        with self._lock:
            for name, value in given.items():
                counts = name in _COUNTS and type(value) is int and 0 <= value <= MOST
                if not counts and not (name in _EITHER and isinstance(value, bool)):
                    raise No(400, f"The switch {name[:40]} cannot be set so.")
            self.switches = replace(self.switches, **given)
            self._lock.notify_all()
            return self.switches

    def takes(self, switch: str) -> bool:
        """Use one up of a switch that counts down; say whether there was one."""
        with self._lock:
            left = getattr(self.switches, switch)
            if left:
                self.switches = replace(self.switches, **{switch: left - 1})
            return bool(left)

    def waits(self) -> None:
        """Return once no answer is held."""
        with self._lock:
            self._waiting += 1
            self._lock.wait_for(lambda: not self.switches.hold, timeout=LONGEST_HOLD)
            self._waiting -= 1

    def held(self) -> int:
        """Return how many answers are held; none from the moment on at which they are let go."""
        with self._lock:
            return self._waiting if self.switches.hold else 0


def serve(world: World, told: Callable[[str], object]) -> None:
    """Serve until SIGTERM or SIGINT; what is told is where it listens.

    To be called from a process's main thread.
    """
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: threading.Thread(target=world.shutdown).start())
    told(f"The world listens on {world.url}\n")
    world.serve_forever(poll_interval=0.1)


class _Lost(Exception):
    """What was asked for is done, and its reply is lost."""


class _Asked(BaseHTTPRequestHandler):
    """One connection."""

    server: World
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Read something."""
        self._answers(self._read)

    def do_POST(self) -> None:
        """Do something, or turn a switch."""
        self._answers(self._posted)

    def do_DELETE(self) -> None:
        """Cancel a reservation."""
        self._answers(self._deleted)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the ledger tells what was done."""

    def _answers(self, with_what: Callable[[], Any]) -> None:
        try:
            body = self._body()
            self._given = body
            status, answer = 200, with_what()
        except No as no:
            status, answer = no.status, {"done": False, "because": no.because}
        except _Lost:
            self.close_connection = True
            return
        with suppress(ConnectionError):  # who asked may have gone away
            self._say(status, json.dumps(answer).encode())

    def _say(self, status: int, told: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def _read(self) -> Any:
        path, asked = self._place()
        if path == "/ledger":
            return self._ledger(asked)
        if path == "/switches":
            return {**asdict(self.server.switches), "held": self.server.held()}
        self._open()
        places = self.server.ledger.places
        if found := _ORDER.fullmatch(path):
            return places.order(found[1])
        if path != "/reservations":
            raise No(404, "There is no such place.")
        if "key" in asked:
            entry = self.server.ledger.of_key(asked["key"])
            return {"reservations": [entry.answer] if entry and entry.deed == "reserve" else []}
        held = [dict(one) for one in list(places.reservations.values())]
        return {"reservations": [one for one in held if asked.items() <= _about(one).items()]}

    def _ledger(self, asked: Mapping[str, str]) -> Any:
        if "key" not in asked:
            return {"entries": [asdict(entry) for entry in self.server.ledger.so_far()]}
        self._open()
        entry = self.server.ledger.of_key(asked["key"])
        return {"entries": [asdict(entry)] if entry else []}

    def _posted(self) -> Any:
        path, _ = self._place()
        if path == "/switches":
            return asdict(self.server.switch(self._given))
        if path not in _DEEDS:
            raise No(404, "There is no such place.")
        return self._done(_DEEDS[path], self._given)

    def _deleted(self) -> Any:
        found = _RESERVATION.fullmatch(self._place()[0])
        if found is None:
            raise No(404, "There is no such place.")
        return self._done("cancel", {"reservation": found[1]})

    def _done(self, deed: str, args: Mapping[str, Any]) -> Any:
        self._open()
        key = self.headers.get("Idempotency-Key", "")
        if not 1 <= len(key) <= LONGEST_KEY:
            raise No(400, "An Idempotency-Key is needed.")
        if self.server.takes("fail"):
            raise No(422, "It cannot be done now.")
        answer = self.server.ledger.do(key, deed, args)
        lost = self.server.takes("lose_replies")
        time.sleep(self.server.switches.slow_ms / 1000)
        self.server.waits()
        if lost:
            raise _Lost
        return answer

    def _open(self) -> None:
        if self.server.switches.down:
            raise No(503, "It is closed.")

    def _place(self) -> tuple[str, dict[str, str]]:
        parts = urlsplit(self.path)
        return parts.path, {name: values[-1] for name, values in parse_qs(parts.query).items()}

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > LONGEST_BODY or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            raise No(413, "The body is too large, or nobody says how large it is.")
        try:
            found = json.loads(self.rfile.read(int(length)) or b"{}")
        except (ValueError, RecursionError):
            raise No(400, "The body is no JSON.") from None
        if not isinstance(found, dict):
            raise No(400, "The body is no JSON object.")
        return found


def _about(reservation: Mapping[str, Any]) -> dict[str, str]:
    return {"id": reservation["reservation"], "day": reservation["day"]}
