"""A tool's words: made from its name, given, or refused; and the forms of verbs (REPLIES, A tool's words)."""

import lemminflect
import pytest

from agents.replies.cases import case_of, checked_case, setting_of
from agents.replies.check import check
from agents.replies.explaining import explained, samples
from agents.replies.inflect import forms, singular
from agents.replies.lexicon import table
from agents.replies.mending import Setting
from agents.replies.record import CallRecord, Record
from agents.replies.words import compile_words, effect_of, name_words, tool_words, verb_of
from tests.support.replies import said, shop

_TAGS = {"past": "VBD", "participle": "VBN", "ing": "VBG", "third": "VBZ"}


@pytest.mark.parametrize(
    "verb", sorted({verb.split()[0] for verb in table("verbs")} | set(table("irregular")["past"]) - {"be"})
)
def test_the_forms_of_a_verb_are_those_a_dictionary_gives(verb: str) -> None:
    for form, tag in _TAGS.items():
        known = {word.removeprefix("un") for word, kind in forms(verb) if kind == form}
        assert known & set(lemminflect.getInflection(verb.removeprefix("un"), tag, inflect_oov=True)), (verb, form)


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("bookings", "booking"),
        ("addresses", "address"),
        ("entries", "entry"),
        ("boxes", "box"),
        ("status", "status"),
        ("news", "news"),
    ],
)
def test_a_noun_meets_its_plural(plural: str, one: str) -> None:
    assert singular(plural) == singular(one) == one


@pytest.mark.parametrize(
    ("name", "verb", "effect"),
    [
        ("refund_card", "refund", "write"),
        ("get_order", "get", "read"),
        ("turn_on_light", "turn on", "write"),
        ("cancelBooking", "cancel", "write"),
        ("calendar.create_event", "create", "write"),
        ("email_send", "send", "write"),
        ("check_in_guest", "check in", "write"),
        ("check_stock", "check", "read"),
        ("searchFlights", "search", "read"),
        ("think", "think", "read"),
        ("update_order", "update", "write"),
        ("order_taxi", "order", "write"),
    ],
)
def test_a_name_tells_its_verb_and_whether_it_changes_anything(name: str, verb: str, effect: str) -> None:
    assert verb_of(name) == verb
    assert effect_of(name) == effect


def test_a_name_is_read_in_any_case() -> None:
    assert name_words("updateUserHTTPAddress_v2") == ["update", "user", "http", "address", "v2"]


def test_what_is_given_stands_in_place_of_what_the_name_makes() -> None:
    tool = tool_words("refund_card", ["order_id"], {"verbs": ["give back"], "strong": "Money", "effect": "write"})
    assert (tool.verbs, tool.strong, tool.weak) == (("give back",), ("money",), ("card", "order"))


def test_a_key_that_tools_words_do_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="no verb"):
        tool_words("refund_card", (), {"verb": ["refund"]})


def test_a_compound_that_is_never_the_action_claims_nothing() -> None:
    given = {"refund_card": {"args": ["order_id"], "never": ["refund voucher"]}}
    case = case_of({"calls": [], "reply": "Your refund voucher has been issued."})
    assert checked_case(case, setting_of([case], given)).rulings == ()
    del given["refund_card"]["never"]
    assert checked_case(case, setting_of([case], given)).rulings


def test_only_writes_are_spoken_of() -> None:
    words = compile_words(
        [tool_words("get_order", ["order_id"]), tool_words("send_note", ["text"], {"effect": "read"})]
    )
    assert not any(use.tools for uses in words.uses.values() for use in uses)
    assert not words.nouns


def test_the_words_of_a_tool_are_shown_with_sample_readings() -> None:
    lines = samples(shop(), "refund_card")
    assert lines[0] == "refund_card (write): refund card"
    assert "  refunded: done, refund_card" in lines
    assert "  refund: not done, refund_card" in lines
    with pytest.raises(ValueError, match="no tool is called refund"):
        samples(shop(), "refund")


def test_a_reading_is_explained_span_by_span() -> None:
    lines = explained(shop(), "refund_card", "Hello.\n- I've cancelled it.")
    assert lines == [
        "sentence: Hello.",
        "item: - I've cancelled it.",
        "  cancelled: done, cancel_order  (not this tool)",
    ]


def test_a_tool_nobody_described_is_said_in_the_words_of_its_name() -> None:
    assert said("I've refunded it.") == "Not done: refund card."


@pytest.mark.parametrize("name", ["", "...", "123", "—", "\u202e"])
def test_a_name_without_letters_compiles_and_breaks_nothing(name: str) -> None:
    setting = Setting(compile_words([tool_words(name, ["..."])]))
    call = CallRecord(name, {"...": "x", "\u202ea": 1}, effect="write")
    assert "\u202e" not in setting.say(call)
    check("I've done it. It was changed.", Record([call]), setting)


def test_a_tool_that_runs_a_test_changes_nothing() -> None:
    assert effect_of("run_line_test") == "read"
    assert effect_of("perform_search") == "read"
    assert effect_of("run_payroll") == "write"
