"""What this app refuses. Every error has a stable ``code``; its docstring is its message. Pure."""

from __future__ import annotations

from typing import ClassVar

from permissions.decisions import Decision


class PermissionsError(Exception):
    """Something about permissions went wrong."""

    code: ClassVar[str] = "permissions"

    def __init__(self, because: str = "") -> None:
        self.because = because or type(self).__doc__ or ""
        super().__init__(self.because)


class NotFound(PermissionsError):
    """There is no such thing, or you may not see it."""

    code = "not_found"


class Refused(PermissionsError):
    """You may not do that."""

    code = "forbidden"

    def __init__(self, because: str = "", decision: Decision | None = None) -> None:
        super().__init__(because)
        self.decision = decision


class OwnProposal(Refused):
    """Nobody resolves their own proposal, in person or through anyone."""

    code = "own_proposal"


class LastOwner(Refused):
    """The last owner stays: make someone else owner first."""

    code = "last_owner"


class MoreThanOwn(Refused):
    """Nobody lets an agent do more than they may do themselves."""

    code = "more_than_own"


class NotForAgents(Refused):
    """Agents and clients never manage."""

    code = "not_for_agents"


class NeverExpires(Refused):
    """Managing is given for good or not at all: whoever held it for a while could keep it."""

    code = "never_expires"


class OverAlready(Refused):
    """The moment until which it should be held has passed."""

    code = "over_already"


class ThroughGroup(Refused):
    """What you hold here you hold through a group: an administrator takes you out of it."""

    code = "through_group"
