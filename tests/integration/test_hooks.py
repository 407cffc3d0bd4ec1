"""``POST /hooks/<source>/``: what is taken, what is refused and why, and what that costs (DESIGN 8; FAILURES D)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError
from django.test import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models.sources import Delivery, Source
from agents.sources import acting, admission, counts, known
from agents.sources.hooks import LARGEST
from agents.sources.services import source_change, source_secret_rotate
from collab.asgi import application
from collab.db import close_connections, in_db
from tests.support.cast import Studio
from tests.support.deliveries import BODY, OTHER, Sender, headers_of, in_rows, source

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acted(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """What acting was told of, which does nothing itself here."""
    found: list[UUID] = []
    monkeypatch.setattr(acting, "delivered", found.extend)
    return found


@pytest.fixture
async def sender(studio: Studio, acted: list[UUID]) -> AsyncIterator[Sender]:
    """Sends to a desk of its own, which knows the restaurant."""
    await in_db(source, studio)
    yield Sender()
    close_connections()


@pytest.fixture
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every delivery reads the sources anew."""
    monkeypatch.setattr(known, "FRESH_SECONDS", 0.0)
    return


async def count_of(model: Any = Delivery) -> int:
    return await in_db(model.objects.count)


class TestAdmitting:
    async def test_a_signed_delivery_is_stored_and_acknowledged_and_then_handed_over(
        self, sender: Sender, acted: list[UUID]
    ) -> None:
        answer = await sender.sends()
        assert answer.status_code == 202
        ((id, body, state, event_id),) = await in_rows(Delivery, "id", "body", "state", "event_id")
        assert answer.json() == {"delivery": str(id), "duplicate": False}
        assert (bytes(body), state, event_id) == (BODY, "stored", "msg_1")
        await until(lambda: acted == [id])

    async def test_a_duplicate_is_acknowledged_again_and_does_nothing(self, sender: Sender, acted: list[UUID]) -> None:
        first = await sender.sends()
        again = await sender.sends(off=30)
        assert again.status_code == 200
        assert again.json() == {"delivery": first.json()["delivery"], "duplicate": True}
        assert await in_rows(Delivery, "repeats", "conflicts") == [(1, 0)]
        await until(lambda: len(acted) == 1)

    async def test_the_same_id_with_another_body_is_acknowledged_and_counted_and_the_first_stands(
        self, sender: Sender, acted: list[UUID]
    ) -> None:
        await sender.sends()
        answer = await sender.sends(b'{"type": "other"}')
        assert (answer.status_code, answer.json()["conflict"]) == (200, True)
        ((body, repeats, conflicts),) = await in_rows(Delivery, "body", "repeats", "conflicts")
        assert (bytes(body), repeats, conflicts) == (BODY, 1, 1)
        await until(lambda: len(acted) == 1)

    async def test_one_id_from_two_sources_is_two_deliveries(self, sender: Sender, studio: Studio) -> None:
        await in_db(source, studio, "cinema")
        both = [await sender.sends(to=name) for name in ("restaurant", "cinema")]
        assert [answer.status_code for answer in both] == [202, 202]
        assert await count_of() == 2

    async def test_a_source_that_signs_as_stripe_does_is_admitted(self, sender: Sender, studio: Studio) -> None:
        await in_db(source, studio, "shop", scheme="stripe")
        body = b'{"id": "evt_1", "type": "refund.made"}'
        for status in (202, 200):
            answer = await sender.sends(body, to="shop", scheme="stripe")
            assert answer.status_code == status
        assert await in_rows(Delivery, "event_id") == [("evt_1",)]

    @pytest.mark.parametrize("body", [b"", b"not json", b"\xff\xfe\x00", b"[1]", b"[" * 10_000], ids=range(5))
    async def test_a_signed_body_that_nobody_can_read_is_stored_and_not_called_forged(
        self, sender: Sender, body: bytes
    ) -> None:
        assert (await sender.sends(body)).status_code == 202
        ((kept,),) = await in_rows(Delivery, "body")
        assert bytes(kept) == body

    async def test_whose_name_a_body_says_does_not_count(self, sender: Sender, studio: Studio) -> None:
        cinema = await in_db(source, studio, "cinema", secret=OTHER)
        await sender.sends(b'{"source": "restaurant", "from": "user:ana"}', to="cinema", secret=OTHER)
        assert await in_rows(Delivery, "source_id") == [(cinema.id,)]

    async def test_forty_at_once_are_one_row_and_all_are_acknowledged(self, sender: Sender, acted: list[UUID]) -> None:
        answers = await asyncio.gather(*(sender.sends() for _ in range(40)))
        assert sorted(answer.status_code for answer in answers) == [200] * 39 + [202]
        assert await in_rows(Delivery, "repeats") == [(39,)]
        await until(lambda: len(acted) == 1)

    async def test_however_many_arrive_they_are_acted_on_on_one_connection(
        self, sender: Sender, acted: list[UUID], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now, most = [], []

        def slowly(new: list[UUID]) -> None:
            now.append(new)
            most.append(len(now))
            time.sleep(0.05)
            now.remove(new)
            acted.extend(new)

        monkeypatch.setattr(acting, "delivered", slowly)
        for number in range(6):
            assert (await sender.sends(id=f"msg_{number}")).status_code == 202
        await until(lambda: len(acted) == 6)
        assert set(most) == {1}

    async def test_the_application_answers_them_before_any_page(self, sender: Sender) -> None:
        sender.hooks = application
        answer = await sender.at("192.0.2.9").sends(to="nobody")
        assert answer.json()["error"] == "no_such_source"
        assert "set-cookie" not in answer.headers


class TestRefusing:
    async def test_a_forged_one_is_refused_and_nothing_is_written(self, sender: Sender) -> None:
        answer = await sender.sends(secret=OTHER)
        assert answer.status_code == 401
        assert answer.json()["error"] == "bad_signature"
        assert await count_of() == 0

    @pytest.mark.parametrize(("off", "status", "code"), [(-360, 401, "too_old"), (360, 401, "too_new")], ids=str)
    async def test_a_replay_six_minutes_old_is_refused(
        self, sender: Sender, off: float, status: int, code: str
    ) -> None:
        answer = await sender.sends(off=off)
        assert (answer.status_code, answer.json()["error"]) == (status, code)

    async def test_the_moment_is_the_databases(self, sender: Sender, clock: Any) -> None:
        clock(3600)
        assert (await sender.sends()).json()["error"] == "too_old"
        assert (await sender.sends(off=3600)).status_code == 202

    async def test_an_old_secret_holds_for_a_day_and_no_longer(
        self, sender: Sender, studio: Studio, clock: Any, always_fresh: None
    ) -> None:
        found = await in_db(Source.objects.get)
        await in_db(source_secret_rotate, actor=studio.ana.actor, source=found.id, secret=OTHER)
        assert (await sender.sends(id="new", secret=OTHER)).status_code == 202
        assert (await sender.sends(id="old")).status_code == 202
        clock(24 * 3600 + 1)
        assert (await sender.sends(id="later", off=24 * 3600)).status_code == 401
        assert (await sender.sends(id="later", off=24 * 3600, secret=OTHER)).status_code == 202

    async def test_a_source_that_is_switched_off_takes_nothing(
        self, sender: Sender, studio: Studio, always_fresh: None
    ) -> None:
        found = await in_db(Source.objects.get)
        await in_db(source_change, actor=studio.ana.actor, source=found.id, enabled=False)
        answer = await sender.sends()
        assert (answer.status_code, answer.json()["error"]) == (404, "switched_off")
        assert await count_of() == 0

    @pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
    async def test_other_methods_are_told_what_to_send(self, sender: Sender, method: str) -> None:
        answer = await sender.asks(method, "/hooks/restaurant/")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")

    @pytest.mark.parametrize("path", ["/hooks/", "/hooks//", "/hooks/a/b/", "/hooks/%00/", "/hooks/é/", "/hooks/a b"])
    async def test_other_addresses_are_nothing(self, sender: Sender, path: str) -> None:
        assert (await sender.asks("POST", path)).status_code == 404

    async def test_a_body_that_is_too_large_is_refused_whatever_length_it_claims(self, sender: Sender) -> None:
        most = b" " * LARGEST
        assert (await sender.sends(most)).status_code == 202
        assert (await sender.sends(most + b" ")).status_code == 413
        assert (await sender.sends(headers={"content-length": "9" * 30})).status_code == 413
        assert await count_of() == 1

    async def test_no_more_of_a_body_is_read_than_is_taken(self, sender: Sender) -> None:
        read = 0

        async def body() -> AsyncIterator[bytes]:
            nonlocal read
            for _ in range(100):
                read += 65_536
                yield b" " * 65_536

        scope = {
            "type": "http", "method": "POST", "path": "/hooks/restaurant/", "headers": [], "client": ("192.0.2.1", 1)
        }  # fmt: skip
        parts, said = body(), []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": await anext(parts), "more_body": True}

        async def send(message: dict[str, Any]) -> None:
            said.append(message)

        await sender.hooks(scope, receive, send)
        assert said[0]["status"] == 413
        assert read <= LARGEST + 65_536
        await parts.aclose()

    async def test_a_sender_that_goes_away_while_it_sends_is_answered_nothing(self, sender: Sender) -> None:
        scope = {"type": "http", "method": "POST", "path": "/hooks/restaurant/", "headers": [], "client": None}
        said: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            said.append(message)

        await sender.hooks(scope, receive, send)
        assert said == []


class TestCosts:
    async def test_unknown_sources_cost_no_query(self, sender: Sender, queries: Any) -> None:
        await sender.sends(to="nobody")
        with queries() as sent:
            for number in range(50):
                assert (await sender.sends(to=f"nobody-{number}")).status_code == 404
        sent.at_most(0)

    async def test_a_flood_of_forged_ones_writes_nothing_and_asks_nothing(self, sender: Sender, queries: Any) -> None:
        await sender.sends(to="nobody")
        with queries() as sent:
            for _ in range(50):
                assert (await sender.sends(secret=OTHER)).status_code == 401
        sent.at_most(0)

    async def test_too_many_are_refused_before_they_are_judged_and_write_nothing(
        self, sender: Sender, studio: Studio, queries: Any
    ) -> None:
        await in_db(source, studio, "cinema", per_minute=3)
        for number in range(3):
            assert (await sender.sends(to="cinema", id=f"m{number}")).status_code == 202
        with queries() as sent:
            answer = await sender.sends(to="cinema", secret=OTHER)
            assert (answer.status_code, answer.json()["error"]) == (429, "too_many")
            assert 1 <= int(answer.headers["retry-after"]) <= 60
        sent.at_most(0)

    async def test_a_forgers_flood_takes_nothing_from_the_source(self, sender: Sender, studio: Studio) -> None:
        await in_db(source, studio, "cinema", per_minute=3)
        forger = sender.at("198.51.100.7")
        flood = [(await forger.sends(to="cinema", secret=OTHER)).status_code for _ in range(5)]
        assert flood == [401, 401, 401, 429, 429]
        assert (await sender.sends(to="cinema")).status_code == 202

    async def test_signed_ones_from_many_addresses_keep_to_the_sources_rate(
        self, sender: Sender, studio: Studio
    ) -> None:
        await in_db(source, studio, "cinema", per_minute=2)
        places = [sender.at(f"192.0.2.{number}") for number in range(2, 5)]
        found = [(await place.sends(to="cinema", id=f"m{n}")).status_code for n, place in enumerate(places)]
        assert found == [202, 202, 429]

    async def test_behind_a_proxy_the_address_is_the_one_the_proxy_added(self, sender: Sender, studio: Studio) -> None:
        await in_db(source, studio, "cinema", per_minute=1)
        said = []
        for forwarded in ("198.51.100.7", "10.0.0.1, 198.51.100.7", "198.51.100.8"):
            headers = {**headers_of(secret=OTHER), "x-forwarded-for": forwarded}
            with override_settings(SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https")):
                said.append((await sender.sends(to="cinema", headers=headers)).status_code)
        assert said == [401, 429, 401]

    async def test_one_delivery_costs_an_insert_and_a_read(self, sender: Sender, queries: Any) -> None:
        await sender.sends(to="nobody")
        with queries() as sent:
            await sender.sends()
        sent.at_most(2)

    async def test_those_that_arrive_during_a_commit_share_the_next(self, sender: Sender, queries: Any) -> None:
        await sender.sends(to="nobody")
        with queries() as sent:
            answers = await asyncio.gather(*(sender.sends(id=f"m{number}") for number in range(60)))
        assert {answer.status_code for answer in answers} == {202}
        sent.at_most(10)

    async def test_what_is_answered_is_counted_under_names_that_exist(self, sender: Sender) -> None:
        before = dict(counts.answered())
        await sender.sends()
        await sender.sends()
        await sender.sends(secret=OTHER)
        await sender.sends(to="made-up")
        more = {key: number - before.get(key, 0) for key, number in counts.answered().items()}
        assert {key: number for key, number in more.items() if number} == {
            ("restaurant", "stored"): 1,
            ("restaurant", "repeated"): 1,
            ("restaurant", "bad_signature"): 1,
            ("", "no_such_source"): 1,
        }


class TestFailing:
    async def test_a_database_that_is_away_means_come_again(
        self, sender: Sender, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def away(**_: Any) -> None:
            raise OperationalError("the server closed the connection")

        await sender.sends(to="nobody")
        with monkeypatch.context() as patch:
            patch.setattr(admission, "deliveries_store", away)
            answers = await asyncio.gather(*(sender.sends(id=f"m{number}") for number in range(5)))
        assert {(answer.status_code, answer.headers["retry-after"]) for answer in answers} == {(503, "5")}
        assert await count_of() == 0
        assert (await sender.sends(id="m1")).status_code == 202

    async def test_sources_that_cannot_be_read_mean_come_again_and_the_database_is_asked_seldom(
        self, sender: Sender, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = []

        def away() -> None:
            asked.append(1)
            raise OperationalError("the server closed the connection")

        monkeypatch.setattr(known, "_read", away)
        answers = [await sender.sends(to=to) for to in ("restaurant", "nobody", "restaurant")]
        assert {answer.status_code for answer in answers} == {503}
        assert len(asked) == 1

    async def test_a_batch_is_stored_whole_or_not_at_all(self, sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
        found = await in_db(Source.objects.get)
        arrived = [_arrived(found, f"m{number}") for number in range(3)]

        def breaks(found: Any) -> None:
            raise OperationalError("gone between the insert and the commit")

        with monkeypatch.context() as patch:
            patch.setattr(admission, "_count_again", breaks)
            with pytest.raises(OperationalError):
                await in_db(admission.deliveries_store, arrived=arrived)
        assert await count_of() == 0

    async def test_one_that_cannot_be_stored_does_not_hold_up_the_others(self, sender: Sender, studio: Studio) -> None:
        cinema = await in_db(source, studio, "cinema")
        await sender.sends(to="nobody")
        await in_db(cinema.delete)
        answers = await asyncio.gather(
            *(sender.sends(id=f"m{number}", to=to) for number, to in enumerate(["restaurant", "cinema", "restaurant"]))
        )
        assert [answer.status_code for answer in answers] == [202, 404, 202]

    async def test_what_breaks_unexpectedly_is_no_500(
        self, sender: Sender, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def breaks(**_: Any) -> None:
            raise RuntimeError("no such luck")

        monkeypatch.setattr(admission, "deliveries_store", breaks)
        assert (await sender.sends()).status_code == 503
        assert "no such luck" in caplog.text

    async def test_a_process_that_ends_between_the_commit_and_acting_leaves_it_to_be_acted_on(
        self, sender: Sender, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def dies(_: Any) -> None:
            raise RuntimeError("killed here")

        monkeypatch.setattr(acting, "delivered", dies)
        assert (await sender.sends()).status_code == 202
        assert await in_rows(Delivery, "state") == [("stored",)]

    async def test_a_full_queue_says_when_to_come_again(self, sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(admission, "MOST_QUEUED", 0)
        answer = await sender.sends()
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        headers=st.lists(
            st.tuples(
                st.sampled_from(
                    [b"webhook-id", b"webhook-timestamp", b"webhook-signature", b"content-length", b"x-forwarded-for"]
                ),
                st.binary(max_size=40),
            ),
            max_size=6,
        ),
        body=st.binary(max_size=200),
        name=st.text(max_size=20),
    )
    def test_whatever_arrives_is_answered_with_4xx(self, studio: Studio, headers: Any, body: bytes, name: str) -> None:
        if not Source.objects.exists():
            source(studio)
        for to in ("restaurant", name):
            status, said = asyncio.run(_raw(f"/hooks/{to}/", headers, body))
            assert 400 <= status < 500
            assert set(said) == {"error", "because"}
        assert Delivery.objects.count() == 0


def _arrived(of: Source, id: str) -> admission.Arrived:
    return admission.Arrived(of.id, id, of.created_at, BODY)


async def _raw(path: str, headers: list[tuple[bytes, bytes]], body: bytes) -> tuple[int, Any]:
    said: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "client": ("192.0.2.1", 1)}
    try:
        await Sender().hooks(scope, receive, send)
    finally:
        close_connections()
    return said[0]["status"], json.loads(said[1]["body"])


async def until(true: Any) -> None:
    async with asyncio.timeout(30):
        while not true():
            await asyncio.sleep(0.01)
