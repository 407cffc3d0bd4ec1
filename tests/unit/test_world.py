"""The fake world: what one key asks for is done once, its ledger is its memory, and its switches do what they say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from agents.world.ledger import BadLedger, Ledger
from agents.world.places import No, Places
from tests.support.fake_world import Fake, world_beside

TABLE = {"day": "2026-12-04", "time": "20:00", "party": 4, "name": ""}


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Fake]:
    with world_beside(tmp_path / "world.jsonl") as running:
        yield running


def test_what_a_key_asks_for_is_done_once_and_answered_alike_each_time(fake: Fake):
    first, second = (fake.asks("POST", "/reservations", "k1", **TABLE) for _ in range(2))
    assert first.json() == second.json()
    assert first.json()["reservation"] == "R1"
    assert fake.deeds == ["reserve"]


def test_a_key_that_asks_for_something_else_is_refused(fake: Fake):
    fake.asks("POST", "/reservations", "k1", **TABLE)
    other = fake.asks("POST", "/reservations", "k1", **{**TABLE, "party": 5})
    assert other.status_code == 409
    assert fake.deeds == ["reserve"]


def test_a_reservation_is_found_by_its_key_its_number_and_its_day_and_is_cancelled_once(fake: Fake):
    fake.asks("POST", "/reservations", "k1", **TABLE)
    for query in ("key=k1", "id=R1", "day=2026-12-04"):
        (found,) = fake.asks("GET", f"/reservations?{query}").json()["reservations"]
        assert found["party"] == 4
    assert fake.asks("GET", "/reservations?day=2026-12-05").json() == {"reservations": []}
    assert fake.asks("DELETE", "/reservations/R1", "k2").json()["state"] == "cancelled"
    assert fake.asks("DELETE", "/reservations/R1", "k2").status_code == 200
    assert fake.asks("DELETE", "/reservations/R1", "k3").status_code == 422
    assert fake.asks("DELETE", "/reservations/R9", "k4").status_code == 404
    assert fake.deeds == ["reserve", "cancel"]


def test_a_refund_never_exceeds_what_was_paid(fake: Fake):
    assert fake.asks("POST", "/refunds", "k1", order="4412", amount="10.00").status_code == 200
    assert "Only 2.50" in fake.asks("POST", "/refunds", "k2", order="4412", amount="12.50").json()["because"]
    assert fake.asks("GET", "/orders/4412").json()["remaining"] == "2.50"
    assert fake.asks("GET", "/orders/9").status_code == 404


def test_a_lost_reply_is_a_deed_done(fake: Fake):
    fake.switch(lose_replies=1)
    with pytest.raises(httpx.RemoteProtocolError):
        fake.asks("POST", "/texts", "k1", to="group", text="We moved.")
    assert fake.deeds == ["text"]
    assert fake.asks("POST", "/texts", "k1", to="group", text="We moved.").json()["sent"] == "M1"


def test_an_answer_that_is_held_is_given_once_it_is_let_go_and_what_it_answers_is_done_before(fake: Fake):
    fake.switch(hold=True)
    with ThreadPoolExecutor() as others:
        answer = others.submit(fake.asks, "POST", "/texts", "k1", to="group", text="We moved.")
        while not fake.http.get("/switches").json()["held"]:
            assert not answer.done()
        assert fake.deeds == ["text"]
        fake.switch(hold=False)
        assert answer.result().json()["sent"] == "M1"
    assert fake.http.get("/switches").json()["held"] == 0


def test_what_it_says_no_to_is_not_done(fake: Fake):
    fake.switch(fail=1)
    assert fake.asks("POST", "/reservations", "k1", **TABLE).json()["done"] is False
    fake.switch(down=True)
    assert fake.asks("POST", "/reservations", "k1", **TABLE).status_code == 503
    assert fake.asks("GET", "/orders/4412").status_code == 503
    fake.switch(down=False)
    assert fake.deeds == []
    assert fake.asks("POST", "/reservations", "k1", **TABLE).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "key", "content", "status"),
    [
        ("POST", "/reservations", "", b"{}", 400),
        ("POST", "/reservations", "k", b"{", 400),
        ("POST", "/reservations", "k", b"[" * 60_000, 400),
        ("POST", "/reservations", "k", b"x" * 70_000, 413),
        ("POST", "/reservations", "k", b'{"day": "2026-02-30", "time": "20:00", "party": 4}', 422),
        ("POST", "/reservations", "k", b'{"day": "2026-02-03", "time": "24:00", "party": 4}', 422),
        ("POST", "/reservations", "k", b'{"day": "2026-02-03", "time": "20:00", "party": true}', 422),
        ("POST", "/refunds", "k", b'{"order": "4412", "amount": NaN}', 422),
        ("POST", "/refunds", "k", b'{"order": "4412", "amount": "1e400"}', 422),
        ("POST", "/texts", "k", b'{"to": "everyone", "text": "Hi"}', 422),
        ("POST", "/switches", "", b'{"slow_ms": "long"}', 400),
        ("POST", "/nowhere", "k", b"{}", 404),
        ("GET", "/nowhere", "", b"", 404),
        ("DELETE", "/reservations/", "k", b"", 404),
    ],
    ids=[f"number {number}" for number in range(14)],
)
def test_what_cannot_be_asked_is_answered_with_a_reason_and_does_nothing(
    fake: Fake, method: str, path: str, key: str, content: bytes, status: int
):
    headers = {"Idempotency-Key": key} if key else {}
    answer = fake.http.request(method, path, content=content, headers=headers)
    assert (answer.status_code, answer.json()["done"]) == (status, False)
    assert answer.json()["because"]
    assert fake.deeds == []


def test_a_world_that_starts_anew_knows_what_it_did(tmp_path: Path):
    path = tmp_path / "world.jsonl"
    with world_beside(path) as fake:
        first = fake.asks("POST", "/reservations", "k1", **TABLE).json()
    with world_beside(path) as fake:
        assert fake.asks("POST", "/reservations", "k1", **TABLE).json() == first
        assert fake.asks("POST", "/reservations", "k2", **TABLE).json()["reservation"] == "R2"
    assert [json.loads(line)["key"] for line in path.read_text().splitlines()] == ["k1", "k2"]


def test_a_line_that_a_crash_cut_short_was_never_done(tmp_path: Path):
    path = tmp_path / "world.jsonl"
    kept = Ledger(path)
    kept.do("k1", "reserve", TABLE)
    kept.close()
    path.write_bytes(path.read_bytes() + b'{"key": "k2", "de')
    again = Ledger(path)
    again.do("k3", "text", {"to": "group", "text": "Hi"})
    again.close()
    assert [json.loads(line)["key"] for line in path.read_text().splitlines()] == ["k1", "k3"]


def test_a_file_that_is_no_ledger_is_not_written_over(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("buy milk\n")
    with pytest.raises(BadLedger, match="line 1"):
        Ledger(path)
    assert path.read_text() == "buy milk\n"


def test_the_restaurant_seats_no_more_than_it_has_seats():
    places = Places()
    for _ in range(2):
        places.happened("reserve", places.answer("reserve", {**TABLE, "party": 20}))
    with pytest.raises(No, match="no table for 1"):
        places.answer("reserve", {**TABLE, "party": 1})
    assert places.answer("reserve", {**TABLE, "party": 1, "time": "21:00"})["reservation"] == "R3"
