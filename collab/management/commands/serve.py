"""``manage.py serve``: one web process, which says when it listens and starts what runs beside the pages."""

from __future__ import annotations

import logging
from argparse import ArgumentParser
from typing import Any

from daphne.endpoints import build_endpoint_description_strings
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.module_loading import import_string

from collab.processes import require_runners
from collab.web.server import WebServer


class Command(BaseCommand):
    """Serve Accord from one process."""

    help = "Serve Accord, and print the address once it really listens."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="the port to listen on; 0 takes a free one (8000)")
        parser.add_argument("--web-only", action="store_true", help="leave turns to `manage.py runner`")

    def handle(self, *_: Any, host: str, port: int, web_only: bool, **options: Any) -> None:
        """Serve until SIGTERM or SIGINT, then let what runs come to a boundary and end.

        Raises:
            CommandError: the address is taken, what should run beside the pages did not start, or turns are left to
                runners that these settings do not allow.
        """
        if web_only:
            require_runners("manage.py serve --web-only")
        logging.getLogger("daphne").setLevel(logging.WARNING)
        server = WebServer(
            application=import_string(settings.ASGI_APPLICATION),
            endpoints=build_endpoint_description_strings(host=host, port=port),
            starts=[] if web_only else [import_string(path) for path in settings.ACCORD_SERVE_STARTS],
            announce=self._announce,
        )
        server.run()
        if server.failure:
            raise CommandError(server.failure)

    def _announce(self, address: str) -> None:
        self.stdout.write(f"Accord listens on {address}")
        self.stdout.flush()
