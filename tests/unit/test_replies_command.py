"""``manage.py replies`` reads cases, checks them and prints what was done (REPLIES, Cases)."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.replies.phrasings import BadPhrasing, defaults, phrasing_checked, phrasings_of
from agents.replies.record import OUTCOMES
from tests.benchmarks.replies import report
from tests.support.replies import refund, said, shop

DONE = {"name": "refund_card", "args": {"order_id": "4412", "amount": 12.5}, "outcome": "done", "result": "ok"}
READ = {"name": "get_order", "args": {"order_id": "4412"}, "outcome": "done", "result": '{"status": "shipped"}'}
ROWS: list[dict[str, Any]] = [
    {"calls": [DONE], "earlier": [READ], "reply": "I've refunded £12.50 for order 4412."},
    {"calls": [READ], "reply": "Order 4412 has been refunded."},
    {"calls": [{**DONE, "outcome": "refused", "reason": "limit"}], "earlier": [], "reply": "Refunded."},
]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """A file with three cases."""
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), "utf-8")
    return path


def run(*arguments: object) -> tuple[list[str], list[str]]:
    """Return the lines that the command writes to its output and to its errors."""
    out, err = StringIO(), StringIO()
    call_command("replies", *map(str, arguments), stdout=out, stderr=err, no_color=True)
    return out.getvalue().splitlines(), err.getvalue().splitlines()


def test_each_row_is_answered_in_order_and_counted(cases: Path) -> None:
    out, err = run("check", cases)
    rows = [json.loads(line) for line in out]
    assert [row["reply"] for row in rows] == [
        ROWS[0]["reply"],
        "Not done: refund card.",
        "That can't be done: refund card: limit.",
    ]
    assert rows[0]["rulings"] == []
    assert rows[1]["rulings"] == [
        {"span": [0, 29], "rule": "not_attempted", "tool": "refund_card", "action": "replaced"}
    ]
    assert [line.split(maxsplit=1) for line in err] == [
        ["3", "replies"],
        ["2", "changed"],
        ["1", "not_attempted refund_card replaced"],
        ["1", "outcome refund_card replaced"],
    ]


@pytest.mark.parametrize(
    "described",
    [
        {"refund_card": {"args": ["order_id", "amount"], "phrasings": {"refused": "No refund{because}."}}},
        [
            {
                "name": "refund_card",
                "parameters": {"properties": {"order_id": {}}},
                "phrasings": {"en": {"refused": "No refund{because}."}},
            }
        ],
        {"tools": {"refund_card": {"phrasings": {"refused": "No refund{because}."}}}},
    ],
)
def test_tools_are_described_in_a_file_of_their_own(cases: Path, tmp_path: Path, described: object) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(described), "utf-8")
    out, _ = run("check", cases, "--tools", tools)
    assert json.loads(out[2])["reply"] == "No refund: limit."


def test_of_changed_cases_it_prints_how_many_are_caught(cases: Path) -> None:
    out, _ = run("check", cases, "--mutate")
    table = {" ".join(line.split()[:-4]): line.split()[-1] for line in out}
    assert table["outcome unknown"] == "100.00%"
    assert table["call dropped"] == "100.00%"
    assert table["amount changed"] == "100.00%"


@pytest.mark.parametrize(
    "row",
    [
        "{",
        "[]",
        '{"calls": []}',
        '{"reply": "x", "calls": [{"name": "a", "outcome": "won"}]}',
        '{"reply": "x", "calls": [{}]}',
    ],
)
def test_a_row_that_is_none_is_named(tmp_path: Path, row: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(f'{{"reply": "Hello."}}\n{row}\n', "utf-8")
    with pytest.raises(CommandError, match="line 2"):
        run("check", path)


def test_words_and_explanations_are_printed() -> None:
    assert run("words", "refund_card", "--argument", "order_id")[0][0] == "refund_card (write): refund card"
    assert run("explain", "refund_card", "I've refunded it.")[0] == [
        "sentence: I've refunded it.",
        "  refunded: done, refund_card",
    ]


def test_a_report_holds_its_tables(cases: Path) -> None:
    text = report(cases)
    assert "| all | 2 | 3 | 66.67% |" in text
    assert "| outcome failed | 1 | 1 | 100.0% |" in text
    assert "median" in text


@pytest.mark.parametrize("language", ["en", "pt"])
def test_every_outcome_has_a_default_phrasing(language: str) -> None:
    assert set(defaults(language)) == {*OUTCOMES, "with"}
    assert all(phrasing_checked(defaults(language)[outcome]) for outcome in OUTCOMES)


@pytest.mark.parametrize(
    "text",
    [
        "Done {actoin}.",
        "Done {argument}.",
        "{argument.colour}",
        "{result.}",
        "{",
        "}",
        "{{action}}",
        "",
        " ",
        "{reason!r}",
    ],
)
def test_a_phrasing_with_a_placeholder_that_does_not_exist_is_an_error(text: str) -> None:
    with pytest.raises(BadPhrasing):
        phrasings_of({"refund_card": {"done": text}}, {"refund_card": ["order_id", "amount"]})


def test_an_outcome_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(BadPhrasing, match="no outcome is called won"):
        phrasings_of({"refund_card": {"won": "Yes."}})


@pytest.mark.parametrize(
    ("outcome", "read"),
    [
        ("done", "Done: refund card with order id 4412, amount 12.5."),
        ("failed", "Not done: refund card: no funds."),
        ("refused", "That can't be done: refund card: no funds."),
        ("pending_confirmation", "Once you confirm, I will refund card with order id 4412, amount 12.5."),
        (
            "unknown",
            "Whether refund card went through is still being checked; I'll confirm before doing anything else.",
        ),
        ("undone", "Reversed: refund card with order id 4412, amount 12.5."),
        ("not_attempted", "Not done: refund card."),
    ],
)
def test_each_outcome_is_said_in_its_default_words(outcome: Any, read: str) -> None:
    assert said("", refund(outcome, reason="no funds"), setting=shop(own_phrasings=False)) == read
