"""What a failed request means: in words for people, and whether asking again may help."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus

import httpx2
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
)

_RETRIED = {408, 409, 425, 429}
_TRANSPORT = (httpx2.TransportError, httpx2.StreamError, OSError)
_LONGEST_DETAIL = 200


@dataclass(frozen=True)
class Fault:
    """Why one attempt failed.

    Attributes:
        what: what the model service did, as words that follow "The model service".
        retryable: whether the same request may succeed when it is made again.
        retry_after: seconds the service asked to wait, if it did.
        status: the HTTP status, if there was one.
    """

    what: str
    retryable: bool
    retry_after: float | None = None
    status: int | None = None


class AttemptError(Exception):
    """An attempt failed; raised to where the attempts are counted."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.what)
        self.fault = fault


CUT_OFF = Fault("broke off its answer", retryable=True)
DECLINED = Fault("declined to answer", retryable=False)


@contextmanager
def faults() -> Iterator[None]:
    """Turn what a provider raises in this block into AttemptError; every other exception passes unchanged."""
    try:
        yield
    except (ModelAPIError, UnexpectedModelBehavior, *_TRANSPORT) as problem:
        raise AttemptError(fault_of(problem)) from problem


def fault_of(problem: Exception) -> Fault:
    """Say what a provider's exception means."""
    match problem:
        case ModelHTTPError():
            return _http_fault(problem)
        case ModelRequestTimeout() | ModelTimeoutError() | TimeoutError():
            return Fault("did not answer in time", retryable=True)
        case ModelConnectionError(phase="read") | ModelConnectionError(in_stream=True):
            return CUT_OFF
        case ModelConnectionError():
            return Fault("could not be reached", retryable=True)
        case ModelQuotaExceededError():
            return Fault("says that its quota is used up", retryable=False)
        case ModelRateLimitError():
            return Fault("answered that there are too many requests", retryable=True, retry_after=problem.retry_after)
        case ModelUnavailableError() | ModelServerError():
            return Fault("had an error of its own", retryable=True, retry_after=problem.retry_after)
        case ModelRequestRejectedError():
            return Fault(f"refused the request: {_clipped(problem.message)}", retryable=False)
        case ModelAPIError() | UnexpectedModelBehavior():
            return Fault("sent an answer that could not be read", retryable=True)
        case _:
            return Fault("broke the connection", retryable=True)


def _http_fault(problem: ModelHTTPError) -> Fault:
    """A status decides, unless the service itself says whether to ask again or that its quota is used up."""
    status = problem.status_code
    asked_again = status in _RETRIED or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if problem.provider_retry_hint is not None:
        asked_again = problem.provider_retry_hint
    if isinstance(problem, ModelQuotaExceededError):
        asked_again = False
    return Fault(f"answered {_named(status)}", asked_again, problem.retry_after, status)


def _named(status: int) -> str:
    try:
        return f"{status} ({HTTPStatus(status).phrase.lower()})"
    except ValueError:
        return str(status)


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_DETAIL else f"{line[:_LONGEST_DETAIL]}…"
