"""The API as a client of the cast calls it, in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponse
from django.test import Client

from tests.support.cast import Someone, Studio
from tests.support.clients import Connected, connected

BASE = "/api/v1"


@dataclass(frozen=True, slots=True)
class Caller:
    """A client with its token, or a program that has none."""

    client: Connected | None = None
    browser: Client = field(default_factory=Client)

    def get(self, path: str, *, headers: dict[str, str] | None = None, **query: Any) -> Any:
        """Read an address below the API's."""
        return self.browser.get(f"{BASE}{path}", query, headers=self._with(headers))

    def read(self, path: str, **query: Any) -> Any:
        """Return what an address says; fail where it is refused."""
        answer = self.get(path, **query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def send(self, method: str, path: str, body: Any, *, headers: dict[str, str] | None = None) -> Any:
        """Send JSON to an address."""
        return self.browser.generic(
            method, f"{BASE}{path}", _text(body), content_type="application/json", headers=self._with(headers)
        )

    def command(self, name: str, /, *, key: str = "", **args: Any) -> Any:
        """Send a command, with an Idempotency-Key where there is one."""
        body = {name: str(value) if hasattr(value, "hex") else value for name, value in args.items()}
        return self.send("POST", f"/commands/{name}", body, headers={"Idempotency-Key": key} if key else None)

    def _with(self, headers: dict[str, str] | None) -> dict[str, str]:
        return {**(self.client.header if self.client else {}), **(headers or {})}


def caller(studio: Studio, person: Someone | None, **how: Any) -> Caller:
    """Return a client of a person, or one that acts for no one; arguments as for :func:`connected`."""
    return Caller(connected(studio, person, **how))


def refusal(answer: HttpResponse) -> tuple[int, str]:
    """Return the status and code of what was refused; fail where it is no problem of ours."""
    assert answer.headers["Content-Type"] == "application/problem+json", answer.content
    body: Any = answer.json() if hasattr(answer, "json") else {}
    assert body["status"] == answer.status_code
    assert body["detail"]
    assert body["type"] == f"urn:accord:problem:{body['code']}"
    return answer.status_code, body["code"]


def _text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body)
