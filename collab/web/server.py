"""Daphne, as this project runs it: it says when it listens, starts what runs beside the pages, and ends in order."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from daphne import http_protocol
from daphne.server import Server
from daphne.ws_protocol import WebSocketProtocol
from django.conf import settings
from twisted.internet import defer, reactor

from collab import doorbell
from collab.protocol import FRAME_BYTES

logger = logging.getLogger(__name__)

Stop = Callable[[], Awaitable[None] | None]
Start = Callable[[], Awaitable[Stop | None]]

STOP_SECONDS = 5.0
"""Beside ACCORD_GRACE_SECONDS, what runs beside the pages has this long to end when the process is asked to."""

SWITCH_SECONDS = 0.001
"""How long a database thread that computes may keep the event loop, and so everyone's live text, waiting; Python's own
choice is five times that."""

SUBPROTOCOLS = b"Sec-WebSocket-Protocol"

RESTARTING = 1012
"""The close code that tells a browser to come back."""


class Request(http_protocol.WebRequest):
    """A request of HTTP, also one that becomes a socket: its client does not say where the application lies, and the
    answer to HEAD has no body."""

    def process(self) -> Any:
        """Read it without the header by which anyone could say what every address begins with: pages would link
        elsewhere, and what a proxy keeps away would be reached by another name. Names of subprotocols that Daphne
        cannot read are none that there are."""
        headers = self.requestHeaders
        headers.removeHeader(b"Daphne-Root-Path")
        if not all(names.isascii() for names in headers.getRawHeaders(SUBPROTOCOLS, [])):
            headers.removeHeader(SUBPROTOCOLS)
        return super().process()

    def handle_reply(self, message: dict[str, Any]) -> None:
        """Answer it. Of a body in parts only the first would be left out of the answer to HEAD; who keeps the
        connection, as proxies do, would take the others for the next answer."""
        if self.method == b"HEAD" and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        super().handle_reply(message)


# Daphne has no setting for it: it makes whatever this names, for sockets too before they are that.
http_protocol.WebRequest = Request


class WebServer(Server):
    """One web process: Daphne's server on asyncio, with what must start and stop with it."""

    def __init__(
        self, *, application: Any, endpoints: list[str], starts: Sequence[Start], announce: Callable[[str], None]
    ) -> None:
        """Prepare to serve.

        Args:
            application: the ASGI application.
            endpoints: where to listen, as Twisted describes endpoints.
            starts: coroutine functions awaited in order once the loop runs; what one returns is called at the end.
            announce: told the address, once connections are answered there.
        """
        super().__init__(
            application,
            endpoints=endpoints,
            websocket_max_message_size=FRAME_BYTES,
            websocket_max_frame_size=FRAME_BYTES,
            server_name="accord",
            ready_callable=lambda: reactor.callWhenRunning(self._begin),
        )
        self.failure = ""
        self._starts = starts
        self._stops: list[Stop] = []
        self._ports: list[Any] = []
        self._announce = announce

    def listen_success(self, port: Any) -> None:
        """Keep the port, to stop listening before the process ends."""
        super().listen_success(port)
        self._ports.append(port)

    def listen_error(self, failure: Any) -> None:
        """Keep why the address could not be taken, and do not run."""
        self.failure = failure.getErrorMessage()
        self.stop()

    def kill_all_applications(self) -> defer.Deferred[None]:
        """Send browsers away with a code that brings them back, let what runs end, then stop the applications."""
        return defer.Deferred.fromFuture(asyncio.ensure_future(self._end()))

    def _begin(self) -> None:
        # Otherwise an oversized frame just drops the connection, and a browser would connect and send it again.
        self.ws_factory.setProtocolOptions(failByDrop=False)
        sys.setswitchinterval(SWITCH_SECONDS)
        self._beginning = asyncio.ensure_future(self._start_all())

    async def _start_all(self) -> None:
        doorbell.attach(asyncio.get_running_loop())
        try:
            for start in self._starts:
                if stop := await start():
                    self._stops.append(stop)
        except Exception as error:
            if not hasattr(error, "code"):  # an error of ours says what to change; of any other, show where it is from
                logger.exception("What runs beside the pages did not start")
            self.failure = f"it did not start: {error}"
            self.stop()
            return
        # What was loaded to start is there to stay: the collector looked through all of it again and again.
        gc.collect()
        gc.freeze()
        host, port = self.listening_addresses[0]
        self._announce(f"http://{host}:{port}")

    async def _end(self) -> None:
        try:
            self._turn_away()
            for stop in reversed(self._stops):
                await self._stopped(stop)
        finally:
            running = [details["application_instance"] for details in self.connections.values() if _runs(details)]
            for application in running:
                application.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _turn_away(self) -> None:
        for port in self._ports:
            port.stopListening()
        for protocol in self.connections:
            if isinstance(protocol, WebSocketProtocol) and protocol.state == protocol.STATE_OPEN:
                protocol.sendCloseFrame(code=RESTARTING)

    async def _stopped(self, stop: Stop) -> None:
        seconds = settings.ACCORD_GRACE_SECONDS + STOP_SECONDS
        try:
            ending = stop()
            if inspect.isawaitable(ending):
                await asyncio.wait_for(ending, seconds)
        except Exception:
            logger.exception("What ran beside the pages did not end within %s seconds", seconds)


def _runs(details: dict[str, Any]) -> bool:
    """A kept-alive connection has no application between two requests."""
    application = details.get("application_instance")
    return application is not None and not application.done()
