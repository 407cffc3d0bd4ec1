"""Whatever text and whatever arguments a command is sent with: refused with a reason, nothing stored (FAILURES O1)."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from collab import commands
from collab.errors import Invalid, Reused
from collab.models.threads import Message
from tests.integration.test_routes import COMMANDS, args_of
from tests.support import cast
from tests.support.scene import Scene, scene
from tests.support.world import world


@pytest.fixture
def played(studio: cast.Studio) -> Scene:
    return scene(studio)


LINES = ("thread_create.title", "thread_rename.title", "document_create.title", "proposal_accept.title")
TEXTS = ("message_post.text", "question_answer.answer", "timer_set.text")
RATIONALES = tuple(
    f"{name}.rationale" for name in ("document_create", "document_save", "document_archive", "document_restore_version")
)
MAY_BE_BLANK = (
    *RATIONALES,
    "action_decline.reason",
    "thread_create.text",
    "timer_set.subject",
    "delegation_give.reason",
    "document_create.text",
    "document_save.text",
    "proposal_accept.text",
    "proposal_reject.reason",
)
ONE_OF_SEVERAL = (
    "delegation_give.level", "document_create.kind", "document_policy_set.policy", "thread_answers_set.answers",
    "thread_mode_set.mode", "timer_set.at", "timer_set.zone",
)  # fmt: skip
UNSTORABLE = {"NUL": "a\0b", "half a pair": "a\ud800b", "the other half": "\udfff"}
BLANK = {"empty": "", "spaces": " \n\t ", "zero width": "\u200b\u2060\ufeff", "variation": "\ufe0f\u3164"}
TOO_LONG = {
    "message_post.text": "ü" * 16_385,
    "question_answer.answer": "x" * 8_193,
    "action_decline.reason": "x" * 4_097,
    "timer_set.text": "x" * 16_385,
    "timer_set.subject": "x" * 1_001,
    "thread_create.title": "x" * 201,
    "thread_create.text": "ü" * 16_385,
    "thread_rename.title": "x" * 201,
    "document_create.title": "x" * 201,
    "proposal_accept.title": "x" * 201,
    "proposal_accept.text": "x" * 262_145,
    **dict.fromkeys(RATIONALES, "x" * 4_097),
    "document_create.text": "x" * 262_145,
    "document_save.text": "x" * 262_145,
    "proposal_reject.reason": "x" * 4_097,
    "delegation_give.reason": "x" * 2_001,
}
REFUSED = (
    [(place, text) for place in (*LINES, *TEXTS, *MAY_BE_BLANK, *ONE_OF_SEVERAL) for text in UNSTORABLE.values()]
    + [(place, text) for place in (*LINES, *TEXTS, *ONE_OF_SEVERAL) for text in BLANK.values()]
    + [(place, text) for place in ONE_OF_SEVERAL for text in ("nonsense", "x" * 300_000)]
    + list(TOO_LONG.items())
)
ODD = ("\x07\x1b[2J\x9b", "\U0001f600\u0301", "\u202eevil", "\r\n\r", "\uffff", "\U0001d54f")


def asked(played: Scene, place: str, text: object) -> tuple[str, dict[str, Any]]:
    """Return a command that would be carried out, but for this text in the place of one argument."""
    name, _, field = place.partition(".")
    sent = next(sent for sent in COMMANDS if sent.name == name)
    return name, {**args_of(sent, played.ids), field: text}


def test_every_text_that_a_command_takes_is_held_against_bad_text() -> None:
    fields = {
        f"{name}.{field}"
        for name, handler in commands.HANDLERS.items()
        for field, info in handler.args.model_fields.items()
        if info.annotation in {str, str | None}
    }
    assert fields == {*LINES, *TEXTS, *MAY_BE_BLANK, *ONE_OF_SEVERAL}


def test_text_that_no_database_keeps_is_blank_or_too_long_is_refused_and_stores_nothing(played: Scene) -> None:
    before = world()
    for place, text in REFUSED:
        name, args = asked(played, place, text)
        assert _is_invalid(played, name, args), f"{place}: {text[:20]!r} of {len(text)}"
    assert world() == before


def _is_invalid(played: Scene, name: str, args: dict[str, Any]) -> bool:
    try:
        with transaction.atomic():
            commands.run(played.studio.ana.actor, name, "mine", args)
    except Invalid as refused:
        return bool(refused.because)
    return False


@pytest.mark.parametrize("text", ODD)
def test_any_other_text_is_taken_and_read_back_as_it_was_cleaned(played: Scene, text: str) -> None:
    result = commands.run(played.studio.ana.actor, *_post(played, f"Well: {text}"))
    stored = Message.objects.get(pk=result["message"]).content
    assert stored.startswith("Well: ")
    assert not set(stored) & {"\0", "\r", "\x07", "\x1b", "\x9b"}
    browser = Client()
    browser.force_login(played.studio.ana.user)
    assert browser.get(f"/t/{played.ids['thread']}/").status_code == 200
    assert browser.get(f"/t/{played.ids['thread']}/timeline/").status_code == 200


def _post(played: Scene, text: str) -> tuple[str, str, dict[str, Any]]:
    name, args = asked(played, "message_post.text", text)
    return name, "mine", args


@pytest.mark.parametrize("field", ["author", "user_id", "author_key", "on_behalf_of", "turn", "client_id", "seq"])
def test_who_wrote_a_message_is_never_an_argument(played: Scene, field: str) -> None:
    name, id, args = _post(played, "Hello.")
    before = world()
    with transaction.atomic(), pytest.raises(Invalid, match="Extra inputs are not permitted"):
        commands.run(played.studio.ben.actor, name, id, {**args, field: str(played.studio.ana.id)})
    assert world() == before


@pytest.mark.parametrize("id", ["", " ", "a b", "x" * 101, "é", "a\0", "a\n", "../x"])
def test_a_commands_id_is_plain(played: Scene, id: str) -> None:
    name, _, args = _post(played, "Hello.")
    with pytest.raises(Invalid):
        commands.run(played.studio.ana.actor, name, id, args)


def test_an_id_used_again_for_something_else_is_refused_whatever_it_is(played: Scene) -> None:
    name, id, args = _post(played, "Hello.")
    first = commands.run(played.studio.ana.actor, name, id, args)
    after = world()
    for other in [sent for sent in COMMANDS if commands.HANDLERS[sent.name].stored]:
        body = args_of(other, played.ids)
        other_text = dict.fromkeys({"text"} & body.keys(), "Bye.")
        assert (other.name, {**body, **other_text}) != (name, args)
        with transaction.atomic(), pytest.raises(Reused):
            commands.run(played.studio.ana.actor, other.name, id, {**body, **other_text})
    assert commands.run(played.studio.ana.actor, name, id, args) == first
    assert world() == after
