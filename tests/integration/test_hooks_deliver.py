"""``manage.py deliver``: a file signed and sent as a source would, to a real server."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.support.deliveries import BODY, OTHER, source
from tests.support.server import ROOT

MAKES = """
from agents.sources.services import source_create
from collab.models.workspaces import Workspace
from permissions.actors import Person
from permissions.models import User
source_create(
    actor=Person(User.objects.get(username="ana").pk), workspace=Workspace.objects.order_by("created_at").first().pk,
    name="kitchen", label="Kitchen", handler="json",
)
"""


def delivers(server, *arguments, given=b""):
    """Run it, and return its status and all that it printed."""
    command = [sys.executable, "manage.py", "deliver", *arguments, "--url", server.url]
    done = subprocess.run(command, cwd=ROOT, env=server.environment, input=given, capture_output=True, check=False)
    return done.returncode, (done.stdout + done.stderr).decode()


def test_a_file_is_delivered_once_however_often_it_is_sent(server, tmp_path):
    server.manage("shell", "-c", MAKES)
    file = tmp_path / "event.json"
    file.write_bytes(BODY)
    first = delivers(server, "kitchen", str(file), "--id", "m1")
    assert first[0] == 0
    assert first[1].startswith("202 ")
    again = delivers(server, "kitchen", "-", "--id", "m1", given=BODY)
    assert again[0] == 0
    assert again[1].startswith("200 ")
    for arguments, code in ((("--secret", OTHER), "bad_signature"), (("--at", "2026-01-01T00:00:00"), "too_old")):
        status, said = delivers(server, "kitchen", str(file), *arguments)
        assert status == 1
        assert said.startswith("401 ")
        assert code in said
    assert '"duplicate": true' in again[1]


@pytest.mark.django_db
class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("cinema", "FILE"), "there is no source 'cinema'; there are: restaurant"),
            (("restaurant", "nowhere.json"), "nowhere.json cannot be read"),
            (("restaurant", "FILE", "--at", "yesterday"), "is no moment"),
            (("restaurant", "FILE", "--at", "9" * 20), "is no moment"),
            (("restaurant", "FILE", "--secret", "no base64!"), "it cannot be signed"),
            (("restaurant", "FILE", "--url", "http://127.0.0.1:1"), "does not answer .*: start the server, or name"),
            (("restaurant", "FILE", "--url", "nowhere"), "does not answer"),
        ],
        ids=[f"number {number}" for number in range(7)],
    )
    def test_each_is_told_in_a_sentence(self, studio, tmp_path, arguments, said):
        source(studio)
        file = tmp_path / "event.json"
        file.write_bytes(BODY)
        with pytest.raises(CommandError, match=said):
            call_command("deliver", *(str(file) if one == "FILE" else one for one in arguments), stdout=StringIO())
