"""What tests read back of what a service did."""

from __future__ import annotations

from collab import events, log
from collab.events import Fact, Unknown
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Thread


def facts(thread: Thread, after: int = 0) -> list[Fact | Unknown]:
    """Return what a thread's log says, from the event behind ``after`` on."""
    return [events.load(row.type, row.data) for row in log.read(thread.id, after=after)]


def text_of(document: Document) -> str:
    """Return a Markdown document's text as it is now."""
    return str(Document.objects.get(pk=document.pk).data["text"])


def state_of(proposal: Proposal) -> str:
    """Return a proposal's state as it is now."""
    return Proposal.objects.get(pk=proposal.pk).state
