"""What a compromised model may call: every tool, every id there is, honest arguments mixed with wrong ones.

It knows more than any model learns (FAILURES 5.1).
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from agents.tools.registry import TOOLS
from collab.models.documents import Document
from tests.support.world import world

NAMES = st.one_of(
    st.sampled_from([*TOOLS, *TOOLS]),
    st.sampled_from(["proposal_accept", "grant_give", "propose_change", "member_add", "sql", ""]),
    st.text(max_size=20),
)
SHORT = st.text(max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | SHORT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SHORT, inner, max_size=3),
    max_leaves=6,
)
PASSAGES = st.sampled_from(["900", "Dinner", "# Launch plan", "12", "\n", "not there"]) | SHORT
PATHS = st.sampled_from(["", "/text", "/items", "/items/0", "/items/-", "/items/0/text", "/~2", "/workspace", "x"])
EDITS = st.one_of(
    st.fixed_dictionaries({"find": PASSAGES, "replace": SHORT}),
    st.fixed_dictionaries({"after": PASSAGES, "insert": SHORT}),
    st.fixed_dictionaries({"append": SHORT}),
    st.fixed_dictionaries({"check": st.sampled_from(["Mara", "Ida"]) | SHORT}),
    st.fixed_dictionaries({"add_item": SHORT}),
    st.fixed_dictionaries({"remove_item": st.sampled_from(["Mara", "Ida"])}),
    st.fixed_dictionaries({"rename_item": st.sampled_from(["Mara", "Ida"]), "to": SHORT}),
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]), "path": PATHS},
        optional={"from": PATHS, "value": JSON},
    ),
    JSON,
)


def arguments(ids: list[str]) -> st.SearchStrategy[Any]:
    """Return arguments for any tool, about any of these ids."""
    reference = st.sampled_from([*ids, "Launch plan", "Guest list", "Secret", "launch PLAN "]) | SHORT
    named = st.fixed_dictionaries(
        {},
        optional={
            "document": reference,
            "edits": st.lists(EDITS, max_size=3),
            "version": st.integers(-1, 4) | JSON,
            "title": SHORT,
            "text": SHORT,
            "kind": st.sampled_from(["markdown", "checklist", "sheet"]),
            "rationale": SHORT,
            "question": SHORT,
            "choices": st.lists(SHORT, max_size=3),
            "on_behalf_of": reference,
            "thread": reference,
        },
    )
    fitting = st.one_of(
        st.fixed_dictionaries({"document": reference, "edits": st.lists(EDITS, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"document": reference}),
        st.fixed_dictionaries({"title": SHORT, "text": SHORT}),
    )
    return st.one_of(fitting, fitting, named, JSON).map(json.dumps) | SHORT


OUTWARD = st.one_of(
    st.tuples(
        st.just("reserve_table"),
        st.fixed_dictionaries(
            {
                "day": st.sampled_from(["2027-06-04", "2027-06-05", "2027-02-30"]),
                "time": st.sampled_from(["20:30", "24:00"]),
                "party": st.integers(0, 21),
            },
            optional={"name": SHORT},
        ),
    ),
    st.tuples(st.just("text_group"), st.fixed_dictionaries({"text": SHORT})),
    st.tuples(st.just("cancel_table"), st.fixed_dictionaries({"reservation": st.sampled_from(["R1", "R2", "x"])})),
    st.tuples(
        st.just("refund_card"),
        st.fixed_dictionaries({"order": st.sampled_from(["4412", "4414", "9"]), "amount": st.integers(0, 3)}),
    ),
    st.tuples(st.just("set_timer"), st.fixed_dictionaries({"text": SHORT, "at": st.just("2027-06-04T20:30")})),
    st.tuples(st.just("cancel_timer"), st.fixed_dictionaries({"number": st.integers(0, 2)})),
)
"""Calls that act on the world or on time."""


def every_id() -> list[str]:
    """Return every id in the database, those of documents more than once."""
    found = [key for rows in world().values() for key in rows]
    return [str(key) for key in found if len(str(key)) == 36] + [
        str(id) for id in Document.objects.values_list("id", flat=True)
    ] * 4
