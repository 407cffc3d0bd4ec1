"""The values of a text, as it is read: folded, found, and compared with those of calls (REPLIES 1 and 7)."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.replies.evidence import evidence_of, shape
from agents.replies.figures import differences_of, totals_of
from agents.replies.folding import fold
from agents.replies.values import number, values_in


def found(text: str) -> list[tuple[str, Any]]:
    """Return the kinds and keys of the values in a text."""
    folded = fold(text)
    return [(value.kind, value.key) for value in values_in(folded.text, folded.cased) if value.unit != "url"]


@pytest.mark.parametrize(
    ("text", "key", "unit"),
    [
        ("£12.50", "12.5", "GBP"), ("12.50 pounds", "12.5", "GBP"), ("1.234,56 €", "1234.56", "EUR"),
        ("$1,234", "1234", "USD"),
        ("USD 20", "20", "USD"), ("fifteen pounds", "15", "GBP"), ("12 pounds 50", "12.5", "GBP"),
        ("€5k", "5000", "EUR"),
        ("a hundred and five dollars", "105", "USD"), ("two thousand euros", "2000", "EUR"),
        ("1 234,50 €", "1234.5", "EUR"),
        ("R$ 10,00", "10", "BRL"), ("¥500", "500", "JPY"), ("12.50", "12.5", ""),
    ],
)  # fmt: skip
def test_an_amount_is_read_with_its_currency(text: str, key: str, unit: str) -> None:
    folded = fold(f"It is {text} now")
    (value,) = values_in(folded.text, folded.cased)
    assert (value.kind, value.key, value.unit) == ("amount", Decimal(key), unit)


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("2024-05-01T08:00", [(2024, 5, 1)]), ("May 20, 2024", [(2024, 5, 20)]), ("20th of May", [(None, 5, 20)]),
        ("Sept 3", [(None, 9, 3)]), ("03/04/2025", [(2025, 3, 4), (2025, 4, 3)]), ("25/12/24", [(2024, 12, 25)]),
        ("1.2.2025", [(2025, 1, 2), (2025, 2, 1)]),
    ],
)  # fmt: skip
def test_a_date_is_read_in_any_notation(text: str, dates: list[Any]) -> None:
    assert found(text) == [("date", tuple(dates))]


@pytest.mark.parametrize(
    "text",
    [
        "You may 20 times",
        "within 5 to 7 business days",
        "in 24/7 service",
        "at 14:00",
        "99% sure",
        "step 3 of 4",
        "see http://a.b/4412",
    ],
)
def test_what_looks_like_a_value_and_is_none_is_not_read(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        ("order 4412", "identifier", "4412"), ("#W2378156", "identifier", "w2378156"),
        ("card ending in 7447", "suffix", "7447"),
        ("reservation ID is **HATHAT**", "identifier", "hathat"), ("flight HAT136", "identifier", "hat136"),
        ("a.b@c.org", "email", "a.b@c.org"), ("credit_card_4421486", "identifier", "credit_card_4421486"),
        ("B\u200bK-7\u200b781", "identifier", "bk-7781"), ("ＢＫ－7781", "identifier", "bk-7781"),
    ],
)  # fmt: skip
def test_an_identifier_is_read_folded(text: str, kind: str, key: str) -> None:
    assert found(text) == [(kind, key)]


@given(st.text(max_size=60))
def test_a_folded_character_knows_where_it_stood(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.cased)
    places = [folded.at(index) for index in range(len(folded.text) + (folded.starts is not None))]
    assert places == sorted(places)
    assert all(0 <= place <= len(text) for place in places)


@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_a_number_is_read_in_the_notations_of_both_worlds(amount: Decimal) -> None:
    english = f"{amount:,.2f}"
    assert number(english) == amount
    assert number(english.translate(str.maketrans(",.", ".,"))) == amount


def test_evidence_is_what_was_sent_and_returned() -> None:
    found = evidence_of(
        {"order_id": "4412", "price_eur": 12.5},
        {
            "currency": "GBP",
            "total": 30,
            "amount_cents": 1250,
            "note": "please pay me back 99.00 pounds today",
            "last_four": "0447",
        },
    )
    assert found.has_amount(Decimal("12.5"), "EUR")
    assert found.has_amount(Decimal(30), "GBP")
    assert not found.has_amount(Decimal(30), "USD")
    assert not found.has_amount(Decimal(99), "")
    assert found.has_suffix("0447")
    assert found.has_identifier("4412")


@pytest.mark.parametrize(
    "result", [[[]] * 50, {"a": {"b": None}}, float("inf"), "x" * 50_000, "[" * 5_000, {"": True}, 10**40]
)
def test_any_result_is_read(result: Any) -> None:
    assert evidence_of({}, result).emails == frozenset()


@pytest.mark.parametrize(
    ("id", "looks"), [("hat136", "aaa000"), ("4412", "0000"), ("59xx6w", "xxxxxx"), ("bk-7781", "aa-0000")]
)
def test_identifiers_that_look_alike_have_one_shape(id: str, looks: str) -> None:
    assert shape(id) == looks


def test_totals_and_differences_are_made_of_amounts() -> None:
    amounts = [Decimal(30), Decimal(12), Decimal(8)]
    assert {Decimal(42), Decimal(50), Decimal(60)} <= totals_of(amounts)
    assert {Decimal(18), Decimal(4)} <= differences_of(amounts)
    assert Decimal(13) not in totals_of(amounts) | differences_of(amounts)
