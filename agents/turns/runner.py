"""The Runner: works one turn of a thread (DESIGN 6).

A turn is a loop: ask the model, let its text out through the gate, carry out its calls one after another, reach a
boundary. Every decision about authority, order and ending lies in the functions it calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model

from agents.errors import LeaseLost, LimitReached
from agents.models.agents import Agent
from agents.providers.choose import model_for
from agents.providers.errors import ModelConfigError, ProviderFailed, ResponseTooLarge
from agents.providers.request import RetryPolicy, stream_response
from agents.tools import gate
from agents.tools.phrasings import Wording
from agents.tools.registry import offered
from agents.turns import boundary, history, lease, prompt
from agents.turns.boundary import Work
from agents.turns.budget import Spent
from agents.turns.live import LiveText
from agents.turns.resolutions import RESOLVED
from agents.turns.response import calls_of, keepable
from agents.turns.spoken import earlier_calls, gate_of, made_before, rulings_logged, setting_of, voiced
from agents.turns.start import Started, start_next
from collab.db import in_db

log = structlog.get_logger(__name__)
T = TypeVar("T")

RETRY = RetryPolicy()

_stops: dict[UUID, Callable[[], object]] = {}
"""What interrupts each turn that this process works, from whichever thread."""


class Interrupted(Exception):
    """The turn was asked to stop, or its lease was lost, while it waited for something."""


class Runner:
    """Works the next turn of one thread in this process."""

    def __init__(self, thread_id: UUID, process_ends: asyncio.Event | None = None) -> None:
        """Prepare to work a thread.

        Args:
            process_ends: once it is set, the turn parks at its next boundary.
        """
        self._thread_id = thread_id
        self._process_ends = process_ends or asyncio.Event()
        self._stop = asyncio.Event()
        self._lost = False
        self.turn_id: UUID | None = None

    async def work(self) -> None:
        """Start what the thread's log says is next, if anything is, and work it to its end. What was asked meanwhile
        has its own wake-up, enqueued by the transaction that ended the turn."""
        if started := await in_db(start_next, self._thread_id):
            self.turn_id = started.turn.id
            _stops[started.turn.id] = partial(asyncio.get_running_loop().call_soon_threadsafe, self._stop.set)
            try:
                await self._run(started)
            finally:
                del _stops[started.turn.id]

    async def _run(self, started: Started) -> None:
        turn, agent = started.turn, started.agent
        wording = Wording(setting_of(agent))
        speaks = gate_of(agent, wording.setting, turn.text)
        live = LiveText(turn.thread_id, turn.id, turn.text, gate=speaks, most_bytes=agent.max_bytes)
        work = Work(turn, started.workspace, started.names, history.load(turn.history), turn.text, wording)
        work.own_words = agent.composer == Agent.Composer.MODEL
        heart = asyncio.create_task(self._keep_lease(turn.lease_epoch))
        try:
            await self._turn(started, work, live)
        except LeaseLost:
            log.warning("lease_lost", turn=str(turn.id))
        except (OperationalError, InterfaceError):
            # The database went away. Its lease lapses, and the turn goes on from its last boundary when it is back.
            log.exception("database_away", turn=str(turn.id))
        except asyncio.CancelledError:
            await in_db(boundary.cut_off, turn)
            raise
        except Exception:
            log.exception("turn_failed", turn=str(turn.id))
            await self._fail(work, live, "error", "Something went wrong in Accord; the log of the server says what.")
        finally:
            heart.cancel()
            live.close()

    async def _turn(self, started: Started, work: Work, live: LiveText) -> None:
        """Go from step to step until the turn ends, pauses, fails or is stopped."""
        spent = Spent.by(started.agent)
        try:
            async with asyncio.timeout(spent.seconds_left) as clock:
                before, model = await in_db(_prepare, started, work)
                live.gate.remember(calls=work.fresh())
                while await self._step(work, live, spent, before, model):
                    pass
        except Interrupted:
            if self._lost:
                raise LeaseLost from None
            await self._break_off(work, live)
            await in_db(boundary.end_stopped, work)
        except TimeoutError:
            if not clock.expired():
                raise
            await self._fail(work, live, "limit", spent.out_of_time().because)
        except LimitReached as limit:
            await self._fail(work, live, limit.code, limit.because)
        except ResponseTooLarge as large:
            await self._fail(work, live, "limit", large.reason)
        except ProviderFailed as failed:
            await self._fail(work, live, failed.code, failed.reason)
        except ModelConfigError as wrong:
            await self._fail(work, live, wrong.code, f"The model cannot be used: {wrong}")

    async def _step(
        self, work: Work, live: LiveText, spent: Spent, before: list[ModelMessage], model: Model[Any]
    ) -> bool:
        """One model response and its calls, up to the next boundary; say whether the turn goes on."""
        spent.require_step()
        live.begin_step()
        work.returns = []
        response = await self._unless_stopped(
            stream_response(
                model, [*before, *work.messages], offered(own_words=work.own_words), None,
                on_text=live.feed, on_reset=live.drop_step, retry=RETRY,
            )
        )  # fmt: skip
        response = keepable(response, [*before, *work.messages])
        work.messages.append(voiced(response, live.step_text))
        _count(work, spent, response)
        await self._calls(work, live, response, spent)
        await self._speak(work, live)
        work.messages[-1] = voiced(response, live.step_text)
        work.text = live.text
        work.parks = self._process_ends.is_set()
        return await in_db(boundary.reach, work)

    async def _calls(self, work: Work, live: LiveText, response: ModelResponse, spent: Spent) -> None:
        """Carry out a response's calls one after another; each sees what the one before it did."""
        for part in calls_of(response):
            spent.require_call()
            told = await gate.carry_out(work, part, step=work.turn.steps + 1, number=spent.calls)
            if told is not None:
                work.returns.append(told)
            if not work.own_words and work.wrote and not work.wording.is_read:
                await in_db(work.wording.read)
            live.end_call(work.fresh())

    async def _speak(self, work: Work, live: LiveText) -> None:
        """Let out the rest of what a response said, held to what its calls came to."""
        is_last = not work.returns or bool(work.questions)
        await self._recall(work, live, is_last=is_last)
        live.end_step(work.fresh(), is_last=is_last)
        await self._count_rulings(work, live)

    @staticmethod
    async def _recall(work: Work, live: LiveText, *, is_last: bool) -> None:
        """Read what was called in earlier turns where something said may speak of it; how calls are phrased there too,
        and where a write may have been left out."""
        holds = live.gate.holds
        if holds and not work.remembers:
            live.gate.remember(earlier=await in_db(earlier_calls, work.turn))
            work.remembers = True
        if not work.wording.is_read and (holds or (is_last and work.wrote)):
            await in_db(work.wording.read)

    @staticmethod
    async def _count_rulings(work: Work, live: LiveText) -> None:
        ruled, work.ruled = work.ruled, len(live.gate.rulings)
        if rulings := live.gate.rulings[ruled:]:
            await in_db(rulings_logged, work.turn, rulings)

    async def _unless_stopped(self, doing: Coroutine[Any, Any, T]) -> T:
        """Wait for something, but no longer than until the turn is interrupted.

        Raises:
            Interrupted: it was; what was being done is cancelled.
        """
        task, stopped = asyncio.create_task(doing), asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Interrupted
            return task.result()
        finally:
            for pending in (task, stopped):
                pending.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task

    async def _keep_lease(self, epoch: int) -> None:
        """Renew the lease at a third of its time, and notice there what another process asked for."""
        while True:
            await asyncio.sleep(lease.ttl().total_seconds() / 3)
            try:
                asked = await in_db(lease.renew, self._thread_id, epoch)
            except LeaseLost:
                self._lost = True
                asked = None
            except Exception:
                log.exception("lease_not_renewed", turn=str(self.turn_id))
                continue
            if asked == self.turn_id or self._lost:
                self._stop.set()

    async def _break_off(self, work: Work, live: LiveText) -> None:
        await self._recall(work, live, is_last=False)
        live.break_off(work.fresh())
        work.text = live.text
        await self._count_rulings(work, live)

    async def _fail(self, work: Work, live: LiveText, reason: str, because: str) -> None:
        await self._break_off(work, live)
        await in_db(boundary.fail, work, reason=reason, because=because)


def stop_here(turn_id: UUID) -> bool:
    """Interrupt a turn that someone asked to stop, and say whether it runs in this process. Call from any thread."""
    stop = _stops.get(turn_id)
    if stop is not None:
        stop()
    return stop is not None


def _prepare(started: Started, work: Work) -> tuple[list[ModelMessage], Model[Any]]:
    """Read what the turn's first model request needs: what came before it, and what an abandoned one had done."""
    turn = started.turn
    if turn.continues_id:
        work.orphans = gate.done_after_boundary(turn.continues_id, turn.steps)
        work.records = made_before(turn)
    if not turn.known:
        turn.known = boundary.versions(boundary.newest_revisions(turn.thread_id))
    turn.known = {**turn.known, RESOLVED: turn.seq}
    before = [prompt.instructions(started), *history.context(turn, started.agent, started.names)]
    return before, model_for(started.agent.model or None)


def _count(work: Work, spent: Spent, response: ModelResponse) -> None:
    work.turn.input_tokens += response.usage.input_tokens
    work.turn.output_tokens += response.usage.output_tokens
    spent.tokens = work.turn.input_tokens + work.turn.output_tokens
