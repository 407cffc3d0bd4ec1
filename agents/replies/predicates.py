"""What one verb says, by its form and its auxiliaries (REPLIES 4)."""

from __future__ import annotations

from agents.replies.acts import MENTION, Said
from agents.replies.groups import Group, finite_in, participle_stands_alone, subject_of
from agents.replies.lexicon import moods
from agents.replies.tokens import Clause, Tokens

_M = moods()
_FUTURE, _HAVES, _BES = _M["modals_future"], _M["haves"], _M["bes"]
_OURS = frozenset({"i", "we", "system", "team", "us", "me"})


def past_or_participle(tokens: Tokens, at: int, clause: Clause, group: Group, *, is_participle: bool) -> Said | None:
    aux = group.words
    subject = subject_of(tokens, group, clause)
    if group.infinitive:
        return _infinitive_passive(group) if "be" in aux or "get" in aux else MENTION
    if group.modal:
        return _modal_passive(group)
    if "being" in aux:
        return Said("not_done" if group.negated else "promise", is_passive=True)
    if any(word in _BES for word in aux) or ("'s" in aux and not any(word in _HAVES for word in aux)):
        return _passive(tokens, at, clause, group, subject)
    if any(word in _HAVES for word in aux):
        return _active(tokens, at, group, subject)
    return _bare_past(tokens, at, clause, group, subject)


def _infinitive_passive(group: Group) -> Said:
    """Read "is going to be refunded", "has yet to be refunded", "failed to be sent"."""
    if group.infinitive in {"going", "about", "set", "scheduled", "due"} and not group.negated:
        return Said("promise", is_passive=True)
    return (
        Said("not_done", is_passive=True) if group.infinitive in {"yet", "failed"} else Said("mention", is_passive=True)
    )


def _modal_passive(group: Group) -> Said:
    """Read "will be refunded", "cannot be refunded", "should have been refunded"."""
    if group.modal in _FUTURE:
        return Said("not_done" if group.negated else "promise", is_passive=True)
    if group.negated and group.modal in {"can", "could"}:
        return Said("not_done", is_passive=True, is_ability=group.modal == "can")
    return Said("mention", is_passive=True)


def _passive(tokens: Tokens, at: int, clause: Clause, group: Group, subject: str) -> Said:
    if _by_others(tokens, at, clause):
        return MENTION
    if group.is_perfect:
        return Said("not_done" if group.negated else "done", is_passive=True)
    if any(word in {"is", "are", "am", "'s"} for word in group.words) and _is_habit(tokens, at, clause, group):
        return MENTION
    return Said("not_done" if group.negated else "done", is_passive=True, is_stative=True)


def _active(tokens: Tokens, at: int, group: Group, subject: str) -> Said:
    ours = subject in _OURS
    if not ours and subject == "you" and "successfully" in group.adverbs:
        return Said("done", is_stative=True)
    if not ours and (subject in _M["pronouns_other"] or _has_object(tokens, at)):
        return MENTION
    return Said("not_done" if group.negated else "done", first_person=ours, is_stative=not ours, is_passive=not ours)


def _bare_past(tokens: Tokens, at: int, clause: Clause, group: Group, subject: str) -> Said | None:
    if subject in _OURS:
        return Said("not_done" if group.negated else "done", first_person=True)
    if group.negated and (not subject or subject in _M["pronouns_first"]):
        return Said("not_done", is_passive=True)
    if subject in _M["pronouns_other"] or subject in _M["others"]:
        return MENTION
    if participle_stands_alone(tokens, at, clause, group):
        return Said("not_done" if group.negated else "done", is_passive=True)
    return None


def base(tokens: Tokens, at: int, clause: Clause, group: Group) -> Said | None:
    subject = subject_of(tokens, group, clause)
    ours = subject in _OURS or not subject
    if group.modal in _FUTURE:
        return Said("not_done" if group.negated else "promise", first_person=ours, is_passive=not ours)
    if group.modal:
        if group.negated and group.modal in {"can", "could"}:
            return Said("not_done", first_person=ours, is_passive=not ours, is_ability=group.modal == "can")
        return MENTION
    if any(word in {"did", "do", "does"} for word in group.words):
        if "did" in group.words and subject not in _M["pronouns_other"]:
            return Said("not_done" if group.negated else "done", first_person=ours, is_passive=not ours)
        return MENTION
    if group.infinitive:
        return _infinitive(tokens, group, subject)
    before = tokens.words[group.start - 1] if group.start > clause.start else ""
    if before == "me" and group.start >= 2 and tokens.words[group.start - 2] == "let":
        return Said("promise", first_person=True)
    if before in {"i", "we", "you", "they", "please", "us"} or (
        before in {"and", "or"} and group.start - 1 == clause.start
    ):
        return MENTION
    return None


