"""A grant is revoked while a proposal is accepted, many times over (FAILURES F6, G): whichever comes first, decides."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
from django.db import connection

from collab.log import verify
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Event
from collab.services.documents import document_create
from collab.services.proposals import proposal_accept
from permissions.errors import Refused
from permissions.models import GrantChange
from permissions.services import grant_give, grant_take
from tests.support.cast import Studio

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 500
CHANGE = "change_document"


def proposed(studio: Studio, number: int) -> UUID:
    found = document_create(
        actor=studio.ana.actor, workspace=studio.workspace.id, title=f"D{number}", kind="markdown", text="x",
        thread=studio.thread.id, propose=True,
    ).proposal  # fmt: skip
    assert found is not None
    return found.id


def accepted(studio: Studio, proposal: UUID) -> bool:
    try:
        proposal_accept(actor=studio.ben.actor, proposal=proposal)
    except Refused:
        return False
    return True


def racing(*acts: Callable[[int], object]) -> list[list[object]]:
    """Let each act happen once in each round, all at the same moment; return what came of them, by act."""
    ready = Barrier(len(acts))

    def rounds(act: Callable[[int], object]) -> list[object]:
        found = []
        try:
            for number in range(ROUNDS):
                ready.wait(timeout=60)
                found.append(act(number))
            return found
        except BaseException:
            ready.abort()
            raise
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(rounds, acts))


def test_nobody_whose_grant_was_gone_has_accepted(studio: Studio) -> None:
    """Ben's grant to change documents is taken in every odd round and given in every even one, as he accepts."""
    proposals = [proposed(studio, number) for number in range(ROUNDS)]
    ben, workspace = studio.ben, studio.workspace

    def turns_over(number: int) -> None:
        act = grant_give if number % 2 else grant_take
        act(by=studio.ana.actor, holder=ben.user, codename=CHANGE, obj=workspace)

    outcomes, _ = racing(lambda number: accepted(studio, proposals[number]), turns_over)
    states = [Proposal.objects.get(pk=id).state for id in proposals]
    assert set(outcomes) == {True, False}, "they never raced"
    assert states == ["accepted" if won else "open" for won in outcomes]
    assert Document.objects.filter(title__startswith="D").count() == sum(map(bool, outcomes))

    given = list(
        GrantChange.objects.filter(account=ben.user, codename=CHANGE).order_by("epoch").values_list("epoch", "given")
    )
    made = Event.objects.filter(thread=studio.thread, type="document_created", actor=ben.actor)
    for epoch in made.values_list("grants_epoch", flat=True):
        assert [held for at, held in given if at <= epoch][-1], f"accepted at grants epoch {epoch} without the grant"
    assert verify(studio.thread.id) is None


def test_a_round_in_which_he_never_held_it_is_refused(studio: Studio) -> None:
    proposal = proposed(studio, 0)
    grant_take(by=studio.ana.actor, holder=studio.ben.user, codename=CHANGE, obj=studio.workspace)
    assert not accepted(studio, proposal)
    assert Proposal.objects.get(pk=proposal).state == "open"
