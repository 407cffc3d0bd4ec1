"""How many statements a turn and an edit send, over every connection of the process, BEGIN and COMMIT apart."""

from __future__ import annotations

import asyncio
from functools import partial
from unittest.mock import patch

import httpx

from agents.turns import runner
from tests.benchmarks import people
from tests.benchmarks.peers import processes
from tests.benchmarks.peers.chats import artifactr_chat, exchange
from tests.benchmarks.peers.venvs import NotMeasured
from tests.benchmarks.results import Result, at_most
from tests.benchmarks.run import Run
from tests.support.cast import Studio
from tests.support.queries import queries
from tests.support.turns import Puppet, Stage, posts, staged

BOUNDARY = "accord_now() AS now"
"""How the statement begins to be known that takes the thread's row: the boundary behind an edit is the last."""


def measure(run: Run) -> list[Result]:
    """Count those of Accord's process, then artifactr-ai's."""
    made, puppet = people.studio(), Puppet()
    with patch.object(runner, "model_for", lambda name: puppet.model), staged() as stage:
        for number in range(3):
            _plain(made, puppet, stage, f"message {number}")
        stage.loop.call_soon_threadsafe(stage.embedded._sweeper.cancel)
        plain, edit = _plain(made, puppet, stage, "one more"), _edit(made, puppet, stage)
    try:
        with processes.artifactr(run.database) as peer:
            against, theirs = "artifactr-ai 0.2.1 with grantr", asyncio.run(_counted(peer.port))
    except NotMeasured as why:
        against, theirs = f"artifactr-ai not measured: {why}", None
    turn = "statements of a plain turn, from the wake-up to its end"
    return [
        Result(turn, plain, "", theirs, against, at_most(20), "theirs count the post too"),
        Result("statements of one agent edit", edit, "", None, "", at_most(12)),
    ]


def _plain(made: Studio, puppet: Puppet, stage: Stage, text: str) -> int:
    puppet.says("It is done and the plan stands.")
    with queries() as sent:
        posts(made.ana, made.thread, text)
        posting = len(sent)
        puppet.is_asked()
        stage.settles()
    return len(sent) - posting


def _edit(made: Studio, puppet: Puppet, stage: Stage) -> int:
    posts(made.ana, made.thread, "raise the budget")
    puppet.is_asked()
    with queries() as sent:
        puppet.calls("edit_document", document=str(made.document.id), edits=[{"find": "900", "replace": "950"}])
        told = puppet.is_asked()
    puppet.says("Raised.")
    stage.settles()
    assert told.returns["edit_document"]["version"] == 2
    return max(place for place, statement in enumerate(sent.statements) if BOUNDARY in statement)


async def _counted(port: int) -> int:
    """Return the statements of artifactr-ai's third plain turn, with one socket open."""
    async with artifactr_chat(port, "ana") as chat, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
        one_turn = partial(exchange, chat, "one more", ("acknowledged", "first_text", "done"))
        for _ in range(2):
            await one_turn()
            await asyncio.sleep(1)
        before = (await http.get("/statements")).json()["statements"]
        await one_turn()
        after: int = (await http.get("/statements")).json()["statements"]
        return after - before
