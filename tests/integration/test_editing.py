"""Who writes in a document is told to who may see it, and to nobody else (DESIGN 11; promise 10)."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async

from collab.services.documents import document_archive, document_create
from collab.services.workspaces import workspace_create
from permissions.services import grant_give
from tests.support.cast import Someone, Studio
from tests.support.sockets import Sockets

pytestmark = pytest.mark.django_db(transaction=True)


async def opened(sockets: Sockets, studio: Studio, *people: Someone) -> list[Any]:
    found = []
    for someone in people:
        socket = await sockets.connect(someone, studio.thread.id)
        await socket.hello()
        found.append(socket)
    return found


async def test_the_others_are_told_who_writes_and_when_they_stop(studio: Studio) -> None:
    async with Sockets() as sockets:
        ben, vera = await opened(sockets, studio, studio.ben, studio.vera)
        await ben.send(type="writing", document=str(studio.document.id))
        frame = await vera.until("editing")
        assert (frame["person"]["name"], frame["document"]) == ("Ben", str(studio.document.id))
        await ben.send(type="writing", document=None)
        assert (await vera.until("editing"))["document"] is None
        await ben.settled()
        assert not [frame for frame in ben.seen if frame["type"] == "editing"]


async def test_nothing_is_told_of_who_may_not_write_or_of_what_is_not_there(studio: Studio) -> None:
    elsewhere = await sync_to_async(workspace_create)(actor=studio.ben.actor, name="Elsewhere")
    make = sync_to_async(document_create)
    other = (await make(actor=studio.ben.actor, workspace=elsewhere.id, title="Other", kind="markdown")).document
    old = (await make(actor=studio.ben.actor, workspace=studio.workspace.id, title="Old", kind="markdown")).document
    assert other is not None
    assert old is not None
    await sync_to_async(document_archive)(actor=studio.ben.actor, document=old.id)
    async with Sockets() as sockets:
        ben, vera, ana = await opened(sockets, studio, studio.ben, studio.vera, studio.ana)
        await vera.send(type="writing", document=str(studio.document.id))
        await vera.settled()
        for document in (uuid4(), other.id, old.id):
            await ben.send(type="writing", document=str(document))
        await ben.send(type="writing", document="no id")
        assert (await ben.until("refused"))["code"] == "bad_frame"
        await ben.send(type="writing", document=str(studio.document.id))
        assert (await ana.until("editing"))["person"]["name"] == "Ben"
        assert [frame["document"] for frame in ana.seen if frame["type"] == "editing"] == [str(studio.document.id)]


async def test_who_may_not_view_the_document_is_told_nothing(studio: Studio, zoe: Someone) -> None:
    await sync_to_async(grant_give)(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.thread)
    async with Sockets() as sockets:
        ben, guest, vera = await opened(sockets, studio, studio.ben, zoe, studio.vera)
        await ben.send(type="writing", document=str(studio.document.id))
        await vera.until("editing")
        await ben.send(type="writing", document=None)
        assert (await vera.until("editing"))["document"] is None
        assert not [frame for frame in await guest.settled() if frame["type"] == "editing"]


async def test_who_stops_at_once_is_not_left_writing(studio: Studio) -> None:
    async with Sockets() as sockets:
        ben, vera = await opened(sockets, studio, studio.ben, studio.vera)
        for _ in range(10):
            await ben.send(type="writing", document=str(studio.document.id))
            await ben.send(type="writing", document=None)
        for _ in range(10):
            assert (await vera.until("editing"))["document"] == str(studio.document.id)
            assert (await vera.until("editing"))["document"] is None


async def test_who_goes_on_to_a_document_that_one_may_not_view_no_longer_writes(studio: Studio, zoe: Someone) -> None:
    for obj in (studio.thread, studio.document):
        await sync_to_async(grant_give)(by=studio.ana.actor, holder=zoe.user, codename="view", obj=obj)
    make = sync_to_async(document_create)
    other = (await make(actor=studio.ben.actor, workspace=studio.workspace.id, title="Other", kind="markdown")).document
    assert other is not None
    async with Sockets() as sockets:
        ben, guest = await opened(sockets, studio, studio.ben, zoe)
        await ben.send(type="writing", document=str(studio.document.id))
        assert (await guest.until("editing"))["document"] == str(studio.document.id)
        await ben.send(type="writing", document=str(other.id))
        assert (await guest.until("editing"))["document"] is None
