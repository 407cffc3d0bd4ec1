"""What is said of calls: read by anyone, edited by administrators in person, in versions (REPLIES, Outcomes)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from ninja import Query, Router
from pydantic import BaseModel, ConfigDict, Field

from agents.clients.rest.asking import Asked, BearerOrSession
from agents.clients.rest.shapes import Shape
from agents.models.replies import Phrasing as Row
from agents.phrasing import (
    UnknownLanguage,
    UnknownOutcome,
    UnknownTool,
    phrasing_restore,
    phrasing_set,
    require_known,
)
from agents.previews import Said, said_now
from permissions.errors import NotFound
from permissions.grants import names_of
from permissions.phrases import told

router = Router(tags=["Outcome phrasings"])

MOST_VERSIONS = 50

Filter = Annotated[str, Query(max_length=100)]
OF = "/outcome-phrasings/{str:tool}/{str:outcome}/{str:language}"


class Phrasing(Shape):
    """What is said of a tool's calls with one outcome in one language, and who says so: ``default``, ``pack`` or
    ``edited``."""

    tool: str
    outcome: str
    language: str
    text: str
    source: str
    version: int | None
    by: str | None
    at: str | None


class Phrasings(Shape):
    """What is said of calls."""

    phrasings: list[Phrasing]


class PhrasingVersions(Shape):
    """What is said of a tool's calls, and what was, the newest first; ``next`` is the version before which there are
    older ones."""

    stands: Phrasing
    versions: list[Phrasing]
    next: int | None


class PhrasingText(BaseModel):
    """A new version of a phrasing; "" gives the word back to the tool's pack."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=500)


class PhrasingRestored(BaseModel):
    """Names a version that is to stand again."""

    model_config = ConfigDict(extra="forbid")

    version: int = Field(ge=1, le=2**31 - 1)


@router.get("/outcome-phrasings", response=Phrasings, auth=BearerOrSession())
def phrasings(request: Asked, *, tool: Filter = "", outcome: Filter = "", language: Filter = "") -> dict[str, Any]:
    """List what is said of every tool's calls at present, of one tool, one outcome or one language where asked."""
    wanted = {"tool": tool, "outcome": outcome, "language": language}
    found = [said for said in said_now() if _fits(said, wanted)]
    names = names_of(*(said.by for said in found if said.by))
    return {"phrasings": [_said(said, names) for said in found]}


@router.get(OF, response=PhrasingVersions, auth=BearerOrSession(), url_name="phrasing")
def phrasing(
    request: Asked,
    tool: str,
    outcome: str,
    language: str,
    *,
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> dict[str, Any]:
    """Show what is said of a tool's calls with one outcome in one language, and what was, the newest first."""
    return _shown(tool, outcome, language, before=before)


@router.put(OF, response=PhrasingVersions, auth=BearerOrSession(), url_name="phrasing")
def phrasing_put(request: Asked, tool: str, outcome: str, language: str, body: PhrasingText) -> dict[str, Any]:
    """Set what is said, as a new version; only an administrator may, signed in and in person."""
    phrasing_set(actor=request.auth.actor, tool=tool, outcome=outcome, language=language, text=body.text)
    return _shown(tool, outcome, language)


@router.post(f"{OF}/restore", response=PhrasingVersions, auth=BearerOrSession(), url_name="phrasing_restored")
def phrasing_restored(request: Asked, tool: str, outcome: str, language: str, body: PhrasingRestored) -> dict[str, Any]:
    """Let an earlier version stand again, as a new one; only an administrator may, signed in and in person."""
    _known(tool, outcome, language)
    earlier = Row.objects.filter(tool=tool, outcome=outcome, language=language, version=body.version)
    phrasing_restore(actor=request.auth.actor, phrasing=earlier.values_list("pk", flat=True).first() or UUID(int=0))
    return _shown(tool, outcome, language)


def _fits(said: Said, wanted: Mapping[str, str]) -> bool:
    return all(getattr(said, name) == value for name, value in wanted.items() if value)


def _known(tool: str, outcome: str, language: str) -> None:
    try:
        require_known(tool, outcome, language)
    except (UnknownTool, UnknownOutcome, UnknownLanguage) as unknown:
        raise NotFound(unknown.because) from unknown


def _shown(tool: str, outcome: str, language: str, *, before: int | None = None) -> dict[str, Any]:
    _known(tool, outcome, language)
    of = {"tool": tool, "outcome": outcome, "language": language}
    versions = Row.objects.filter(**of).order_by("-version")
    newest = versions.values_list("version", flat=True).first()
    rows = list((versions if before is None else versions.filter(version__lt=before))[: MOST_VERSIONS + 1])
    shown = rows[:MOST_VERSIONS]
    stands = next(said for said in said_now() if (said.tool, said.outcome, said.language) == (tool, outcome, language))
    names = names_of(*(row.by for row in shown), *([stands.by] if stands.by else []))
    return {
        "stands": {**_said(stands, names), "version": newest},
        "versions": [
            {**of, "text": row.text, "source": "edited", "version": row.version, **_edited(row.by, row.at, names)}
            for row in shown
        ],
        "next": shown[-1].version if len(rows) > MOST_VERSIONS else None,
    }


def _said(said: Said, names: Mapping[UUID, str]) -> dict[str, Any]:
    return {
        "tool": said.tool,
        "outcome": said.outcome,
        "language": said.language,
        "text": said.text,
        "source": said.source,
        "version": None,
        **_edited(said.by, said.at, names),
    }


def _edited(by: Any, at: Any, names: Mapping[UUID, str]) -> dict[str, Any]:
    return {"by": told(by, names) if by else None, "at": at.isoformat() if at else None}
