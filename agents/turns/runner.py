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
from pydantic_ai.tools import ToolDefinition

from agents.actions import running
from agents.actions.closing import waiting_before
from agents.errors import LeaseLost, LimitReached
from agents.models.agents import Agent
from agents.models.turns import Turn
from agents.providers.choose import model_for
from agents.providers.errors import ModelConfigError, ProviderFailed, ResponseTooLarge
from agents.providers.request import RetryPolicy, stream_response
from agents.replies.composing import TemplateStream
from agents.tools import gate, rights
from agents.tools.phrasings import Wording
from agents.tools.registry import offered
from agents.tools.reuse import reusable, written_before
from agents.tools.settling import settle_all, unknown_in
from agents.turns import boundary, history, lease, prompt
from agents.turns.boundary import Work
from agents.turns.budget import Spent
from agents.turns.classifying import meaning_of
from agents.turns.inflight import policy_of
from agents.turns.live import LiveText
from agents.turns.requests import Reader, read_turn
from agents.turns.resolutions import RESOLVED
from agents.turns.response import calls_of, keepable
from agents.turns.revising import account
from agents.turns.spoken import earlier_calls, gate_of, made_before, record_of, rulings_logged, setting_of, voiced
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
        started = await in_db(start_next, self._thread_id)
        while started is not None:
            self.turn_id, self._stop, self._lost = started.turn.id, asyncio.Event(), False
            _stops[started.turn.id] = partial(asyncio.get_running_loop().call_soon_threadsafe, self._stop.set)
            try:
                work = await self._run(started)
            finally:
                del _stops[started.turn.id]
            started = work.next

    async def _run(self, started: Started) -> Work:
        turn, agent = started.turn, started.agent
        wording = Wording(setting_of(agent))
        speaks = gate_of(agent, wording.setting, turn.text)
        live = LiveText(turn.thread_id, turn.id, turn.text, gate=speaks, most_bytes=agent.max_bytes)
        work = Work(turn, started.workspace, started.names, history.load(turn.history), turn.text, wording)
        work.own_words = agent.composer == Agent.Composer.MODEL
        work.in_flight, work.classify = policy_of(agent), agent.classify
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
        return work

    async def _turn(self, started: Started, work: Work, live: LiveText) -> None:
        """Go from step to step until the turn ends, pauses, fails or is stopped."""
        spent = Spent.by(started.agent)
        try:
            async with asyncio.timeout(spent.seconds_left) as clock:
                await _settle_before(started, work)
                before, model = await in_db(_prepare, started, work)
                _unread_told(model, live)
                live.gate.remember(calls=work.fresh())
                goes_on = await self._approved(work, live)
                while goes_on:
                    goes_on = await self._step(work, live, spent, before, model)
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

    async def _approved(self, work: Work, live: LiveText) -> bool:
        """Carry out the approved action that the turn was started for, if it was started for one; say whether the model
        goes on. While the thread has a question open, the steps are told by phrasings and the turn ends with them
        (DESIGN 7)."""
        if work.turn.trigger != Turn.Trigger.APPROVAL:
            return True
        is_quiet = await in_db(running.is_quiet, work.turn)
        await in_db(work.wording.read)
        if is_quiet:
            live.gate = TemplateStream(work.wording.setting, live.text)
        live.begin_step()
        await running.carry_out(work, told=lambda: live.end_call(work.fresh()), stops=self._stop.is_set)
        if self._stop.is_set():
            raise Interrupted
        if is_quiet:
            live.end_step(work.fresh(), is_last=True)
            work.text = live.text
            await in_db(boundary.reach, work)
        elif not work.turn.steps:
            await in_db(running.told_of, work)
        return not is_quiet

    async def _step(
        self, work: Work, live: LiveText, spent: Spent, before: list[ModelMessage], model: Model[Any]
    ) -> bool:
        """One model response and its calls, up to the next boundary; say whether the turn goes on."""
        spent.require_step()
        live.begin_step()
        work.returns = []
        response = await self._unless_stopped(
            stream_response(
                model, [*before, *work.messages], _offered(work), None,
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
        if work.classify:
            await self._unless_stopped(self._classify(work, spent, model))
        return await in_db(boundary.reach, work)

    @staticmethod
    async def _classify(work: Work, spent: Spent, model: Model[Any]) -> None:
        """Ask the model what the messages mean that wait and may change the turn; nothing is locked meanwhile."""
        for message in await in_db(boundary.to_ask_about, work):
            work.meanings[message.id], response = await meaning_of(message, work.messages, model, RETRY)
            if response is not None:
                _count(work, spent, response)

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


def _offered(work: Work) -> list[ToolDefinition]:
    return [] if work.reports else offered(own_words=work.own_words, usable=work.usable)


async def _settle_before(started: Started, work: Work) -> None:
    """Look up the calls of the thread of which nobody knows whether they were done, where tools are in use."""
    work.usable = await in_db(rights.usable, started.turn, started.workspace)
    if work.usable:
        await settle_all(await in_db(unknown_in, started.turn.thread_id))


def _prepare(started: Started, work: Work) -> tuple[list[ModelMessage], Model[Any]]:
    """Read what the turn's first model request needs: what came before it, and what an abandoned one had done."""
    turn = started.turn
    work.orphans = reusable(turn)
    if turn.continues_id:
        work.records, work.steps = made_before(turn), waiting_before(turn)
    if turn.continues_id or turn.restarts_id:
        before_it = written_before(turn)
        work.records = [*map(record_of, before_it), *work.records]
        work.recorded = frozenset(call.id for call in before_it)
    if not turn.known:
        turn.known = boundary.versions(boundary.newest_revisions(turn.thread_id))
    turn.known = {**turn.known, RESOLVED: turn.seq}
    before = [prompt.instructions(started), *history.context(turn, started.agent, started.names)]
    before += account(turn) if turn.revises_id or turn.root_id != turn.id else []
    return before, read_turn(started, work) or model_for(started.agent.model or None)


def _unread_told(model: Model[Any], live: LiveText) -> None:
    """Let a composed reply tell of what the reader read, or ask about what it did not."""
    if isinstance(model, Reader) and isinstance(live.gate, TemplateStream):
        live.gate.tells_all, live.gate.unread = True, model.question


def _count(work: Work, spent: Spent, response: ModelResponse) -> None:
    work.turn.input_tokens += response.usage.input_tokens
    work.turn.output_tokens += response.usage.output_tokens
    spent.tokens = work.turn.input_tokens + work.turn.output_tokens
