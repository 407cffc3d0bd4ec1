"""What collab refuses, each with a stable code (STYLE, habits)."""

from __future__ import annotations

from pydantic import ValidationError


class CollabError(Exception):
    """Something could not be done."""

    code = "failed"

    def __init__(self, because: str = "") -> None:
        self.because = because or (self.__doc__ or "").strip()
        super().__init__(self.because)


class Invalid(CollabError):
    """What was sent is not valid."""

    code = "invalid"


class Conflict(CollabError):
    """It changed since you read it; read it again."""

    code = "conflict"


class Gone(CollabError):
    """It was already settled."""

    code = "already_settled"


class Reused(CollabError):
    """This command id was used for something else."""

    code = "command_id_reused"


class Busy(CollabError):
    """Too much at once; try again shortly."""

    code = "busy"

    def __init__(self, because: str = "", *, retry_after: float = 1.0) -> None:
        super().__init__(because)
        self.retry_after = retry_after


def first_fault(error: ValidationError) -> str:
    """Return the first thing wrong with what was given, and where, as one short line that repeats nothing of it."""
    fault = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in fault["loc"])
    reason = fault["msg"].removeprefix("Value error, ")
    return f"{place}: {reason}" if place else reason
