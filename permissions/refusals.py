"""Forms that ask for what their sender may not do are logged: who sent one, where to, and what it named."""

from __future__ import annotations

from collections.abc import Iterable

import structlog
from django.http import HttpRequest

from permissions.errors import PermissionsError

log = structlog.get_logger(__name__)

LONGEST_NOTED = 100
"""Characters logged of each field."""


def refused_form_noted(request: HttpRequest, error: Exception, fields: Iterable[str]) -> None:
    """Log a form that was refused for want of a right; anything else its sender got wrong is theirs alone.

    Args:
        error: why it was refused.
        fields: what to log of it, where it has it.
    """
    if request.method == "POST" and isinstance(error, PermissionsError):
        named = {name: value[:LONGEST_NOTED] for name in fields if (value := request.POST.get(name))}
        log.warning("form_refused", person=str(request.user.pk), path=request.path, code=error.code, **named)
