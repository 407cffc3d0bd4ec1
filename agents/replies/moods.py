"""How the clauses around a verb let it stand: questions, conditions, doubt, and what others said (REPLIES 4)."""

from __future__ import annotations

from dataclasses import replace

from agents.replies.acts import Reading
from agents.replies.lexicon import moods, phrases
from agents.replies.tokens import Tokens

_M = moods()
_HAVES, _BES = _M["haves"], _M["bes"]
_UNSURE_BY_HEAD: dict[str, list[tuple[str, ...]]] = {}
for _phrase in phrases("moods", "unsure_phrases"):
    _UNSURE_BY_HEAD.setdefault(_phrase[0], []).append(_phrase)


def in_mood(tokens: Tokens, reading: Reading, asking: frozenset[int], unsure: int | None) -> Reading:
    """Return a reading as the clauses around it let it stand."""
    act, clause = reading.act, reading.clause
    if clause.start in asking:
        return replace(reading, act="question")
    if clause.opener in _M["whether"] or (unsure is not None and reading.at >= unsure and act in {"done", "not_done"}):
        return replace(reading, act="not_yet_known")
    if act == "not_done" and any(use.light == "not_done" for use in reading.uses):
        return replace(reading, act="mention")
    if act == "done" and reading.uses and all(use.light == "not_done" for use in reading.uses):
        reading = replace(reading, act="not_done")
    if _is_supposed(tokens, reading) or _is_others_word(tokens, reading):
        return replace(reading, act="mention")
    conditional = any(other.opener in _M["conditions"] | _M["times"] for other in tokens.clauses if other is not clause)
    return replace(reading, is_conditional=True) if act == "promise" and conditional else reading


def _is_supposed(tokens: Tokens, reading: Reading) -> bool:
    """Say whether a clause is only a condition, a time to come, or says which thing is meant."""
    clause, opener = reading.clause, reading.clause.opener
    if opener in _M["conditions"]:
        return True
    if opener in _M["times"]:
        aux = tokens.words[reading.group : reading.at]
        return not (reading.first_person and not any(word in _HAVES for word in aux) and reading.act == "done")
    before = tokens.words[clause.start - 1] if clause.start else ""
    if opener == "that":
        told = {"you", "us", "all"}
        return before not in _M["says_that"] and not (
            before in told and set(tokens.words[max(0, clause.start - 3) : clause.start]) & (_M["says_that"] | {"tell"})
        )
    if opener in {"which", "who"}:
        return before != ","
    return False


def _is_others_word(tokens: Tokens, reading: Reading) -> bool:
    """Say whether someone else said it, or it is only felt with: "you said it was", "sorry it was cancelled"."""
    clause = reading.clause
    start = clause.start
    while start > 0 and clause.opener in {"that", "which", "as", "since", "because"}:
        clause = tokens.clause_at(start - 1) if any(c.start <= start - 1 < c.end for c in tokens.clauses) else clause
        if clause.start >= start:
            break
        start = clause.start
    before = tokens.words[start : reading.group]
    if "according" in before:
        return "you" in before or "your" in before
    for place, word in enumerate(before):
        others = {"you", "they", "he", "she"} | _M["others"]
        if word in _M["said_by_others"] and set(before[max(0, place - 4) : place]) & others:
            return True
        if word in _M["feelings"] and not reading.first_person and set(before[place + 1 :]) - _M["adverbs"]:
            return word not in {"unfortunate", "regret", "inconvenience"} and reading.act == "done"
    return "told" in before and "i" in before and "was" in before


def asking_clauses(tokens: Tokens) -> frozenset[int]:
    """Return the clauses a question mark asks: the last, with those it depends on; none for a tag ("…, right?")."""
    clauses = tokens.clauses
    last = clauses[-1]
    content = [word for word in tokens.words[last.start : last.end] if word not in {"?", ","}]
    is_tag = len(clauses) > 1 and _is_tag(content)
    comma = max((place for place in range(last.start, last.end) if tokens.words[place] == ","), default=-1)
    if is_tag or (comma > last.start and _is_tag([word for word in tokens.words[comma + 1 : last.end] if word != "?"])):
        return frozenset()
    found = {last.start}
    for clause, after in zip(reversed(clauses[:-1]), reversed(clauses[1:]), strict=True):
        joined = tokens.words[clause.end : after.start]
        depends = after.opener in _M["conditions"] | _M["times"] | {
            "that",
            "whether",
            "because",
            "which",
            "since",
            "as",
            "and",
            "or",
        }
        if not depends or set(joined) - {","}:
            break
        if after.opener in {"and", "or"} and tokens.words[clause.start] not in _M["openers"]:
            break
        found.add(clause.start)
    return frozenset(found)


def _is_tag(content: list[str]) -> bool:
    if not content or len(content) > 5:
        return False
    if len(content) == 1 or content[0] in _M["tags"]:
        return all(word in _M["tags"] | {"is", "that", "all"} for word in content)
    auxiliaries = _HAVES | _BES | {"did", "do", "does", "will", "can", "is"}
    return content[0] in auxiliaries and content[-1] in {"i", "we", "it", "they", "not"} and len(content) <= 4


def unsure_from(found: list[str]) -> int | None:
    """Return after which word of a span nothing is certain: "I can't confirm that", "it's unclear whether"."""
    singles = _M["unsure"] - {"pending"}
    for place, word in enumerate(found):
        if word in singles:
            return place
        for phrase in _UNSURE_BY_HEAD.get(word, ()):
            if tuple(found[place : place + len(phrase)]) == phrase:
                return 0 if phrase[-1] == "confirmed" or "being" in phrase else place
    return None
