"""What a socket is sent is compressed where its client offers it; what a client sends is bounded as it is unpacked."""

from __future__ import annotations

import pytest
from websockets.extensions.permessage_deflate import PerMessageDeflate

from collab.protocol import FRAME_BYTES
from tests.support.server import Server
from tests.support.visitor import visiting


@pytest.mark.parametrize(("offered", "agreed"), [("deflate", [PerMessageDeflate]), (None, [])])
async def test_a_socket_is_compressed_if_its_client_offers_it(server: Server, offered: str | None, agreed: list[type]):
    with visiting(server, "ana") as ana:
        opening = ana.socket(ana.thread(), compression=offered)
    async with opening as socket:
        await socket.send('{"type": "hello", "after_seq": 0}')
        assert '"welcome"' in await socket.recv()
        assert [type(one) for one in socket.protocol.extensions] == agreed
        await socket.send(" " * (FRAME_BYTES + 1))
        await socket.wait_closed()
    assert socket.close_code == 1009
