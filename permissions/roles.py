"""Roles: named bundles of grants on a workspace, no second source of truth (DESIGN 5). Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from types import MappingProxyType

VIEW = "view"
COMMENT = "comment"
START_TURN = "start_turn"
PROPOSE_DOCUMENT = "propose_document"
CHANGE_DOCUMENT = "change_document"
REVIEW_DOCUMENT = "review_document"
MANAGE = "manage"
USE_TOOL = "use_tool"

OBJECT_PERMISSIONS: tuple[tuple[str, str], ...] = (
    (VIEW, "May see it"),
    (COMMENT, "May comment"),
    (START_TURN, "May start turns of the agent"),
    (PROPOSE_DOCUMENT, "May propose changes to documents"),
    (CHANGE_DOCUMENT, "May change documents"),
    (REVIEW_DOCUMENT, "May review proposals"),
    (MANAGE, "May manage members, grants and modes"),
)
"""``Meta.permissions`` of every workspace, thread and document: guardian knows a codename only on the very model
that declares it."""

TOOL_PERMISSIONS: tuple[tuple[str, str], ...] = ((USE_TOOL, "May use the tool"),)
"""``Meta.permissions`` of a tool enabled in a workspace."""


class Role(StrEnum):
    """The roles, lowest first."""

    VIEWER = "viewer"
    COMMENTER = "commenter"
    CONTRIBUTOR = "contributor"
    EDITOR = "editor"
    OWNER = "owner"


_VIEWER = frozenset({VIEW})
_COMMENTER = _VIEWER | {COMMENT}
_CONTRIBUTOR = _COMMENTER | {START_TURN, PROPOSE_DOCUMENT}
_EDITOR = _CONTRIBUTOR | {CHANGE_DOCUMENT, REVIEW_DOCUMENT}
_OWNER = _EDITOR | {MANAGE}

ROLE_GRANTS: Mapping[Role, frozenset[str]] = MappingProxyType(
    {
        Role.VIEWER: _VIEWER,
        Role.COMMENTER: _COMMENTER,
        Role.CONTRIBUTOR: _CONTRIBUTOR,
        Role.EDITOR: _EDITOR,
        Role.OWNER: _OWNER,
    }
)
"""The codenames each role holds on its workspace; the table of DESIGN 5. Tools are granted one by one; whoever
manages a workspace may use each of its tools."""


def role_of(codenames: Collection[str]) -> Role | None:
    """Return the highest role whose grants are all among ``codenames``, or None when not even a viewer's are."""
    held = frozenset(codenames)
    return next((role for role in reversed(Role) if ROLE_GRANTS[role] <= held), None)
