"""What agents refuses or gives up on, each with a stable code."""

from __future__ import annotations


class AgentsError(Exception):
    """The agent could not go on."""

    code = "failed"

    def __init__(self, because: str = "") -> None:
        self.because = because or (self.__doc__ or "").strip()
        super().__init__(self.because)


class LeaseLost(AgentsError):
    """Another process took this thread over; this one writes nothing more."""

    code = "lease_lost"


class LimitReached(AgentsError):
    """The turn reached its limit."""

    code = "limit"


class BadToken(AgentsError):
    """This token is not known."""

    code = "bad_token"


class Unauthenticated(AgentsError):
    """Send your token in the header Authorization: Bearer."""

    code = "unauthenticated"

    def __init__(self, because: str = "", *, error: str = "") -> None:
        super().__init__(because)
        self.error = error

    def challenge(self, metadata_url: str = "") -> str:
        """Return the ``WWW-Authenticate`` that goes with the answer 401 (RFC 6750 and 9728).

        Args:
            metadata_url: where a program finds out how people let it in; empty: nowhere.
        """
        said = {"resource_metadata": metadata_url, "error": self.error}
        if self.error:
            said["error_description"] = self.because.replace('"', "'")
        params = ", ".join(f'{name}="{value}"' for name, value in said.items() if value)
        return f"Bearer {params}" if params else "Bearer"
