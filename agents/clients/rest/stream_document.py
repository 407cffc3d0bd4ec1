"""What the OpenAPI document says of the stream, which is answered beside Django."""

from __future__ import annotations

from typing import Any

from agents.clients.rest.problems import MEDIA_TYPE

_SAID = """The log of a thread as server-sent events, for those who cannot use sockets. Each has an `id`, a cursor; sent
again as `Last-Event-ID` the stream goes on behind it. Without a cursor it begins with what comes next. The events are
`ready`, `event` (an entry of the log), `caught_up` (with all that stands open), `live` (text of the running turn),
`document_changed` and `end` (the client may not follow it any more, with the reason). A stream ends after 15 minutes or
2 MiB and is then resumed. A client may have 5 at once and begin 30 a minute."""

_CURSOR = {"type": "string", "maxLength": 200}
_REFUSED = {
    "description": "Refused, with the reason.",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}

PATHS: dict[str, Any] = {
    "/api/v1/stream/{thread}": {
        "get": {
            "operationId": "stream",
            "summary": "Follow a thread",
            "description": _SAID,
            "tags": ["Threads"],
            "security": [{"BearerAuth": []}],
            "parameters": [
                {"in": "path", "name": "thread", "required": True, "schema": {"type": "string", "format": "uuid"}},
                {"in": "header", "name": "Last-Event-ID", "required": False, "schema": _CURSOR},
                {"in": "query", "name": "after", "required": False, "schema": _CURSOR},
            ],
            "responses": {
                "200": {
                    "description": "The stream",
                    "content": {"text/event-stream": {"schema": {"type": "string"}}},
                },
                "default": _REFUSED,
            },
        }
    }
}
