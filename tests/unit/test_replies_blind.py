"""True replies of many domains, written before the check was run on them, stand as written (REPLIES, Targets)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agents.replies.cases import Case, case_of, checked_case, setting_of
from agents.replies.mutations import detections

FILES = sorted((Path(__file__).parent / "replies_blind").glob("*.yaml"))

# In a hundred, over all domains: what is caught of each change to replies that say much of it in words of their own.
LEAST = {"outcome failed": 97, "outcome refused": 97, "outcome unknown": 97, "outcome pending_confirmation": 94}


def cases_of(path: Path) -> list[Case]:
    """Return the replies of a domain with the calls they are true of."""
    entries = yaml.safe_load(path.read_text("utf-8"))
    return [
        case_of({"calls": entry["calls"], "earlier": entry["earlier"], "reply": reply})
        for entry in entries
        for reply in entry["replies"]
    ]


def replies() -> Iterator[Any]:
    """Yield each domain with the place of each of its replies."""
    for path in FILES:
        for place, case in enumerate(cases_of(path)):
            yield pytest.param(path, place, id=f"{path.stem}: {case.reply[:40]}")


@pytest.mark.parametrize(("path", "place"), tuple(replies()))
def test_a_true_reply_of_a_domain_stands(path: Path, place: int) -> None:
    cases = cases_of(path)
    checked = checked_case(cases[place], setting_of(cases))
    assert checked.text == cases[place].reply
    assert checked.rulings == ()


def test_outcomes_turned_over_are_caught_in_every_domain() -> None:
    tally: dict[str, list[int]] = {}
    for path in FILES:
        cases = cases_of(path)
        for found in detections(cases, setting_of(cases)):
            counts = tally.setdefault(found.kind, [0, 0])
            counts[0] += found.caught
            counts[1] += found.of
    assert tally["outcome failed"][1] > 150
    assert {
        kind: 100 * tally[kind][0] / tally[kind][1]
        for kind, least in LEAST.items()
        if 100 * tally[kind][0] < least * tally[kind][1]
    } == {}


def test_a_label_behind_a_bracket_is_read() -> None:
    call = {"name": "refund_card", "args": {"order_id": "4412"}, "outcome": "failed", "result": None}
    case = case_of({"calls": [call], "earlier": [], "reply": "Refund (that was asked for): done."})
    assert checked_case(case, setting_of([case])).text != case.reply
