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


class NoSuchVersion(Invalid):
    """The document has no such version."""

    code = "no_such_version"


class Conflict(CollabError):
    """It changed since you read it; read it again."""

    code = "conflict"


class EditsStale(Conflict):
    """Your text was written on an older version; read it again."""

    code = "edits_stale"


class OutOfScope(Invalid):
    """A change touches its own document and nothing else."""

    code = "out_of_scope"


class NotEditable(Invalid):
    """There is no text to edit in it."""

    code = "not_editable"


class Unchanged(Invalid):
    """Nothing would be different."""

    code = "unchanged"


class TextRefused(Invalid):
    """The text cannot be a document of this kind."""

    code = "text_refused"


class BadMoment(Invalid):
    """This moment cannot be: it has passed, or it is too far away."""

    code = "bad_moment"


class UnknownCommand(Invalid):
    """There is no such command."""

    code = "unknown_command"


class Gone(CollabError):
    """It was already settled."""

    code = "already_settled"


class AlreadyYours(Gone):
    """You settled it already."""

    code = "already_yours"


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
