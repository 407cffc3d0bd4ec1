"""What stands beside "is": "your refund is complete", "refund successful" (REPLIES 4)."""

from __future__ import annotations

from agents.replies.acts import MENTION, Reading, Said
from agents.replies.groups import Group, finite_in, group_before
from agents.replies.lexicon import moods, table
from agents.replies.tokens import Clause, Tokens
from agents.replies.words import VerbUse

_M = moods()
_ADJECTIVES = {
    tuple(phrase.split()): act for act in ("done", "not_done") for phrase in table("light")["adjectives"][act]
}
_IMPOSSIBLE = frozenset({"impossible", "unavailable", "unsupported"})

ADJECTIVE_HEADS: dict[str, list[tuple[str, ...]]] = {}
"""The phrases by their first word."""
for _phrase in _ADJECTIVES:
    ADJECTIVE_HEADS.setdefault(_phrase[0], []).append(_phrase)


def read_adjective(tokens: Tokens, at: int) -> Reading | None:
    """Read "your refund is complete", "refund successful", "the booking is on its way"."""
    phrases = ADJECTIVE_HEADS[tokens.words[at]]
    found = next((phrase for phrase in phrases if tuple(tokens.words[at : at + len(phrase)]) == phrase), None)
    if found is None:
        return None
    clause = tokens.clause_at(at)
    group = group_before(tokens, at, clause)
    end = at + len(found)
    if not any(word in _M["bes"] or word == "'s" for word in group.words) and not _stands_alone(
        tokens, group, clause, end
    ):
        return None
    said = _said(found, group)
    use = VerbUse(" ".join(found), "participle", (), (), vague=True, light="adjective")
    return Reading(
        said.act, (use,), at, end, group.start, clause,
        is_passive=said.is_passive, is_ability=said.is_ability, is_stative=said.is_stative,
    )  # fmt: skip


def _stands_alone(tokens: Tokens, group: Group, clause: Clause, end: int) -> bool:
    """Say whether an adjective without "is" ends what a clause says: "refund successful", "refund: done"."""
    ends_here = end >= clause.end or tokens.words[end] in {",", "and"}
    is_labelled = clause.start > 0 and tokens.words[clause.start - 1] == ":"
    has_subject = group.start > clause.start or is_labelled
    return ends_here and has_subject and not finite_in(tokens, clause.start, group.start)


def _said(phrase: tuple[str, ...], group: Group) -> Said:
    act = _ADJECTIVES[phrase]
    if group.modal and group.modal not in _M["modals_future"]:
        return MENTION
    is_done = (act == "done") != group.negated
    if group.modal or "being" in group.words:
        return Said("promise" if is_done else "not_done", is_passive=True)
    stands = not group.is_perfect
    return Said(
        "done" if is_done else "not_done", is_passive=True, is_stative=stands, is_ability=phrase[0] in _IMPOSSIBLE
    )
