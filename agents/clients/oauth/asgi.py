"""``/oauth/`` and what describes it below ``/.well-known/``: the SDK's routes over our storage (DESIGN 11).

Which origin it speaks for is the request's own, one of those that this server answers for.
"""

from __future__ import annotations

import time
from collections.abc import MutableMapping
from functools import lru_cache
from typing import Any

from mcp.server.auth.handlers.metadata import MetadataHandler
from mcp.server.auth.routes import build_metadata, create_auth_routes, create_protected_resource_routes
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.server.transport_security import RequestBodyLimitMiddleware
from pydantic import AnyHttpUrl
from starlette.formparsers import MultiPartException
from starlette.routing import Mount, Route, Router

from agents.clients.answers import Answering, Receive, Scope, Send, say, say_away
from agents.clients.oauth.addresses import is_offered
from agents.clients.oauth.provider import PUBLIC, Provider
from agents.clients.origins import NotServed, issuer_of, mcp_of, origin_of
from agents.clients.rest.quotas import Policy, Quotas
from collab.db import AWAY
from collab.web.senders import network, sender_of

LARGEST = 32_768
"""Bytes of a request."""

REGISTERING, ASKING = Policy("registering", 20), Policy("asking", 120)
"""How often programs of one network may register, and ask for anything else, within a minute."""


class OAuth:
    """The ASGI application of ``/oauth/``."""

    def __init__(self) -> None:
        self._quotas = Quotas()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        answer = Answering(send)
        try:
            await self._answered(scope, receive, answer)
        except NotServed as error:
            await say(send, error.status, error.code, error.because)
        except MultiPartException as error:
            await say(send, 400, "invalid_request", error.message)
        except AWAY:
            if answer.status is None:
                await say_away(send)

    async def _answered(self, scope: Scope, receive: Receive, answer: Answering) -> None:
        origin = origin_of(scope)
        if not is_offered(origin):
            await say(answer, 404, "not_found", "Programs are let in over https only.")
            return
        policy = REGISTERING if scope["path"].endswith("/register") else ASKING
        spent = self._quotas.spend(network(sender_of(scope)), policy, time.monotonic())
        if spent.wait:
            await say(answer, 429, "busy", "Too many requests.", {"Retry-After": str(int(spent.wait) + 1)})
            return
        reads = _without_secret(receive) if scope["path"].endswith("/revoke") else receive
        await RequestBodyLimitMiddleware(_routes(origin), LARGEST)(scope, reads, answer)


@lru_cache(maxsize=64)
def _routes(origin: str) -> Router:
    issuer, resource = AnyHttpUrl(issuer_of(origin)), AnyHttpUrl(mcp_of(origin))
    registering, revoking = ClientRegistrationOptions(enabled=True), RevocationOptions(enabled=True)
    metadata = build_metadata(issuer, None, registering, revoking)
    # What the SDK says of itself by default would be of programs that have secrets.
    metadata.token_endpoint_auth_methods_supported = [PUBLIC]
    metadata.revocation_endpoint_auth_methods_supported = [PUBLIC]
    found = create_auth_routes(
        Provider(origin), issuer, client_registration_options=registering, revocation_options=revoking
    )
    auth = [route for route in found if not route.path.startswith("/.well-known/")]
    known = [
        Route(path, MetadataHandler(metadata).handle)
        for path in ("/.well-known/oauth-authorization-server/oauth", "/.well-known/oauth-authorization-server")
    ]
    about = create_protected_resource_routes(resource, [issuer], resource_name="Accord")
    return Router([Mount("/oauth", routes=auth), *known, *about], default=_nowhere)


def _without_secret(receive: Receive) -> Receive:
    """The SDK takes a token back only where a secret is sent too; programs here have none, so an empty one is added."""

    async def read() -> Any:
        message = await receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            return {**message, "body": message.get("body", b"") + b"&client_secret="}
        return message

    return read


async def _nowhere(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
    await say(send, 404, "not_found", "There is nothing here.")


oauth = OAuth()
"""Mounted by ``agents/clients/mounts.py``."""
