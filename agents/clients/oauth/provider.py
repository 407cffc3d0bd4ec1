"""Our storage and our consent page, as the SDK's authorisation server asks for them (DESIGN 11).

The SDK reads requests, compares redirect addresses and code verifiers, and words the answers; what is kept and decided
is in :mod:`agents.clients.oauth.services`. Programs are public clients: PKCE binds a code, and no secret is theirs.
"""

from __future__ import annotations

import re
import time
from uuid import UUID

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

from agents.clients.oauth import services
from agents.clients.oauth.addresses import fault_of
from agents.clients.origins import issuer_of, mcp_of
from agents.models.clients import Registration
from collab.canonical import BadJson, canonical
from collab.db import in_db
from collab.errors import CollabError
from permissions.errors import NotFound

PUBLIC = "none"
"""How programs show at the token endpoint who they are: by their code verifier alone."""

CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
"""What S256 makes of a code verifier (RFC 7636)."""

LONGEST_STATE = 1_000
LONGEST_PAGE = 1_900
"""Characters of the consent page's address, which signing in carries along."""

LONGEST_REGISTRATION = 16_384
MOST_ADDRESSES = 20
UNNAMED = "A program without a name"

KEPT = {"client_name", "redirect_uris", "grant_types", "response_types", "scope", "client_uri", "software_id"}
"""What is kept of what a program says of itself: all that is compared or shown."""


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """The storage of one origin."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._resource = mcp_of(origin)

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        """Return a program that registered itself."""
        id = _uuid(client_id)
        return None if id is None else await in_db(_program, id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a program. What is set here is what it is told: it has no secret, whatever it asked for (RFC 7591,
        3.2.1)."""
        client_info.token_endpoint_auth_method = PUBLIC
        client_info.client_secret = client_info.client_secret_expires_at = None
        if because := _fault_of(client_info):
            raise RegistrationError("invalid_redirect_uri", because)
        kept = client_info.model_dump(mode="json", include=KEPT, exclude_none=True)
        name = client_info.client_name or UNNAMED
        try:
            if len(canonical(kept)) > LONGEST_REGISTRATION:
                raise RegistrationError("invalid_client_metadata", "The registration is too long.")
            await in_db(services.registration_create, id=UUID(client_info.client_id), name=name, metadata=kept)
        except (BadJson, CollabError) as refused:
            raise RegistrationError("invalid_client_metadata", refused.because) from refused

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """Return the consent page for a request."""
        if params.resource is not None and params.resource.rstrip("/") != self._resource:
            raise AuthorizeError("invalid_target", f"Tokens are for {self._resource}.")
        if not _is_text(params.state or "", LONGEST_STATE) or not CHALLENGE.fullmatch(params.code_challenge):
            raise AuthorizeError("invalid_request", "The state or the code challenge cannot be.")
        try:
            ticket = await in_db(
                services.authorization_ask, registration=UUID(client.client_id), redirect_uri=str(params.redirect_uri),
                explicit=params.redirect_uri_provided_explicitly, state=params.state, challenge=params.code_challenge,
                resource=self._resource, issuer=issuer_of(self._origin),
            )  # fmt: skip
        except NotFound as gone:
            raise AuthorizeError("unauthorized_client", gone.because) from gone
        page = f"/connect/?ask={ticket}"
        if len(page) > LONGEST_PAGE:
            raise AuthorizeError("invalid_request", "The state and the redirect address are too long.")
        return f"{self._origin}{page}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        """Return what a code stands for, though it was exchanged: the SDK first verifies whose it is."""
        found = await in_db(services.authorization_of, UUID(client.client_id), authorization_code)
        if found is None:
            return None
        return AuthorizationCode(
            code=authorization_code, scopes=[], expires_at=time.time() + 60, client_id=client.client_id,
            code_challenge=found.challenge, redirect_uri=AnyUrl(found.redirect_uri),
            redirect_uri_provided_explicitly=found.explicit, resource=found.resource, subject=str(found.pk),
        )  # fmt: skip

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        """Give the token for a code."""
        id = UUID(authorization_code.subject or "")
        try:
            return _token(await in_db(services.code_exchange, authorization=id))
        except CollabError as refused:
            raise TokenError("invalid_grant", refused.because) from refused

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        """Return what renews a token, though it was used."""
        found = await in_db(services.refresh_of, UUID(client.client_id), refresh_token)
        if found is None:
            return None
        return RefreshToken(token=refresh_token, client_id=client.client_id, scopes=[], subject=str(found.pk))

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        """Renew a token."""
        id = UUID(refresh_token.subject or "")
        try:
            return _token(await in_db(services.token_renew, refresh=id))
        except CollabError as refused:
            raise TokenError("invalid_grant", refused.because) from refused

    async def load_access_token(self, token: str) -> AccessToken | None:
        """Return what a token is, for the program that gives it back."""
        found = await in_db(services.registration_of, token)
        if found is None:
            return None
        program, authorization = found
        return AccessToken(token=token, client_id=str(program), scopes=[], subject=str(authorization))

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        """End what a program gives back, and all that came of the same consent."""
        id = UUID(token.subject or "")
        if isinstance(token, RefreshToken):
            id = await in_db(services.authorization_of_refresh, id)
        await in_db(services.authorization_end, authorization=id)


def _program(id: UUID) -> OAuthClientInformationFull | None:
    found = Registration.objects.filter(pk=id).first()
    if found is None:
        return None
    return OAuthClientInformationFull.model_validate(
        {**found.metadata, "client_id": str(found.pk), "token_endpoint_auth_method": PUBLIC}
    )


def _fault_of(program: OAuthClientInformationFull) -> str:
    addresses = [str(address) for address in program.redirect_uris or ()]
    if not 1 <= len(addresses) <= MOST_ADDRESSES:
        return f"A program names 1 to {MOST_ADDRESSES} redirect addresses."
    return next((because for address in addresses if (because := fault_of(address))), "")


def _token(given: services.Given) -> OAuthToken:
    return OAuthToken(access_token=given.secret, refresh_token=given.renewal, expires_in=given.seconds)


def _is_text(text: str, longest: int) -> bool:
    return len(text) <= longest and text.isascii() and "\0" not in text


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
