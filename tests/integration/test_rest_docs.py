"""What docs/api.md says of the API holds: its first call runs as it stands there, its addresses are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx

from agents.clients.rest import following, stream
from agents.clients.rest.api import api
from agents.clients.rest.quotas import COMMANDS, READS, STREAMS
from tests.support.server import Server

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "api.md").read_text()

ISSUED = """
from agents.clients.services import client_enable, client_register, token_issue
from collab.models.threads import Thread
from permissions.actors import Person
from permissions.models import User
from permissions.roles import Role
ana, thread = Person(User.objects.get(username="ana").pk), Thread.objects.first()
client = client_register(actor=ana, name="Desk", person=ana.id)
client_enable(actor=ana, workspace=thread.workspace_id, client=client.pk, role=Role.EDITOR)
_, secret = token_issue(actor=ana, client=client.pk, name="Docs", workspaces=[thread.workspace_id], person=ana.id)
print(f"secret={secret} thread={thread.pk}")
"""


def test_the_first_call_is_three_lines_and_runs(server: Server, capsys) -> None:
    told = re.search(r"secret=(\S+) thread=(\S+)", server.manage("shell", "-c", ISSUED))
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert told is not None
    assert len(code.splitlines()) == 3
    served = code.replace("http://127.0.0.1:8000", server.url)
    names: dict[str, Any] = {"httpx": httpx, "token": told[1], "thread": told[2]}
    exec(compile(served, "docs/api.md", "exec"), names)
    names["accord"].close()
    assert "Dinner for twelve, please." in capsys.readouterr().out


def test_the_stream_is_served_and_goes_on_where_it_was_cut_off(server: Server) -> None:
    told = re.search(r"secret=(\S+) thread=(\S+)", server.manage("shell", "-c", ISSUED))
    assert told is not None
    header = {"Authorization": f"Bearer {told[1]}"}
    with httpx.Client(base_url=f"{server.url}/api/v1", headers=header, timeout=30) as accord:
        here = accord.get(f"/threads/{told[2]}").json()["cursor"]
        accord.post("/commands/message_post", json={"thread": told[2], "text": "Hello.", "kind": "comment"})
        with accord.stream("GET", f"/stream/{told[2]}", headers={"Last-Event-ID": here}) as answer:
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            lines = answer.iter_lines()
            names = [next(line for line in lines if line.startswith("event: ")) for _ in range(2)]
    assert names == ["event: ready", "event: event"]


def test_every_address_of_the_page_is_one_and_every_read_is_on_the_page() -> None:
    table = PAGE.split("## Reads")[1].split("Items are those")[0]
    named = set(re.findall(r"`(/[^`]*)`", table)) | {f"/threads/<id>{part}" for part in re.findall(r"`…(/\w+)`", table)}
    paths = api.get_openapi_schema()["paths"]
    reads = {_written(path) for path, of in paths.items() if "get" in of and path != "/api/v1/"}
    assert named == reads - {"/stream/<id>"}


def test_the_numbers_of_the_page_are_those_that_hold() -> None:
    said = " ".join(PAGE.split())
    assert f"{COMMANDS.limit} commands and {READS.limit} reads a minute" in said
    assert f"begin {STREAMS.limit} streams a minute and have {stream.STREAMS_A_CLIENT} at once" in said
    assert f"after {following.MOST_SECONDS / 60:.0f} minutes or {following.MOST_BYTES // 2**20} MiB" in said


def _written(path: str) -> str:
    """Return an address as the page writes it."""
    short = path.removeprefix("/api/v1")
    for name in ("thread", "workspace", "document"):
        short = short.replace(f"{{{name}}}", "<id>")
    return short.replace("{", "<").replace("}", ">")
