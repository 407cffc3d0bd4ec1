"""The socket of one person to one thread: what it is asked, in the order it is asked (DESIGN 9, docs/protocol.md)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from datetime import datetime
from typing import Any, assert_never
from uuid import UUID

from collab import commands, doorbell, selectors
from collab.db import AWAY, in_db
from collab.errors import Busy, CollabError, Invalid
from collab.models.threads import Thread
from collab.protocol import SUBPROTOCOL, Ack, Close, CommandFrame, Hello, Ping, Writing
from collab.web.accepting import Incoming, SocketConsumer, refused
from collab.web.access import Admission, admission
from collab.web.editing import writer
from collab.web.frames import running_turn
from collab.web.hub import Hub, hub
from collab.web.items import thread_items
from collab.web.socket import Socket
from permissions.actors import Person
from permissions.clock import AccordNow
from permissions.errors import NotFound, PermissionsError

logger = logging.getLogger(__name__)

QUEUED_COMMANDS = 32
AWAY_SECONDS = 2.0
"""After how long a client sends a command again that met a database that is away."""


class NoSuchSocket(SocketConsumer):
    """A path that no socket is at: the same answer as for a thread that there is not."""

    async def connect(self) -> None:
        await self.accept(SUBPROTOCOL if SUBPROTOCOL in self.scope["subprotocols"] else None)
        await self.end(Close.NOT_FOUND)


class ThreadConsumer(SocketConsumer):
    """The socket of a thread, at ``/ws/threads/<id>/``."""

    def __init__(self) -> None:
        super().__init__()
        self._socket: Socket | None = None
        self._hub: Hub = hub()
        self._commands: asyncio.Queue[CommandFrame] = asyncio.Queue(QUEUED_COMMANDS)
        self._tasks: set[asyncio.Task[None]] = set()
        self._greeted = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the connection; however it ends, the hub forgets it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._left()

    async def connect(self) -> None:
        """Accept the connection, and close it again if it may not be."""
        sign_in = await self.signed_in()
        if sign_in is None:
            return
        try:
            _, admitted = await in_db(_admitted, sign_in.person, self._thread_id)
        except NotFound:
            await self.end(Close.NOT_FOUND)
            return
        socket = Socket(thread_id=self._thread_id, sign_in=sign_in, admission=admitted, send=self.send, end=self.end)
        self._socket = socket
        if await self._hub.opened(socket):
            self._task(socket, self._carry_out(socket))
        else:
            await socket.close(Close.TOO_MANY)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Answer one frame of the client. Nothing a client sends ends the socket but too much of it."""
        socket = self._socket
        if socket is None or not socket.open:
            return
        frame = await self.read(socket, text_data, bytes_data)
        if frame is not None:
            await self._guarded(socket, self._answer(socket, frame))

    async def _answer(self, socket: Socket, frame: Incoming) -> None:
        match frame:
            case Hello():
                await self._greet(socket, frame)
            case Ack():
                socket.acked(frame.seq, frame.frames or 0)
            case CommandFrame():
                await self._queue(socket, frame)
            case Writing():
                await self._say_writing(socket, frame)
            case Ping():
                await socket.frame({"type": "pong"})
            case _:
                assert_never(frame)

    async def _greet(self, socket: Socket, hello: Hello) -> None:
        if self._greeted:
            await socket.frame(refused(None, "bad_frame", "A socket says hello once."))
            return
        try:
            thread, socket.admission = await in_db(_admitted, socket.viewer.person, self._thread_id)
        except NotFound:
            await socket.close(Close.NOT_FOUND)
            return
        await socket.frame(await in_db(_welcome, thread, socket.admission))
        if not 0 <= hello.after_seq <= thread.head_seq:
            because = "This thread's log does not reach there: load it again."
            await socket.frame(refused(None, "bad_cursor", because))
            return
        self._greeted = True
        socket.position = await _started(socket, hello, thread.head_seq)
        served = await self._hub.joined(socket, thread.workspace_id)
        self._task(socket, served.catch_up(socket))

    async def _say_writing(self, socket: Socket, frame: Writing) -> None:
        if socket.caught_up and (said := await in_db(writer, socket.person, self._thread_id, frame.document)):
            doorbell.editing(self._thread_id, said)

    async def _queue(self, socket: Socket, frame: CommandFrame) -> None:
        wait = 1.0 if self._commands.full() else self._hub.command_wait(socket.viewer.person)
        if wait:
            await socket.frame({"type": "busy", "id": frame.id, "retry_after": round(wait, 1)})
        else:
            self._commands.put_nowait(frame)

    async def _carry_out(self, socket: Socket) -> None:
        """Carry out this socket's commands one after another, in the order they were sent."""
        while socket.open:
            frame = await self._commands.get()
            await socket.frame(await self._outcome(socket, frame))

    async def _outcome(self, socket: Socket, frame: CommandFrame) -> dict[str, Any]:
        actor = Person(socket.viewer.person)
        try:
            args = _in_thread(frame, self._thread_id)
            data = await in_db(commands.run, actor, frame.name, frame.id, args)
        except Busy as busy:
            return {"type": "busy", "id": frame.id, "retry_after": busy.retry_after}
        except AWAY:
            # It may have been committed before the answer was lost; sent again with its id, it is carried out once.
            logger.exception("The database is away: the command %s is to be sent again", frame.name)
            return {"type": "busy", "id": frame.id, "retry_after": AWAY_SECONDS}
        except (CollabError, PermissionsError) as error:
            return refused(frame.id, error.code, error.because)
        except Exception:
            logger.exception("The command %s failed", frame.name)
            because = "Something went wrong here; it was written down. Nothing was changed."
            return refused(frame.id, "failed", because)
        return {"type": "result", "id": frame.id, "data": data}

    @property
    def _thread_id(self) -> UUID:
        thread_id: UUID = self.scope["url_route"]["kwargs"]["thread"]
        return thread_id

    def _task(self, socket: Socket, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(self._guarded(socket, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, socket: Socket, work: Awaitable[None]) -> None:
        """A socket whose work failed is closed, so that its client connects again and resumes."""
        try:
            await work
        except Exception:
            logger.exception("The work of a socket failed")
            await socket.close(Close.RESUME)

    async def _left(self) -> None:
        socket, self._socket = self._socket, None
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if socket is not None:
            await self._hub.closed(socket)


async def _started(socket: Socket, hello: Hello, head_seq: int) -> int:
    """Return the seq after which a socket is sent events; tell it what it is not sent where its client wants few."""
    start = head_seq - (hello.at_most or head_seq)
    if start <= hello.after_seq:
        return hello.after_seq
    await socket.frame({"type": "skipped", "after_seq": hello.after_seq, "upto_seq": start})
    return start


def _admitted(person: UUID, thread_id: UUID) -> tuple[Thread, Admission]:
    thread = selectors.thread_for(Person(person), thread_id)
    return thread, admission(person, thread)


def _welcome(thread: Thread, admitted: Admission) -> dict[str, Any]:
    return {
        "type": "welcome",
        "head_seq": thread.head_seq,
        "at": _moment(thread.id).isoformat(),
        "viewer": admitted.json,
        "thread": thread_items(admitted.viewer.actor, [thread.id])[0],
        "running": running_turn(thread.id),
    }


def _moment(thread: UUID) -> datetime:
    """The moment by the database's clock: what counts down in a browser is drawn from it."""
    moments = Thread.objects.filter(pk=thread).annotate(moment=AccordNow()).values_list("moment", flat=True)
    moment: datetime = moments.get()
    return moment


def _in_thread(frame: CommandFrame, thread_id: UUID) -> dict[str, Any]:
    """Return a command's arguments; those that name a thread name the socket's.

    Raises:
        Invalid: they name another.
    """
    handler = commands.HANDLERS.get(frame.name)
    if handler is None or "thread" not in handler.args.model_fields:
        return frame.args
    if frame.args.get("thread", str(thread_id)) != str(thread_id):
        raise Invalid("This socket is another thread's.")
    return {**frame.args, "thread": str(thread_id)}
