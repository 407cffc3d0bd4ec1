"""``manage.py world``: the fake world in a process of its own."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import httpx
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.support.server import environment_for, the_world

TABLE = {"day": "2026-12-04", "time": "20:00", "party": 4, "name": ""}


def test_a_killed_world_has_on_disk_what_it_answered_and_one_that_starts_again_answers_alike(tmp_path: Path):
    ledger = tmp_path / "ledger.jsonl"
    environment = environment_for(tmp_path)
    answers = []
    for _ in range(2):
        with the_world(environment, "--ledger", str(ledger)) as running:
            headers = {"Idempotency-Key": "k1"}
            answer = httpx.post(f"{running.url}/reservations", json=TABLE, headers=headers, timeout=10)
            answers.append(answer.json())
            running.process.kill()
    assert answers[0] == answers[1]
    assert [json.loads(line)["key"] for line in ledger.read_text().splitlines()] == ["k1"]


@pytest.mark.parametrize("port", ["70000", "-1"])
def test_a_port_that_cannot_be_is_told_in_a_sentence(tmp_path: Path, port: str):
    with pytest.raises(CommandError, match="the world does not start"):
        call_command("world", f"--port={port}", "--ledger", str(tmp_path / "ledger.jsonl"), stdout=StringIO())


def test_a_file_that_is_no_ledger_is_told_in_a_sentence(tmp_path: Path):
    file = tmp_path / "notes.txt"
    file.write_text("buy milk\n")
    with pytest.raises(CommandError, match="line 1 of the ledger"):
        call_command("world", "--port=0", "--ledger", str(file), stdout=StringIO())
