"""What several services check before they change anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import transaction

from collab.canonical import BadJson
from collab.edits import EditConflict, EditRefused
from collab.errors import Conflict, Invalid, OutOfScope
from collab.kind import BadData, UnknownKind
from collab.log import Locked, thread_locked
from collab.models.threads import Thread
from collab.text import BadText, clean_line
from permissions.actors import Actor, Agent
from permissions.decisions import Action
from permissions.errors import NotFound
from permissions.gate import require


@contextmanager
def valid() -> Iterator[None]:
    """Raise what the pure modules refuse as what services refuse, in a sentence.

    Raises:
        Conflict: an edit does not fit the document as it is.
        OutOfScope: an edit touches something other than its document.
        Invalid: a text, an edit, data or a kind is refused.
    """
    try:
        yield
    except EditConflict as error:
        raise Conflict(_sentence(error.because)) from error
    except EditRefused as error:
        refusal = OutOfScope if error.code == "out_of_scope" else Invalid
        raise refusal(_sentence(error.because)) from error
    except (BadText, BadJson, BadData) as error:
        raise Invalid(_sentence(error.because)) from error
    except UnknownKind as error:
        raise Invalid(_sentence(str(error))) from error


def line(value: object, name: str) -> str:
    """Return a title or a name as it is stored.

    Raises:
        Invalid: it is no text, blank, too long, or holds a character no database keeps.
    """
    with valid():
        return clean_line(value, name=name)


def require_open(thread: Thread) -> None:
    """Check that a thread takes changes.

    Raises:
        Invalid: it is archived.
    """
    if thread.archived_at is not None:
        raise Invalid(f"{thread.title} is archived; bring it back to write in it.")


@contextmanager
def open_thread(actor: Actor, thread: UUID) -> Iterator[Locked]:
    """Hold a thread for a change that an actor makes in it.

    An agent's turn was checked there; anyone else must be able to view the thread their change is shown in.

    Raises:
        NotFound: there is no such thread, the actor may not view it, or it is an agent of another thread.
        Invalid: the thread is archived.
    """
    if isinstance(actor, Agent) and actor.thread != thread:
        raise NotFound()
    with thread_locked(thread) as locked:
        if not isinstance(actor, Agent):
            require(actor, Action.VIEW, locked.row)
        require_open(locked.row)
        yield locked


@contextmanager
def in_thread(actor: Actor, thread: UUID | None) -> Iterator[Locked | None]:
    """Open the transaction of a change that an actor makes in a thread, or outside of any.

    An agent always acts in its own thread, so that no change of it escapes the thread's suggest mode.

    Raises: as :func:`open_thread`.
    """
    place = actor.thread if thread is None and isinstance(actor, Agent) else thread
    if place is None:
        with transaction.atomic():
            yield None
        return
    with open_thread(actor, place) as locked:
        yield locked


def _sentence(because: str) -> str:
    return f"{because[:1].upper()}{because[1:].removesuffix('.')}."
