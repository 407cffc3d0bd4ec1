"""Every invented sentence held to every outcome stands or is replaced as the table of outcomes says (REPLIES)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from agents.replies.check import check
from agents.replies.mending import Setting
from agents.replies.outcomes import allows
from agents.replies.record import OUTCOMES, CallRecord, Record
from agents.replies.words import compile_words, tool_words

TABLE = yaml.safe_load((Path(__file__).parent / "replies_table.yaml").read_text("utf-8"))
ACTS = ("done", "not_done", "promise", "passive", "question", "not_yet_known", "mention")


def sentences() -> Iterator[tuple[str, str, dict[str, object], str]]:
    """Yield each sentence of the table with its tool, arguments and what it says."""
    for entry in TABLE:
        for act in ACTS:
            for sentence in entry.get(act, ()):
                yield entry["tool"], act, entry["args"], sentence


CASES = [pytest.param(*case, id=f"{case[0]}: {case[3]}") for case in sentences()]


def test_the_table_holds_enough_to_mean_something() -> None:
    assert len(CASES) >= 200
    assert {case.values[1] for case in CASES} == set(ACTS)


@pytest.mark.parametrize(("tool", "act", "args", "sentence"), CASES)
def test_a_sentence_stands_where_the_outcome_allows_it_and_nowhere_else(
    tool: str, act: str, args: dict[str, object], sentence: str
) -> None:
    setting = Setting(compile_words([tool_words(tool, args)]))
    wrong = {}
    for outcome in OUTCOMES:
        checked = check(sentence, Record((CallRecord(tool, args, outcome),)), setting)
        replaced = any(ruling.action == "replaced" for ruling in checked.rulings)
        allowed = allows(outcome, "promise" if act == "passive" else act, is_passive=act == "passive")
        if replaced == allowed:
            wrong[outcome] = checked.text
    assert not wrong
