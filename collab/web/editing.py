"""Who is writing in a document at this moment, for those who have a thread open and may view it (DESIGN 11, document).

It is kept nowhere: whoever writes says so again every so often, and pages forget who does not.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from collab.models.documents import Document
from collab.models.threads import Thread
from collab.web.access import Viewer
from collab.web.actors import Book
from permissions.actors import Person
from permissions.decisions import Action, Level
from permissions.gate import decide_on
from permissions.grants import readable


def writer(person: UUID, thread_id: UUID, document: UUID | None) -> dict[str, Any] | None:
    """Return what others are told of a person who writes in a document, or, with None, no longer does.

    Returns:
        ``person`` and ``document``; None where they may not even suggest a change to such a document of the thread's
        workspace, so that nothing is told.
    """
    actor = Person(person)
    workspace = Thread.objects.values_list("workspace_id", flat=True).get(pk=thread_id)
    if document is not None:
        found = Document.objects.filter(pk=document, workspace=workspace, archived_at__isnull=True).first()
        if found is None or decide_on(actor, Action.CHANGE_DOCUMENT, found).level < Level.PROPOSE:
            return None
    book = Book(workspace, [actor])
    who = {"id": str(person), "name": book.name(person), "hue": book.hue(person)}
    return {"person": who, "document": None if document is None else str(document)}


def viewers_of(document: UUID, viewers: Collection[Viewer]) -> set[Viewer]:
    """Return those of these viewers of a thread who may view a document of its workspace."""
    rows = Document.objects.filter(pk=document)
    return {viewer for viewer in viewers if viewer.whole or readable(rows, viewer.actor).exists()}
