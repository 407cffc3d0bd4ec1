"""What a reply may say of a call that a turn undid (REPLIES, Outcomes)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.replies.check import check
from agents.replies.record import CallRecord, Record
from agents.tools.registry import SETTING

ASKED = {"day": "2026-12-04", "time": "20:30", "party": 4, "name": ""}
CAME = {"reservation": "R1", **ASKED, "state": "booked"}
BOOKED = CallRecord("reserve_table", ASKED, "done", CAME, effect="write", key="T1:1")
ANEW = replace(
    BOOKED, args={**ASKED, "day": "2026-12-05"}, result={**CAME, "reservation": "R2", "day": "2026-12-05"}, key="T2:2"
)
UNDONE, LOST = replace(BOOKED, outcome="undone"), replace(BOOKED, outcome="unknown")
UNDOING = CallRecord(
    "undo_call", {"call": "T1-1", "tool": "reserve_table"}, "done",
    {"undone": "T1-1", "action": "reserve table", "args": ASKED, "result": CAME}, effect="write", key="T2:1",
)  # fmt: skip
TOO_LATE = replace(UNDOING, outcome="failed", result=None, reason="It is too late to cancel")
NOT_KNOWN = replace(UNDOING, outcome="unknown", result=None)
DID, DID_NOT, MAY_HAVE = (
    Record([UNDOING, ANEW], [UNDONE]), Record([TOO_LATE], [BOOKED]), Record([NOT_KNOWN], [LOST]),
)  # fmt: skip
REVERSED = "Reversed: reserve table with day 2026-12-04, time 20:30, party 4."


@pytest.mark.parametrize(
    "says",
    [
        "I've undone the Friday booking and booked Saturday instead: reservation R2.",
        "I've cancelled the table on Friday 4 December and booked one on Saturday 5 December at 20:30.",
        "The Friday booking was reversed. R2 is booked.",
    ],
)
def test_what_was_undone_may_be_called_undone_and_cancelled(says: str):
    assert check(says, DID, SETTING).text == says


@pytest.mark.parametrize("language", ["en", "pt"])
def test_a_reply_that_leaves_it_out_gets_it_in_its_language(language: str):
    came = check(
        {"en": "R2 is booked.", "pt": "A sua reserva foi feita com sucesso, obrigado."}[language], DID, SETTING
    ).text
    assert {"en": REVERSED, "pt": "Desfeito: reserve table com day 2026-12-04, time 20:30, party 4."}[language] in came


@pytest.mark.parametrize(
    ("says", "record", "reads"),
    [
        ("I've undone the booking.", DID_NOT, "I couldn't undo reserve_table (T1-1): It is too late to cancel."),
        ("I've undone the booking.", MAY_HAVE, "Whether reserve_table (T1-1) is undone is still being checked."),
        ("I've undone the booking.", Record([ANEW], [BOOKED]), "Not done: undo call."),
        ("I've cancelled the table.", DID_NOT, "Not done: cancel table."),
        ("I've cancelled the cinema.", DID, "Not done: cancel table."),
    ],
)
def test_what_was_not_undone_is_not_called_so(says: str, record: Record, reads: str):
    assert check(says, record, SETTING).text.startswith(reads)


def test_of_what_is_recorded_of_one_call_the_last_counts():
    record = Record([BOOKED, UNDOING, UNDONE], [LOST])
    assert (record.calls, record.earlier) == ((UNDOING, UNDONE), ())
    assert check("The table is not booked any more.", record, SETTING).text.startswith("The table is not booked")
