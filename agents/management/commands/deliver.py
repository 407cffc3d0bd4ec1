"""``manage.py deliver``: signs a file as a source would and sends it, for people trying a source."""

from __future__ import annotations

import logging
import sys
import time
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
from django.core.management.base import BaseCommand, CommandError

from agents.models.sources import Source
from agents.sources.schemes import SCHEMES
from permissions.ids import new_id


class Command(BaseCommand):
    """Sign a file as a source does, send it to a running server, and print the answer."""

    help = "Sign a file as a source does, send it to a running server, and print the answer."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", help="the source's name, as in /hooks/NAME/")
        parser.add_argument("file", help="the body; - reads standard input")
        parser.add_argument("--id", default="", help="its id; the same id is the same delivery (a new one)")
        parser.add_argument("--at", default="", help="when it was signed: ISO 8601 or seconds since 1970 (this moment)")
        parser.add_argument("--url", default="http://127.0.0.1:8000", help="the server (http://127.0.0.1:8000)")
        parser.add_argument("--secret", default="", help="another secret than the source's, to see one refused")

    def handle(self, *_: Any, source: str, file: str, id: str, at: str, url: str, secret: str, **options: Any) -> None:
        """Send it once.

        Raises:
            CommandError: there is no such source or file, the moment or the secret cannot be read, or no server
                answers; also when the server refuses it.
        """
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        found = Source.objects.filter(name=source).first()
        if found is None:
            names = ", ".join(Source.objects.order_by("name").values_list("name", flat=True)) or "none"
            raise CommandError(f"there is no source {source!r}; there are: {names}")
        body, moment = _body(file), _moment(at)
        try:
            headers = SCHEMES[found.scheme].sign(
                body, event_id=id or f"msg_{new_id().hex}", sent_at=moment, secret=secret or found.secret
            )
        except ValueError as wrong:
            raise CommandError(f"it cannot be signed: {wrong}") from wrong
        answer = _sent(f"{url.rstrip('/')}/hooks/{found.name}/", body, dict(headers))
        self.stdout.write(f"{answer.status_code} {answer.reason_phrase}\n{answer.text}")
        if answer.status_code >= 300:
            raise CommandError(f"the server refused it with {answer.status_code}")


def _body(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}") from error


def _moment(at: str) -> datetime:
    try:
        if not at:
            return datetime.fromtimestamp(time.time(), UTC)
        if at.isdigit():
            return datetime.fromtimestamp(int(at), UTC)
        moment = datetime.fromisoformat(at)
    except (ValueError, OverflowError, OSError) as error:
        raise CommandError(f"{at!r} is no moment: write 2026-06-12T18:30:00+00:00 or seconds since 1970") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _sent(address: str, body: bytes, headers: dict[str, str]) -> httpx2.Response:
    try:
        return httpx2.post(address, content=body, headers={"Content-Type": "application/json", **headers}, timeout=30)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise CommandError(
            f"{address} does not answer ({error or type(error).__name__}): start the server, or name yours with --url"
        ) from error
