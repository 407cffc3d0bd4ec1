"""Addresses that there are not, which are refused like everything else."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from permissions.errors import NotFound

router = Router()


@router.api_operation(
    ["GET", "POST", "PUT", "PATCH", "DELETE"], "/{path:rest}", include_in_schema=False, url_name="nowhere"
)
def nowhere(request: HttpRequest, rest: str) -> HttpResponse:
    """Answer an address that there is not."""
    raise NotFound
