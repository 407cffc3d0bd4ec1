"""Asking a service over HTTP costs the event loop no more than it must (agents/tools/http.py)."""

from __future__ import annotations

from typing import Any

import httpcore2
import pytest
from django.test import override_settings

from agents.tools import http
from agents.tools.contract import NotDone

NOBODY = "http://127.0.0.1:1"


async def test_whose_certificates_are_believed_is_read_once_however_often_a_service_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, makes = [], httpcore2.default_ssl_context

    def counted(*args: Any, **named: Any) -> Any:
        read.append(args)
        return makes(*args, **named)

    monkeypatch.setattr(httpcore2, "default_ssl_context", counted)
    http._authorities.cache_clear()
    with override_settings(ACCORD_WORLD_URL=NOBODY):
        for _ in range(3):
            with pytest.raises(NotDone, match="cannot be reached"):
                await http.Service("The shop", "nothing was refunded").asked("GET", "/orders/4412")
    assert len(read) == 1
