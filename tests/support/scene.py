"""The studio in the middle of its work: one of everything that an address or a command can name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from agents.models.actions import PendingAction
from agents.models.tools import WorkspaceTool
from agents.models.turns import Call, Question, Turn
from agents.tools.enabling import workspace_tool_enable
from agents.turns import boundary, ending, history
from agents.turns.boundary import Work
from agents.turns.holding import messages_held
from agents.turns.start import Started, start_next
from collab.events import CallStarted
from collab.log import append, thread_locked
from collab.models.threads import Message
from collab.services.delegations import delegation_give
from collab.services.documents import document_archive, document_create, document_edit, document_save
from collab.services.threads import thread_create
from collab.services.workspaces import invite_create
from permissions.roles import Role
from tests.support.cast import Studio
from tests.support.clients import connected
from tests.support.permitted import team
from tests.support.senders import sets
from tests.support.tools import book_boat, registered, reserve_table, send_flowers
from tests.support.turns import posts
from tests.support.worked import Worker


@dataclass(frozen=True, slots=True)
class Scene:
    """The ids of one thing of each kind, all of them Ana's, and the token of an invite that makes an editor.

    ``ids`` names them: ``workspace``, ``thread``, ``document``, ``archived`` (a document), ``written`` (one at version
    2), ``message`` (it waits), ``held`` (another, whose author is asked), ``proposal`` (by Robin for Ana), ``running``,
    ``failed``, ``paused`` (turns),
    ``question`` (of the paused one), ``call`` (it is done), ``action`` (it is open), ``tool`` (it is enabled),
    ``timer`` (it waits), ``client`` (Ana's own, let in nowhere) and ``token`` (of it). Robin is let change documents in
    ``thread`` for a day, and the group "Editors" is of nobody.
    """

    studio: Studio
    ids: Mapping[str, UUID]
    invite: str


def scene(studio: Studio) -> Scene:
    """Make everything there is to name in the studio."""
    ana, thread, document = studio.ana.actor, studio.thread, studio.document
    waiting = posts(studio.ana, thread, "How many are we?")
    suggested = document_edit(
        actor=studio.robin.acting_for(studio.ana, thread), document=document.id, thread=thread.id, propose=True,
        edits=[{"find": "900", "replace": "950"}],
    )  # fmt: skip
    old = document_create(actor=ana, workspace=studio.workspace.id, title="Old plan", kind="markdown", text="Old.")
    assert suggested.proposal is not None
    assert old.document is not None
    document_archive(actor=ana, document=old.document.id)
    twice = document_create(actor=ana, workspace=studio.workspace.id, title="Menu", kind="markdown", text="Soup.")
    assert twice.document is not None
    document_save(actor=ana, document=twice.document.id, text="Soup and bread.", base_version=1)
    _, token = invite_create(actor=ana, workspace=studio.workspace.id, role=Role.EDITOR, days=7)
    paused, question = _paused(studio)
    team("Editors")
    day = datetime.now(UTC) + timedelta(days=1)
    delegation_give(actor=ana, thread=thread.id, level="allow", until=day)
    desk = connected(studio, studio.ana, role=None)
    ids = {
        "workspace": studio.workspace.id, "thread": thread.id, "document": document.id, "archived": old.document.id,
        "written": twice.document.id,
        "message": waiting.id, "proposal": suggested.proposal.id, "running": _started(studio, "Running").turn.id,
        "failed": _failed(studio).id, "paused": paused.id, "question": question.id,
        "held": _held(studio).id, "call": _called(studio).id, "action": _asked(studio).id,
        "booked": _sent(studio, "Booked", guests=4).id, "lost": _sent(studio, "Lost", guests=9).id,
        "tool": _enabled(studio).id, "timer": sets(studio.ana, studio.thread).id,
        "client": desk.row.pk, "token": desk.token.pk,
    }  # fmt: skip
    return Scene(studio, ids, token)


def nowhere(ids: Mapping[str, UUID]) -> dict[str, UUID]:
    """Return as many ids that name nothing."""
    return {name: uuid4() for name in ids}


def _started(studio: Studio, title: str) -> Started:
    thread = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title=title, agent_id=studio.robin.id)
    posts(studio.ana, thread, "Plan the dinner.")
    started = start_next(thread.id)
    assert started is not None
    return started


def _held(studio: Studio) -> Message:
    started = _started(studio, "Held")
    message = posts(studio.ana, started.turn.thread, "Sam, maybe.")
    with thread_locked(started.turn.thread_id) as locked:
        messages_held(locked, started.turn, [message.id])
    return message


def _failed(studio: Studio) -> Turn:
    started = _started(studio, "Failed")
    work = Work(started.turn, started.workspace, started.names, history.load(started.turn.history))
    boundary.fail(work, reason="limit", because="Its time was up.")
    return started.turn


def _called(studio: Studio) -> Call:
    worker = Worker.on(studio, _started(studio, "Called"))
    worker.calls("list_documents")
    return worker.turn.calls.get()


def _sent(studio: Studio, title: str, *, guests: int) -> Call:
    """Have Robin book a boat for Ana; the answer to who books a large one is lost."""
    worker = Worker.on(studio, _started(studio, title))
    with registered(book_boat):
        worker.calls("book_boat", guests=guests)
    return worker.turn.calls.get()


def _asked(studio: Studio) -> PendingAction:
    """Have Robin ask Ana, who wrote to it herself, for consent to what always needs it."""
    worker = Worker.on(studio, _started(studio, "Asked"))
    with registered(send_flowers):
        worker.calls("send_flowers", to="Sam")
        worker.ends()
    return PendingAction.objects.get(turn=worker.turn)


def _enabled(studio: Studio) -> WorkspaceTool:
    with registered(reserve_table):
        return workspace_tool_enable(actor=studio.ana.actor, workspace=studio.workspace.id, tool=reserve_table.name)


def _paused(studio: Studio) -> tuple[Turn, Question]:
    turn = _started(studio, "Paused").turn
    with thread_locked(turn.thread_id) as locked:
        call = Call.objects.create(
            turn=turn, step=1, number=1, tool="ask_person", called_as="ask_person", args="{}", key=uuid4().hex,
            effect="none", model_call_id="c1", sent_at=locked.now,
        )  # fmt: skip
        append(locked, CallStarted(call=call.id, tool=call.tool), actor=ending.acting(turn), turn=turn.id)
        question = Question.objects.create(
            turn=turn, call=call, seq=locked.row.head_seq, text="Which day?", choices=[], asked_at=locked.now
        )
        ending.pause(locked, turn, questions=(question.id,), text="")
    return turn, question
