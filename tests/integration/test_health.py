"""The health pages: alive is not ready, and not ready says what is missing."""

from __future__ import annotations

import socket

import pytest
from channels.layers import channel_layers
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder


@pytest.fixture
def dead_layer():
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    before = channel_layers.set("default", RedisPubSubChannelLayer(hosts=[f"redis://127.0.0.1:{port}/0"]))
    yield
    channel_layers.set("default", before)


def test_a_process_with_all_it_needs_is_ready(client, db):
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "missing": {}})


def test_a_migration_not_applied_is_named_as_missing(client, db):
    MigrationRecorder.Migration.objects.filter(app="agents").delete()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert list(answer.json()["missing"]) == ["migrations"]


def test_a_channel_layer_that_is_down_is_named_as_missing(client, db, dead_layer):
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert list(answer.json()["missing"]) == ["channel_layer"]


def test_a_database_that_is_down_is_named_without_saying_where_it_is(client, db, monkeypatch):
    def down() -> None:
        raise OperationalError("no route to db.internal for account accord")

    with monkeypatch.context() as patched:
        patched.setattr(connection, "cursor", down)
        answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["missing"]["database"] == "does not answer (OperationalError)"
    assert "internal" not in answer.content.decode()


def test_a_process_is_alive_whatever_it_lacks(client):
    # No database is allowed in this test: being alive must not ask one.
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"alive": True})


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_the_health_pages_are_only_read(client, path):
    assert client.post(path).status_code == 405