def _infinitive(tokens: Tokens, group: Group, subject: str) -> Said:
    """Read what stands before "to refund": "was able", "failed", "going", "need"."""
    governor, ours = group.infinitive, subject in _OURS
    if governor in _M["unable"]:
        present = not group.is_past
        return Said("not_done", first_person=ours, is_ability=present and governor in {"unable", "impossible"})
    if governor in _M["managed"]:
        if group.negated:
            return Said("not_done", first_person=ours, is_ability=governor == "able" and not group.is_past)
        if governor == "able" and not group.is_past:
            return MENTION
        return MENTION if group.is_future else Said("done", first_person=ours)
    if governor in _M["about_to"] and ours:
        return Said("not_done" if group.negated else "promise", first_person=True)
    return MENTION


def ing(tokens: Tokens, at: int, clause: Clause, group: Group, *, is_noun: bool) -> Said | None:
    subject = subject_of(tokens, group, clause)
    if any(word in _BES or word == "'s" for word in group.words):
        if subject in _M["pronouns_other"] and subject != "they":
            return MENTION
        # "I'm connecting you now" goes on after the call: no promise.
        is_passive = subject not in _OURS or tokens.words[at + 1 : at + 2] == ["you"]
        return Said("not_done" if group.negated else "promise", first_person=subject in _OURS, is_passive=is_passive)
    before = tokens.words[group.start - 1] if group.start > clause.start else ""
    if before in _M["determiners"] or (is_noun and not group.words):
        return None
    ended_up = before == "up" and "ended" in tokens.words[clause.start : group.start]
    if (ended_up or before in {"finished", "completed", "done"}) and _has_first(tokens, clause, group.start):
        return Said("done", first_person=True)
    if before in {"with", "in"} and group.start - 2 >= clause.start and _has_first(tokens, clause, group.start):
        return _with_ing(tokens, clause, group)
    if (
        not before
        and not finite_in(tokens, at + 1, clause.end)
        and _M["immediate"] & set(tokens.words[at : clause.end])
    ):
        return Said("promise", first_person=True)
    return MENTION


def _with_ing(tokens: Tokens, clause: Clause, group: Group) -> Said:
    """Read "I will proceed with refunding", "I succeeded in refunding", "I failed in refunding"."""
    before = tokens.words[clause.start : group.start]
    if set(before) & {"succeeded", "finished"}:
        return Said("done", first_person=True)
    if set(before) & {"proceed", "proceeding", "start", "continue"} and set(before) & (_FUTURE | {"going"}):
        return Said("promise", first_person=True)
    return MENTION


def is_third_person_verb(tokens: Tokens, at: int, clause: Clause) -> bool:
    return at > clause.start and tokens.words[at - 1] in {"it", "he", "she", "that", "which", "system"}


def _by_others(tokens: Tokens, at: int, clause: Clause) -> bool:
    after = tokens.words[at + 1 : min(clause.end, at + 9)]
    if "by" not in after:
        return False
    agent = after[after.index("by") + 1 :][:3]
    return bool(set(agent) & (_M["others"] | {"you", "them", "him", "her"}))


def _is_habit(tokens: Tokens, at: int, clause: Clause, group: Group) -> bool:
    before = tokens.words[clause.start : group.start]
    if set(tokens.words[clause.start : clause.end]) & _M["habitual"]:
        return True
    if before[:1] in (["a"], ["an"], ["any"]) and set(tokens.words[at : clause.end]) & _M["lasting"]:
        return True
    end = next((place for place, word in enumerate(before) if place and word in _M["preposition"]), len(before))
    before = before[:end] if end < len(before) else before
    plural = bool(before) and before[-1].endswith("s") and not before[-1].endswith("ss")
    bare = not set(before) & (_M["determiners"] - {"any", "all", "no"}) and not any(
        word[:1].isdigit() for word in before
    )
    return plural and bare and "are" in group.words


def _has_object(tokens: Tokens, at: int) -> bool:
    after = tokens.words[at + 1 : at + 2]
    return bool(after) and (after[0] in _M["determiners"] | _M["things"] | {"you", "me", "us"} or after[0][0].isdigit())


def _has_first(tokens: Tokens, clause: Clause, end: int) -> bool:
    return bool(set(tokens.words[clause.start : end]) & {"i", "we", "me"})
