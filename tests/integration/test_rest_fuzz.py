"""The API fuzzed against its own OpenAPI document: whatever is sent, nothing fails on our side and every answer is one
that the document names (issue E, REST)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from agents.clients.rest import asking
from agents.clients.rest.api import api
from agents.clients.rest.cursors import cursor
from agents.clients.rest.quotas import Policy
from tests.support import cast
from tests.support.rest import Caller, caller
from tests.support.scene import Scene, scene
from tests.support.tools import book_boat, registered, reserve_table

pytestmark = pytest.mark.django_db

CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
EXAMPLES = 12
"""Requests an operation; `make test` with more of them finds more."""

THERE = 0.7
"""How many of the things that requests name are there; of nearly all that are made up the answer is that nothing is."""

NAMED = {
    "turn": ("running", "failed", "paused"), "call": ("call", "booked", "lost"), "message": ("message", "held"),
    "document": ("document", "archived", "written"), "tool": ("create_document",), "outcome": ("done", "refused"),
    "language": ("en",), "kind": ("document", "thread", "workspace"),
}  # fmt: skip
"""What the fields and the parts of addresses name, where that is not called as they are."""


LISTED = ("thread", "document", "workspace")
"""The parts of addresses whose lists have cursors of their own."""


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("READS", "COMMANDS"):
        monkeypatch.setattr(asking, name, Policy(name.lower(), 1_000_000))


@pytest.fixture
def connected(db: None) -> Iterator[None]:
    """Keep the test's connection open: a real application closes its own with each request."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def played(studio: cast.Studio, unlimited: None, connected: None) -> Iterator[Scene]:
    with registered(reserve_table, book_boat):
        yield scene(studio)


@pytest.fixture
def fuzzer(studio: cast.Studio, played: Scene) -> Caller:
    return caller(studio, studio.ana)


def operations() -> dict[str, list[Any]]:
    """Return every operation that Django answers, by what they are about. The stream is answered beside it."""
    document = {**api.get_openapi_schema()}
    document["paths"] = {path: found for path, found in document["paths"].items() if "/stream/" not in path}
    loaded = schemathesis.openapi.from_dict(document)
    loaded.app = get_wsgi_application()
    found: dict[str, list[Any]] = {}
    for one in (result.ok() for result in loaded.get_all_operations()):
        found.setdefault(one.definition.raw["tags"][0], []).append(one)
    return found


OPERATIONS = operations()


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("about", sorted(OPERATIONS))
def test_whatever_is_sent_is_answered_as_the_document_says(
    about: str, mode: GenerationMode, fuzzer: Caller, played: Scene
) -> None:
    assert fuzzer.client
    ids = {name: str(id) for name, id in played.ids.items()}
    for operation in OPERATIONS[about]:
        if mode is GenerationMode.NEGATIVE and not (operation.body or [*operation.iter_parameters()]):
            continue
        with transaction.atomic():
            fuzz(operation, mode, ids, fuzzer.client.header)
            transaction.set_rollback(True)


def fuzz(operation: Any, mode: GenerationMode, ids: Mapping[str, str], header: dict[str, str]) -> None:
    """Send an operation what its document allows or what it does not, most of it about something that is there."""

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate],
    )  # fmt: skip
    def fuzzed(case: Any) -> None:
        chosen = random.Random(repr((case.path_parameters, case.body)))
        case.path_parameters = {
            name: _named(name if name != "id" else operation.path.split("/")[3].removesuffix("s"), value, chosen, ids)
            for name, value in (case.path_parameters or {}).items()
        }
        if isinstance(case.body, dict):
            case.body = {name: _named(name, value, chosen, ids) for name, value in case.body.items()}
        for name in {"before", "after"} & {*(case.query or {})}:
            of = next((case.path_parameters[part] for part in LISTED if part in case.path_parameters), None)
            if of in ids.values() and "versions" not in operation.path and chosen.random() < THERE:
                case.query[name] = cursor(UUID(of), chosen.choice([chosen.randrange(9), UUID(ids["message"]).int]))
        case.call_and_validate(headers=header, checks=list(CHECKS))

    fuzzed()


def _named(name: str, value: Any, chosen: random.Random, ids: Mapping[str, str]) -> Any:
    known = [ids.get(thing, thing) for thing in NAMED.get(name, (name,)) if thing in ids or name in NAMED]
    return chosen.choice(known) if known and chosen.random() < THERE else value
