"""Editing what is said of calls: in versions, so that who said what when stays known (REPLIES, Outcomes)."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from django.db import IntegrityError, transaction

from agents.models.replies import Phrasing
from agents.replies.phrasings import LANGUAGES, BadPhrasing, phrasing_checked
from agents.replies.record import OUTCOMES
from agents.services import require_administrator
from agents.tools.registry import SETTING, TOOLS
from collab.errors import Busy, Invalid
from collab.text import BadText, clean_line
from permissions.actors import Actor
from permissions.errors import NotFound

LONGEST = 500
"""Characters of a phrasing."""

TRIES = 20
"""How often a version is numbered anew because someone else took its number."""


class UnknownTool(Invalid):
    """No tool is called that."""

    code = "unknown_tool"


class UnknownOutcome(Invalid):
    """No outcome is called that."""

    code = "unknown_outcome"


class UnknownLanguage(Invalid):
    """Replies are not phrased in this language."""

    code = "unknown_language"


class PhrasingRefused(Invalid):
    """This text cannot be a phrasing."""

    code = "phrasing_refused"


def phrasing_set(*, actor: Actor, tool: str, outcome: str, language: str, text: str) -> Phrasing | None:
    """Set what is said of a tool's calls with one outcome in one language, as a new version.

    A text that stands already changes nothing. Whoever saves at the same moment gets the version after or before.

    Args:
        text: "" gives the word back to the tool's pack.

    Returns:
        The version that stands; None when nobody ever edited this one and the word was given back.

    Raises:
        Refused: the actor is neither the system nor a superuser in person.
        UnknownTool, UnknownOutcome, UnknownLanguage: there is none of that name.
        PhrasingRefused: a placeholder does not exist, or the text is too long or holds what no database keeps.
        Busy: others took each number this version was to have.
    """
    require_administrator(actor, "Only an administrator may edit phrasings.")
    cleaned = text_checked(tool, outcome, language, text)
    for _ in range(TRIES):
        with suppress(IntegrityError), transaction.atomic():
            return _appended(actor, {"tool": tool, "outcome": outcome, "language": language}, cleaned)
    raise Busy


def phrasing_restore(*, actor: Actor, phrasing: UUID) -> Phrasing | None:
    """Set the text of an earlier version again, as a new version; see :func:`phrasing_set`.

    Raises:
        NotFound: there is no such version.
        Refused, Invalid, Busy: as for :func:`phrasing_set`.
    """
    require_administrator(actor, "Only an administrator may edit phrasings.")
    old = Phrasing.objects.filter(pk=phrasing).first()
    if old is None:
        raise NotFound
    return phrasing_set(actor=actor, tool=old.tool, outcome=old.outcome, language=old.language, text=old.text)


def text_checked(tool: str, outcome: str, language: str, text: str) -> str:
    """Return a text as it would be kept of a tool's calls with one outcome; "" stays "".

    Raises:
        Invalid: as for :func:`phrasing_set`.
    """
    require_known(tool, outcome, language)
    try:
        cleaned = clean_line(text, name="the phrasing", limit_chars=LONGEST, allow_blank=True)
        return phrasing_checked(cleaned, arguments_of(tool)) if cleaned else ""
    except (BadText, BadPhrasing) as bad:
        raise PhrasingRefused(f"This phrasing cannot be saved: {bad}.") from bad


def require_known(tool: str, outcome: str, language: str) -> None:
    """Check that something can be said of a tool's calls with this outcome in this language.

    Raises:
        UnknownTool, UnknownOutcome, UnknownLanguage: there is none of that name.
    """
    if tool not in SETTING.words.tools:
        raise UnknownTool
    if outcome not in OUTCOMES:
        raise UnknownOutcome
    if language not in LANGUAGES:
        raise UnknownLanguage


def arguments_of(tool: str) -> tuple[str, ...] | None:
    """Return the names of a tool's arguments; None where nothing can be sent to it, so that none are known."""
    found = TOOLS.get(tool)
    return tuple(found.args.model_fields) if found else None


def _appended(actor: Actor, of: dict[str, str], text: str) -> Phrasing | None:
    """Append a version unless its text stands. Two that append at once collide on the version's number."""
    newest = Phrasing.objects.filter(**of).order_by("-version").first()
    if text == (newest.text if newest else ""):
        return newest
    return Phrasing.objects.create(**of, version=newest.version + 1 if newest else 1, text=text, by=actor)
