"""Replies that are true of their calls stand as they were written, whatever the shop (REPLIES, Targets)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agents.replies.cases import case_of, checked_case, setting_of

TRUE = yaml.safe_load((Path(__file__).parent / "replies_true.yaml").read_text("utf-8"))


def replies() -> Iterator[Any]:
    """Yield each reply with the calls it is true of."""
    for entry in TRUE:
        for reply in entry["replies"]:
            yield pytest.param(entry, reply, id=reply[:60])


@pytest.mark.parametrize(("entry", "reply"), list(replies()))
def test_a_true_reply_stands(entry: dict[str, Any], reply: str) -> None:
    case = case_of({"calls": entry["calls"], "earlier": entry.get("earlier", []), "reply": reply})
    checked = checked_case(case, setting_of([case], {name: {"args": args} for name, args in entry["tools"].items()}))
    assert checked.text == reply
    assert checked.rulings == ()
