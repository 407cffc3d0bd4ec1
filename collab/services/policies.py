"""How a document takes changes by agents and clients: directly, or only as proposals (DESIGN 5)."""

from __future__ import annotations

import logging
from uuid import UUID

from collab import doorbell
from collab.errors import Invalid
from collab.events import PolicyChanged
from collab.log import append
from collab.models.documents import Document, Follow
from collab.services.checks import open_thread
from permissions.actors import Actor, dumps
from permissions.decisions import Action
from permissions.errors import NotFound
from permissions.gate import require
from permissions.services import bound_change

logger = logging.getLogger(__name__)


def document_policy_set(*, actor: Actor, document: UUID, policy: str, thread: UUID) -> Document:
    """Let agents and clients change a document (``direct``) or only propose changes to it (``propose``).

    It is recorded in the log of the thread it was set in, and has an order with every write: the next one sees it.

    Raises:
        NotFound: there is no such thread, or no such document in its workspace, or the actor may not view it.
        Refused: the actor may not manage the document.
        Invalid: there is no such policy, or the document or the thread is archived.
    """
    if policy not in Document.WritePolicy.values:
        raise Invalid(f"A document's policy is {' or '.join(Document.WritePolicy.values)}.")
    with open_thread(actor, thread) as locked:
        found = Document.objects.filter(pk=document, workspace=locked.row.workspace_id).first()
        if found is None:
            raise NotFound()
        require(actor, Action.MANAGE, found)
        if found.archived_at is not None:
            raise Invalid(f"{found.title} is archived; bring it back to change how it takes changes.")
        if found.write_policy == policy:
            return found
        epoch = bound_change(by=actor, obj=found)
        Document.objects.filter(pk=found.pk).update(write_policy=policy)
        found.write_policy = policy
        append(locked, PolicyChanged(found.id, policy), actor=actor, grants_epoch=epoch)
        logger.info("document %s takes changes by agents and clients: %s, set by %s", found.id, policy, dumps(actor))
        followers = Follow.objects.filter(document=found).values_list("thread_id", flat=True)
        doorbell.document_changed_on_commit(found.id, {thread, *followers})
        return found
