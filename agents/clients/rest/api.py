"""The API itself: every address below ``/api/v1/``, its OpenAPI document and its page (DESIGN 11)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import cached_property, update_wrapper
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.http import require_safe
from ninja import NinjaAPI
from ninja.parser import Parser

from agents.clients.rest import (
    commands,
    documents,
    nowhere,
    phrasings,
    searching,
    start,
    stream_document,
    things,
    threads,
    workspaces,
)
from agents.clients.rest.asking import BearerAuth, spent_of
from agents.clients.rest.problems import MEDIA_TYPE, TooLarge, Unknown, WrongType, problem, refused
from collab.canonical import parse_json

LARGEST = 262_144
"""Bytes of a body, the most that is taken."""

DESCRIPTION = """Everything that the pages of Accord show and do, for other programs. What a client may not see is not
there for it; what it may not do is refused with a sentence that says who lacked what."""

_CONVERTED = re.compile(r"<(?:\w+:)?(\w+)>")
_CLAUSE = re.compile(r"[^.:]+")

View = Callable[..., HttpResponse]


class Bodies(Parser):
    """Reads bodies as strictly as sockets read frames."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return what a body says.

        Raises:
            WrongType: it is not sent as JSON.
            TooLarge: it is too large.
            BadJson: it is no JSON that is accepted.
        """
        if request.content_type != "application/json":
            raise WrongType
        if len(request.body) > LARGEST:
            raise TooLarge(f"A body may take {LARGEST:,} bytes.")
        return parse_json(request.body, max_bytes=LARGEST)


class Api(NinjaAPI):
    """Ninja, with our problems as its errors, and nothing unknown in a query."""

    def set_default_exception_handlers(self) -> None:
        """Answer whatever a view raises with a problem."""
        self.add_exception_handler(Exception, refused)

    def create_temporal_response(self, request: HttpRequest) -> HttpResponse:
        """Begin an answer, once it is known who asks.

        Raises:
            Unknown: the query holds what the operation does not know.
        """
        known = self._queries.get((_pattern_of(request), (request.method or "").lower()), frozenset())
        if unknown := sorted(set(request.GET) - known):
            raise Unknown(f"The query holds what is not known here: {_shown(unknown[0])}.")
        return super().create_temporal_response(request)

    def get_openapi_schema(self, **_: Any) -> Any:
        """Return the OpenAPI document, with what every operation may answer, and the stream beside Django."""
        return self._document

    @cached_property
    def _document(self) -> Any:
        document: Any = super().get_openapi_schema()
        document["components"]["schemas"]["Problem"] = PROBLEM
        for operations in document["paths"].values():
            for operation in operations.values():
                operation["responses"]["default"] = REFUSED
                if operation["summary"].istitle():  # Ninja's own, made of a function's name
                    operation["summary"] = _first_clause(operation["description"])
        document["paths"].update(stream_document.PATHS)
        return document

    @property
    def urls(self) -> Any:
        """The addresses, each answered as :func:`answered` says."""
        patterns, app, namespace = super().urls
        for pattern in patterns:
            if isinstance(pattern, URLPattern):
                pattern.callback = answered(pattern.callback)
        return patterns, app, namespace

    @cached_property
    def _queries(self) -> dict[tuple[str, str], frozenset[str]]:
        """What each operation knows in a query, by its address and method."""
        paths = self._document["paths"]
        return {
            (path, method): frozenset(_in_query(operation.get("parameters", ())))
            for path, operations in paths.items()
            for method, operation in operations.items()
        }


PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "What was refused: `code` is stable, `detail` is a sentence for people (RFC 9457).",
    "type": "object",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "retry_after": {"type": "integer", "description": "Seconds."},
        "faults": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"at": {"type": "string"}, "because": {"type": "string"}},
            },
        },
    },
}

REFUSED: dict[str, Any] = {
    "description": "Refused, with the reason.",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


def answered(view: View) -> View:
    """Add to a view's answers what all have: they are cached by nobody else, say what is left of the client's quota,
    answer conditional reads, and refuse with problems."""

    def answering(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        answer = view(request, *args, **kwargs)
        if answer.status_code == 405:
            allowed = answer["Allow"]
            answer = problem(405, "method", f"This address takes {allowed}.", headers={"Allow": allowed})
        spent = spent_of(request)
        for name, value in spent.headers.items() if spent else ():
            answer[name] = value
        patch_vary_headers(answer, ("Authorization",))
        answer["Cache-Control"] = "private, no-cache" if request.method == "GET" else "no-store"
        return _conditional(request, answer)

    update_wrapper(answering, view)
    return answering


def _conditional(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    if request.method != "GET" or answer.status_code != 200:
        return answer
    etag = f'"{hashlib.sha256(answer.content).hexdigest()[:32]}"'
    answer["ETag"] = etag
    # 304 keeps what the whole answer would say of the quota, of caching and of itself.
    short = get_conditional_response(request, etag=etag, response=answer)
    if short is None or short is answer:
        return answer
    for name in ("RateLimit-Policy", "RateLimit", "Vary", "Cache-Control", "ETag"):
        if name in answer:
            short[name] = answer[name]
    found: HttpResponse = short
    return found


def _pattern_of(request: HttpRequest) -> str:
    match = request.resolver_match
    return "/" + _CONVERTED.sub(r"{\1}", match.route) if match else ""


def _in_query(parameters: Iterable[dict[str, Any]]) -> Iterable[str]:
    return (one["name"] for one in parameters if one["in"] == "query")


def _first_clause(text: str) -> str:
    found = _CLAUSE.match(text)
    return " ".join(found[0].split()) if found else ""


def _shown(name: str) -> str:
    return ascii(name[:40])


api = Api(
    title="Accord",
    version="1",
    description=DESCRIPTION,
    urls_namespace="api",
    auth=BearerAuth(),
    parser=Bodies(),
    docs_url="/docs/",
    docs_decorator=require_safe,
)
for room in (start, workspaces, threads, things, documents, searching, phrasings, commands, nowhere):
    api.add_router("", room.router)
