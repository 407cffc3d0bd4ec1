"""Arguments that mean nothing, are far out, or are of another kind: refused in a sentence (FAILURES A10, H7)."""

from __future__ import annotations

import pytest
from django.db import transaction
from django.test import Client

from collab import commands
from collab.errors import CollabError
from permissions.errors import PermissionsError
from permissions.models import GrantChange
from tests.integration.test_routes import COMMANDS, args_of
from tests.support.cast import Someone, Studio
from tests.support.scene import scene

RUDE: tuple[object, ...] = (
    *("\0", "\ud800", "x" * 50_000, "9" * 5_000, "<b>x</b>", "=1+1", "\u202e", ""),
    *(10**400, -1, 2**63, 1.5, True, None, [], ["x"], {"a": 1}, float("nan"), float("-inf"), 1e18),
    *("9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "2026-12-01T00:00:00"),
)
LONGEST_SENTENCE = 1_000
"""Characters of a refusal: it names what is wrong, and does not send back what was sent."""


def test_every_argument_of_every_command_is_taken_or_refused_in_a_sentence(studio: Studio) -> None:
    ids = scene(studio).ids
    sent = 0
    for command in COMMANDS:
        for field in commands.HANDLERS[command.name].args.model_fields:
            for value in RUDE:
                sent += 1
                with transaction.atomic():
                    because = refusal(studio.ana, command.name, f"r{sent}", {**args_of(command, ids), field: value})
                    transaction.set_rollback(True)
                assert because is None or 0 < len(because) < LONGEST_SENTENCE, (command.name, field, str(value)[:40])


def refusal(someone: Someone, name: str, id: str, body: dict[str, object]) -> str | None:
    try:
        commands.run(someone.actor, name, id, body)
    except (CollabError, PermissionsError) as error:
        return error.because
    return None


class TestUntil:
    @pytest.fixture
    def browser(self, studio: Studio) -> Client:
        browser = Client()
        browser.force_login(studio.ana.user)
        return browser

    def given(self, studio: Studio, browser: Client, **until: str) -> list[str]:
        """Give Vera a grant until a moment in a form; return when the grants recorded by it end."""
        holder = {"holder": f"account:{studio.vera.id}", "what": "change_document"}
        before = set(GrantChange.objects.values_list("pk", flat=True))
        address = f"/grants/document/{studio.document.id}/"
        assert browser.post(address, {"act": "give", **holder, **until}).status_code == 302
        assert browser.get(address).status_code == 200
        made = GrantChange.objects.exclude(pk__in=before)
        return [f"{row.expires_at:%Y-%m-%d %H:%M}" for row in made if row.expires_at]

    @pytest.mark.parametrize(
        "until", ["9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00+14:00"]
    )
    def test_a_moment_that_no_calendar_holds_in_utc_is_refused(
        self, studio: Studio, browser: Client, until: str
    ) -> None:
        assert self.given(studio, browser, until=until) == []

    def test_a_moment_without_a_zone_is_the_senders(self, studio: Studio, browser: Client) -> None:
        assert self.given(studio, browser, until="2400-01-01T10:00", zone="-120") == ["2400-01-01 08:00"]

    def test_a_moment_that_says_its_zone_is_not_moved_again(self, studio: Studio, browser: Client) -> None:
        assert self.given(studio, browser, until="2400-01-01T10:00+02:00", zone="-120") == ["2400-01-01 08:00"]
