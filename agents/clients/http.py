"""Who sends a request: the header ``Authorization: Bearer`` and nothing else (RFC 6750).

A token in an address has leaked: browsers, proxies and logs keep addresses. It is revoked, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.decorators import sync_and_async_middleware

from agents.clients.secrets import found_in
from agents.clients.services import token_leaked
from agents.clients.tokens import Bearer, bearer
from agents.errors import BadToken, Unauthenticated
from collab.db import in_db

IN_AN_ADDRESS = (
    "A token came in the address, where browsers, proxies and logs keep it: it was revoked. Send tokens in the header "
    "Authorization: Bearer."
)

INVALID_REQUEST, INVALID_TOKEN = "invalid_request", "invalid_token"


def authenticated(scope: dict[str, Any], *, audience: str = "") -> Bearer:
    """Return who sends a request to an ASGI application. It reads the database.

    Args:
        audience: as for :func:`agents.clients.tokens.bearer`.

    Raises:
        Unauthenticated: there is no token, more than one, one in the address, or one that is not good.
    """
    sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
    return _authenticated(sent, scope["path"], scope["query_string"].decode("latin-1"), audience)


def authenticated_request(request: HttpRequest, *, audience: str = "") -> Bearer:
    """Return who sends a request to a view. Arguments and errors as :func:`authenticated`."""
    sent = request.headers.get("Authorization")
    return _authenticated([] if sent is None else [sent], request.path, request.META["QUERY_STRING"], audience)


def _authenticated(sent: Sequence[str], path: str, query: str, audience: str) -> Bearer:
    if leaked := found_in(path, query):
        for secret in leaked:
            token_leaked(secret=secret)
        raise Unauthenticated(IN_AN_ADDRESS, error=INVALID_REQUEST)
    if not sent:
        raise Unauthenticated
    scheme, _, secret = sent[0].strip().partition(" ")
    if len(sent) > 1 or scheme.lower() != "bearer" or not secret.strip():
        raise Unauthenticated(error=INVALID_REQUEST)
    try:
        return bearer(secret.strip(), audience=audience)
    except BadToken as bad:
        raise Unauthenticated(bad.because, error=INVALID_TOKEN) from bad


@sync_and_async_middleware
def no_tokens_in_addresses(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Revoke a token that stands in the address of any page, and answer 401 (middleware)."""
    if iscoroutinefunction(get_response):

        async def asynchronously(request: HttpRequest) -> HttpResponseBase:
            leaked = found_in(request.path, request.META.get("QUERY_STRING", ""))
            if leaked:
                await in_db(_revoked, leaked)
                return _refusal()
            answer: Awaitable[HttpResponseBase] = get_response(request)
            return await answer

        return asynchronously

    def synchronously(request: HttpRequest) -> HttpResponseBase:
        leaked = found_in(request.path, request.META.get("QUERY_STRING", ""))
        if leaked:
            _revoked(leaked)
            return _refusal()
        answer: HttpResponseBase = get_response(request)
        return answer

    return synchronously


def _revoked(leaked: Sequence[str]) -> None:
    for secret in leaked:
        token_leaked(secret=secret)


def _refusal() -> HttpResponse:
    refused = Unauthenticated(IN_AN_ADDRESS, error=INVALID_REQUEST)
    body = {"code": refused.code, "because": refused.because}
    return JsonResponse(
        body, status=401, headers={"WWW-Authenticate": refused.challenge(), "Cache-Control": "no-store"}
    )
