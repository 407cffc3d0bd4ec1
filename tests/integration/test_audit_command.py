"""``manage.py audit``: what it prints, how it exits, and the anchors it keeps."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread as OsThread

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from agents.audit import reading
from collab.models.threads import Event, Message, Thread
from collab.services.threads import thread_create
from tests.support.cast import Studio
from tests.support.tampering import Tampered
from tests.support.turns import posts
from tests.support.worked import worked


def test_a_good_database_is_told_in_one_line(studio: Studio, capsys):
    call_command("audit")
    assert capsys.readouterr().out == "1 threads, 3 events: no violation\n"


@pytest.mark.corrupts
def test_each_violation_is_a_line_with_its_rule_its_thread_and_its_event(studio: Studio, capsys):
    posts(studio.ana, studio.thread, "one")
    Message.objects.update(waits=False)
    with pytest.raises(CommandError, match="2 violations in 1 threads, 4 events"):
        call_command("audit")
    first, second = capsys.readouterr().out.splitlines()
    place = f"INV2 thread {studio.thread.id} event 4"
    assert first == f"{place}: message 4 is neither taken, passed over, cancelled, held nor waiting"
    assert second == f"{place}: waits by the log, its row says nothing of it"


@pytest.mark.corrupts
def test_with_json_each_finding_is_an_object_and_nothing_else_is_printed(studio: Studio, capsys):
    call_command("audit", "--json")
    assert capsys.readouterr().out == ""
    Thread.objects.update(head_hash="0" * 64)
    with pytest.raises(CommandError):
        call_command("audit", "--json")
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert (found["rule"], found["thread"], found["seq"]) == ("INV12", str(studio.thread.id), None)


def test_a_note_is_no_violation(studio: Studio, capsys):
    posts(studio.ana, studio.thread, "one")
    Message.objects.update(posted_at="2020-01-01T00:00:00Z")
    call_command("audit")
    told = capsys.readouterr().out
    assert "note: 1 messages wait since 2020-01-01 00:00" in told
    assert "no violation" in told


def test_an_anchor_keeps_every_head_and_a_longer_log_still_holds_it(studio: Studio, tmp_path: Path):
    anchor = tmp_path / "heads.jsonl"
    call_command("audit", "--anchor", str(anchor))
    assert _kept(anchor) == {str(studio.thread.id): 3}
    posts(studio.ana, studio.thread, "one")
    other = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Another")
    call_command("audit", "--anchor", str(anchor))
    assert _kept(anchor) == {str(studio.thread.id): 4, str(other.id): 1}
    assert [path.name for path in tmp_path.iterdir()] == ["heads.jsonl"]


@pytest.mark.corrupts
def test_a_log_that_was_cut_short_and_sealed_again_misses_its_anchor(studio: Studio, tmp_path: Path, capsys):
    posts(studio.ana, studio.thread, "one")
    anchor, before = _anchored(tmp_path)
    tampered = Tampered(studio, None)
    tampered.removes(Message.objects.all())
    tampered.removes(Event.objects.filter(seq=4))
    Thread.objects.update(head_seq=3, head_hash=Event.objects.get(seq=3).hash)
    call_command("audit")
    _fails_on(anchor)
    assert "anchor" in capsys.readouterr().out
    assert anchor.read_text() == before


@pytest.mark.corrupts
def test_a_log_that_was_written_anew_misses_its_anchor(studio: Studio, tmp_path: Path, capsys):
    anchor, before = _anchored(tmp_path)
    Tampered(studio, None).rewrites("thread_created", at="2020-01-01T00:00:00Z")
    call_command("audit")
    _fails_on(anchor)
    assert f"anchor thread {studio.thread.id} event 3: the anchored event is another one" in capsys.readouterr().out
    assert anchor.read_text() == before


def test_a_file_that_holds_no_anchors_is_refused_and_left_alone(studio: Studio, tmp_path: Path):
    anchor = tmp_path / "heads.jsonl"
    for text in ("not json\n", '{"thread": "x", "seq": 1, "hash": ""}\n', "[]\n", '{"seq": 1}\n'):
        anchor.write_text(text)
        with pytest.raises(CommandError, match="line 1 is no anchor"):
            call_command("audit", "--anchor", str(anchor))
        assert anchor.read_text() == text


def test_a_folder_that_is_not_there_is_told(studio: Studio, tmp_path: Path):
    with pytest.raises(CommandError, match="No such file"):
        call_command("audit", "--anchor", str(tmp_path / "nowhere" / "heads.jsonl"))


def test_a_log_is_read_a_stretch_at_a_time(studio: Studio, monkeypatch: pytest.MonkeyPatch, capsys):
    worked(studio)
    monkeypatch.setattr(reading, "STRETCH", 4)
    call_command("audit")
    assert capsys.readouterr().out.endswith("events: no violation\n")
    lengths = [len(stretch) for stretch in reading.stretches(next(reading.threads()))]
    assert sum(lengths) == Event.objects.count() > 40
    assert max(lengths) == 4


@pytest.mark.django_db(transaction=True)
def test_the_audit_reads_one_moment_while_others_write(studio: Studio):
    with reading.snapshot():
        assert _head(studio) == 3
        writer = OsThread(target=_posts_elsewhere, args=(studio,))
        writer.start()
        writer.join()
        assert _head(studio) == 3
    assert _head(studio) == 4


def _posts_elsewhere(studio: Studio) -> None:
    posts(studio.ana, studio.thread, "one")
    connection.close()


def _head(studio: Studio) -> int:
    (thread,) = reading.threads()
    return thread.head_seq


def _kept(anchor: Path) -> dict[str, int]:
    lines = [json.loads(line) for line in anchor.read_text().splitlines()]
    return {line["thread"]: line["seq"] for line in lines}


def _anchored(folder: Path) -> tuple[Path, str]:
    anchor = folder / "heads.jsonl"
    call_command("audit", "--anchor", str(anchor))
    return anchor, anchor.read_text()


def _fails_on(anchor: Path) -> None:
    with pytest.raises(CommandError, match="1 violations"):
        call_command("audit", "--anchor", str(anchor))
