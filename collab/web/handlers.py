"""The commands of this app: what each takes, and the service that carries it out (docs/protocol.md, commands)."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from collab import selectors
from collab.commands import Args, Result, register
from collab.errors import Invalid
from collab.models.proposals import Proposal
from collab.models.threads import Message, Thread
from collab.services.changes import Written
from collab.services.documents import (
    document_archive,
    document_create,
    document_restore,
    document_restore_version,
    document_save,
)
from collab.services.messages import message_cancel, message_post
from collab.services.policies import document_policy_set
from collab.services.proposals import proposal_accept, proposal_reject, proposal_withdraw
from collab.services.threads import (
    read_mark_set,
    thread_answers_set,
    thread_archive,
    thread_focus_set,
    thread_mode_set,
    thread_rename,
)
from collab.web.several import MOST_AT_ONCE, accept_each
from permissions.actors import Actor

Seq = Field(ge=0, le=2**53 - 1)


class MessagePost(Args):
    thread: UUID
    text: str
    kind: Literal["message", "comment"] = "message"


class MessageCancel(Args):
    message: UUID


class ThreadRename(Args):
    thread: UUID
    title: str


class ThreadArchive(Args):
    thread: UUID
    archived: bool


class ThreadModeSet(Args):
    thread: UUID
    mode: str


class ThreadAnswersSet(Args):
    thread: UUID
    answers: str


class ThreadFocusSet(Args):
    thread: UUID
    document: UUID | None


class ReadMarkSet(Args):
    thread: UUID
    seq: int = Seq


class Suggestible(Args):
    """A change that may be suggested, in a thread, instead of made."""

    thread: UUID | None = None
    rationale: str = ""
    propose: bool = False


class DocumentSave(Suggestible):
    document: UUID
    text: str
    base_version: int = Seq


class DocumentCreate(Suggestible):
    title: str
    kind: str
    text: str | None = None
    workspace: UUID | None = None


class DocumentRestore(Args):
    document: UUID
    thread: UUID | None = None


class DocumentArchive(Suggestible):
    document: UUID


class DocumentRestoreVersion(Suggestible):
    document: UUID
    version: int = Seq
    base_version: int = Seq


class DocumentPolicySet(Args):
    document: UUID
    policy: str
    thread: UUID


class ProposalNamed(Args):
    proposal: UUID


class ProposalAccept(ProposalNamed):
    text: str | None = None
    title: str | None = None
    base_version: Annotated[int, Seq] | None = None


class ProposalsAccept(Args):
    proposals: list[UUID] = Field(min_length=1, max_length=MOST_AT_ONCE)


class ProposalReject(Args):
    proposal: UUID
    reason: str = ""


def _message_post(actor: Actor, args: MessagePost) -> Result:
    return _message(
        message_post(actor=actor, thread=args.thread, content=args.text, client_id=args.command_id, kind=args.kind)
    )


def _message_cancel(actor: Actor, args: MessageCancel) -> Result:
    return _message(message_cancel(actor=actor, message=args.message))


def _thread_rename(actor: Actor, args: ThreadRename) -> Result:
    return _thread(thread_rename(actor=actor, thread=args.thread, title=args.title))


def _thread_archive(actor: Actor, args: ThreadArchive) -> Result:
    return _thread(thread_archive(actor=actor, thread=args.thread, archived=args.archived))


def _thread_mode_set(actor: Actor, args: ThreadModeSet) -> Result:
    return _thread(thread_mode_set(actor=actor, thread=args.thread, mode=args.mode))


def _thread_answers_set(actor: Actor, args: ThreadAnswersSet) -> Result:
    return _thread(thread_answers_set(actor=actor, thread=args.thread, answers=args.answers))


def _thread_focus_set(actor: Actor, args: ThreadFocusSet) -> Result:
    return _thread(thread_focus_set(actor=actor, thread=args.thread, document=args.document))


def _read_mark_set(actor: Actor, args: ReadMarkSet) -> Result:
    return {"seq": read_mark_set(actor=actor, thread=args.thread, seq=args.seq)}


def _document_save(actor: Actor, args: DocumentSave) -> Result:
    return _written(
        document_save(
            actor=actor, document=args.document, text=args.text, base_version=args.base_version, thread=args.thread,
            rationale=args.rationale, propose=args.propose,
        )
    )  # fmt: skip


def _document_create(actor: Actor, args: DocumentCreate) -> Result:
    workspace = args.workspace
    if workspace is None:
        if args.thread is None:
            raise Invalid("A document is made in a thread or in a workspace: name one.")
        workspace = selectors.thread_for(actor, args.thread).workspace_id
    return _written(
        document_create(
            actor=actor, workspace=workspace, title=args.title, kind=args.kind, text=args.text, thread=args.thread,
            rationale=args.rationale, propose=args.propose,
        )
    )  # fmt: skip


def _document_archive(actor: Actor, args: DocumentArchive) -> Result:
    return _written(
        document_archive(
            actor=actor, document=args.document, thread=args.thread, rationale=args.rationale, propose=args.propose
        )
    )


def _document_restore(actor: Actor, args: DocumentRestore) -> Result:
    return _written(document_restore(actor=actor, document=args.document, thread=args.thread))


def _document_restore_version(actor: Actor, args: DocumentRestoreVersion) -> Result:
    return _written(
        document_restore_version(
            actor=actor, document=args.document, version=args.version, base_version=args.base_version,
            thread=args.thread, rationale=args.rationale, propose=args.propose,
        )
    )  # fmt: skip


def _document_policy_set(actor: Actor, args: DocumentPolicySet) -> Result:
    found = document_policy_set(actor=actor, document=args.document, policy=args.policy, thread=args.thread)
    return {"document": str(found.id), "policy": found.write_policy}


def _proposal_accept(actor: Actor, args: ProposalAccept) -> Result:
    return _written(
        proposal_accept(
            actor=actor, proposal=args.proposal, text=args.text, title=args.title, base_version=args.base_version
        )
    )


def _proposals_accept(actor: Actor, args: ProposalsAccept) -> Result:
    return accept_each(actor, args.command_id, args.proposals)


def _proposal_reject(actor: Actor, args: ProposalReject) -> Result:
    return _proposal(proposal_reject(actor=actor, proposal=args.proposal, reason=args.reason))


def _proposal_withdraw(actor: Actor, args: ProposalNamed) -> Result:
    return _proposal(proposal_withdraw(actor=actor, proposal=args.proposal))


def _message(message: Message) -> Result:
    return {"message": str(message.id), "seq": message.seq, "kind": message.kind}


def _thread(thread: Thread) -> Result:
    return {"thread": str(thread.id)}


def _proposal(proposal: Proposal) -> Result:
    return {"proposal": str(proposal.id), "state": proposal.state}


def _written(written: Written) -> Result:
    return {
        "document": None if written.document is None else str(written.document.id),
        "version": written.version,
        "proposal": None if written.proposal is None else str(written.proposal.id),
        "summary": written.summary,
        "because": written.because,
    }


def register_commands() -> None:
    """Register the commands of this app."""
    register("message_post", MessagePost, _message_post)
    register("message_cancel", MessageCancel, _message_cancel)
    register("thread_rename", ThreadRename, _thread_rename)
    register("thread_archive", ThreadArchive, _thread_archive)
    register("thread_mode_set", ThreadModeSet, _thread_mode_set)
    register("thread_answers_set", ThreadAnswersSet, _thread_answers_set)
    register("thread_focus_set", ThreadFocusSet, _thread_focus_set)
    register("read_mark_set", ReadMarkSet, _read_mark_set, stored=False)
    register("document_create", DocumentCreate, _document_create)
    register("document_save", DocumentSave, _document_save)
    register("document_archive", DocumentArchive, _document_archive)
    register("document_restore", DocumentRestore, _document_restore)
    register("document_restore_version", DocumentRestoreVersion, _document_restore_version)
    register("document_policy_set", DocumentPolicySet, _document_policy_set)
    register("proposal_accept", ProposalAccept, _proposal_accept)
    register("proposals_accept", ProposalsAccept, _proposals_accept, apart=True)
    register("proposal_reject", ProposalReject, _proposal_reject)
    register("proposal_withdraw", ProposalNamed, _proposal_withdraw)
