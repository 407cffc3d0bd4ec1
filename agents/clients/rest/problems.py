"""What is refused, as RFC 9457 says it: with our code and our sentence, and nothing of what was sent."""

from __future__ import annotations

import json
import math
from http import HTTPStatus
from typing import Any

import structlog
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from ninja.errors import HttpError, ValidationError

from agents.clients.answers import AWAY_SECONDS
from agents.errors import AgentsError, Unauthenticated
from collab.canonical import BadJson
from collab.db import AWAY
from collab.errors import Busy, CollabError, Conflict, Gone, Invalid
from permissions.errors import NotFound, PermissionsError, Refused

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"

MOST_FAULTS = 20
"""Of so many faults in what was sent a client is told."""

STATUSES: tuple[tuple[type[Exception], HTTPStatus], ...] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (Refused, HTTPStatus.FORBIDDEN),
    (Unauthenticated, HTTPStatus.UNAUTHORIZED),
    (Busy, HTTPStatus.TOO_MANY_REQUESTS),
    (Conflict, HTTPStatus.CONFLICT),
    (Gone, HTTPStatus.CONFLICT),
    (Invalid, HTTPStatus.UNPROCESSABLE_ENTITY),
    (PermissionsError, HTTPStatus.FORBIDDEN),
    (CollabError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (AgentsError, HTTPStatus.UNPROCESSABLE_ENTITY),
)
"""The status of what is refused; the first that fits."""


class WrongType(CollabError):
    """A body is sent as application/json."""

    code = "not_json"


class TooLarge(CollabError):
    """The body is too large."""

    code = "too_long"


class Unknown(Invalid):
    """What was sent is not known here."""


def problem(
    status: int, code: str, because: str, *, headers: dict[str, str] | None = None, **more: Any
) -> HttpResponse:
    """Return an answer that refuses.

    Args:
        code: one of ours, stable.
        because: the sentence that says who lacked what.
        more: further members of the answer.
    """
    body = {
        "type": f"urn:accord:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": because,
        **more,
    }
    return HttpResponse(json.dumps(body, ensure_ascii=False), status=status, content_type=MEDIA_TYPE, headers=headers)


def refused(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    """Return the answer to whatever a request was refused with or failed with."""
    raised = error if isinstance(error, Exception) else error()
    return answer_to(raised, f"{request.method} {request.path}")


def answer_to(error: Exception, asked: str) -> HttpResponse:
    """Return the answer to whatever a request was refused with or failed with.

    Args:
        asked: the request, for the log.
    """
    match error:
        case Unauthenticated():
            return problem(401, error.code, error.because, headers={"WWW-Authenticate": error.challenge()})
        case Busy():
            return too_many(error)
        case WrongType():
            return problem(415, error.code, error.because)
        case TooLarge() | RequestDataTooBig():
            because = error.because if isinstance(error, TooLarge) else TooLarge().because
            return problem(413, TooLarge.code, because)
        case PermissionsError() | CollabError() | AgentsError():
            return problem(_status_of(error), error.code, error.because)
        case ValidationError():
            faults = [_fault(one) for one in error.errors[:MOST_FAULTS]]
            first = faults[0]
            said = f"{first['at']}: {first['because']}" if first["at"] else first["because"]
            return problem(422, Invalid.code, said, faults=faults)
        case HttpError():
            return _unreadable(error)
        case Http404():
            return problem(404, NotFound.code, NotFound().because)
        case _ if isinstance(error, AWAY):
            log.warning("api_away", asked=asked, exc_info=error)
            return away()
        case _:
            log.error("api_failed", asked=asked, exc_info=error)
            return problem(500, "failed", "Something went wrong here; it was written down.")


def too_many(error: Busy) -> HttpResponse:
    """Return the answer to a request that was one too many: when to try again."""
    wait = math.ceil(error.retry_after)
    return problem(429, error.code, error.because, headers={"Retry-After": str(wait)}, retry_after=wait)


def away() -> HttpResponse:
    """Return the answer while the database is away: nobody knows whether a command was carried out; sent again with
    its key it is carried out once."""
    because = "The database is away; send it again with the same Idempotency-Key."
    return problem(503, "away", because, headers={"Retry-After": str(AWAY_SECONDS)}, retry_after=AWAY_SECONDS)


def _status_of(error: Exception) -> int:
    return next(status for kind, status in STATUSES if isinstance(error, kind))


def _fault(fault: dict[str, Any]) -> dict[str, str]:
    # Ninja puts before each place where it was sent and the name of our argument.
    place = ".".join(str(part) for part in fault["loc"][1:]).removeprefix("body.").removeprefix("body")
    return {"at": place, "because": str(fault["msg"]).removeprefix("Value error, ")}


def _unreadable(error: HttpError) -> HttpResponse:
    """A body that ninja could not parse carries why as its cause."""
    match error.__cause__:
        case WrongType() | TooLarge() as cause:
            return problem(415 if isinstance(cause, WrongType) else 413, cause.code, cause.because)
        case BadJson() as cause:
            because = f"The body is refused: {cause.because}."
            return problem(413 if cause.code == TooLarge.code else 400, cause.code, because)
        case _:
            code = Refused.code if error.status_code == HTTPStatus.FORBIDDEN else Invalid.code
            return problem(error.status_code, code, str(error))
