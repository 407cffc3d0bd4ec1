"""Who sends a request: the header ``Authorization: Bearer`` and nothing else (RFC 6750).

A token in an address has leaked: browsers, proxies and logs keep addresses. It is revoked, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from django.http import HttpRequest

from agents.clients.answers import Receive, Scope, Send, say, say_away
from agents.clients.secrets import found_in
from agents.clients.services import LEAKED, tokens_leaked
from agents.clients.tokens import Bearer, bearer
from agents.errors import BadToken, Unauthenticated
from collab.db import AWAY, in_db

INVALID_REQUEST, INVALID_TOKEN = "invalid_request", "invalid_token"


def authenticated(scope: Scope, *, audience: str = "") -> Bearer:
    """Return who sends a request to an ASGI application. It reads the database.

    Args:
        audience: as for :func:`agents.clients.tokens.bearer`.

    Raises:
        Unauthenticated: there is no token, more than one, or one that is not good.
    """
    sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
    return _authenticated(sent, audience)


def authenticated_request(request: HttpRequest) -> Bearer:
    """Return who sends a request to a view. Errors as :func:`authenticated`."""
    sent = request.headers.get("Authorization")
    return _authenticated([] if sent is None else [sent], "")


def _authenticated(sent: Sequence[str], audience: str) -> Bearer:
    if not sent:
        raise Unauthenticated
    scheme, _, secret = sent[0].strip().partition(" ")
    if len(sent) > 1 or scheme.lower() != "bearer" or not secret.strip():
        raise Unauthenticated(error=INVALID_REQUEST)
    try:
        return bearer(secret.strip(), audience=audience)
    except BadToken as bad:
        raise Unauthenticated(bad.because, error=INVALID_TOKEN) from bad


class NoTokensInAddresses:
    """Stands before the whole application, its sockets too: what comes with a token in its address gets no further,
    and the token is revoked (ACCORD_BEFORE)."""

    def __init__(self, app: Callable[[Any, Any, Any], Awaitable[Any]]) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        leaked = found_in(scope["path"], scope.get("query_string", b"").decode("latin-1"))
        if not leaked:
            await self._app(scope, receive, send)
            return
        answer = _say_leaked
        try:
            await in_db(tokens_leaked, secrets=leaked)
        except AWAY:
            answer = say_away
        await (answer(send) if scope["type"] == "http" else send({"type": "websocket.close"}))


async def _say_leaked(send: Send) -> None:
    refused = Unauthenticated(f"{LEAKED} Send another, in the header Authorization: Bearer.", error=INVALID_REQUEST)
    await say(send, 401, refused.code, refused.because, {"WWW-Authenticate": refused.challenge()})
