"""What each clause of a span says of an action: done, not done, promised, asked, unsure, or only named (REPLIES 4)."""

from __future__ import annotations

from agents.replies.acts import MENTION, Reading, Said
from agents.replies.adjectives import ADJECTIVE_HEADS, read_adjective
from agents.replies.groups import group_before
from agents.replies.lexicon import moods
from agents.replies.moods import asking_clauses, in_mood, unsure_from
from agents.replies.predicates import base, ing, is_third_person_verb, past_or_participle
from agents.replies.tokens import Tokens
from agents.replies.words import VerbUse, Words

_M = moods()
_PARTICLES = frozenset({"on", "off", "up", "down", "out", "back", "in", "away", "over", "through"})


def readings_of(tokens: Tokens, known: Words, *, asks: bool) -> list[Reading]:
    """Return what a span says of actions, verb by verb in its order.

    Args:
        asks: its sentence ends with a question mark.
    """
    found: list[Reading] = []
    asking = asking_clauses(tokens) if asks else frozenset[int]()
    unsure = unsure_from(tokens.words)
    for at, word in enumerate(tokens.words):
        if word not in known.uses and word not in ADJECTIVE_HEADS:
            continue
        uses = [use for use in known.uses.get(word, ()) if _rest_end(tokens, at, use)]
        if uses and _is_no_verb(tokens, at):
            uses = []
        if any(use.tools for use in uses):
            uses = [use for use in uses if use.light != "not_done"]
        reading = _read_verb(tokens, at, uses, known) if uses else None
        if reading is None and word in ADJECTIVE_HEADS:
            reading = read_adjective(tokens, at)
        reading = reading and in_mood(tokens, reading, asking, unsure)
        # An act for which there is no tool matters only where it is said to be done.
        if reading is not None and (reading.act == "done" or any(use.light != "heavy" for use in reading.uses)):
            found.append(reading)
    return found


def _is_no_verb(tokens: Tokens, at: int) -> bool:
    """Say whether a word that looks like a verb is none here: "all set", "ending in 7447", "on June 4"."""
    word, after = tokens.words[at], tokens.words[at + 1] if at + 1 < len(tokens.words) else ""
    if word == "set":
        return at > 0 and tokens.words[at - 1] == "all"
    if word == "ending":
        return after in {"in", "with"} or after[:1].isdigit()
    return word in {"on", "off"} and after not in {"", ".", ",", "and", "now", "!", "|", "✅", "✓", ";", "for"}


def _rest_end(tokens: Tokens, at: int, use: VerbUse) -> int:
    """Return the end of a verb whose other words follow within reach; 0 when they do not."""
    end = at + 1
    for word in use.rest:
        reach = min(len(tokens.words), end + 5)
        place = next((place for place in range(end, reach) if tokens.words[place] == word), 0)
        if not place and word not in _PARTICLES and word in tokens.words[max(0, at - 6) : at]:
            continue
        if not place:
            return 0
        end = place + 1
    return end


def _direct_end(tokens: Tokens, at: int, use: VerbUse) -> int:
    """Return the end of a verb whose other words follow at once ("taken care of"), else that of its head."""
    end = at + 1 + len(use.rest)
    return end if tuple(tokens.words[at + 1 : end]) == use.rest else at + 1


def _read_verb(tokens: Tokens, at: int, uses: list[VerbUse], known: Words) -> Reading | None:
    clause = tokens.clause_at(at)
    forms = {use.form for use in uses}
    group = group_before(tokens, at, clause, is_base="base" in forms)
    said: Said | None = None
    if "base" in forms and (group.modal or group.infinitive) and not set(group.words) & (_M["bes"] | _M["haves"]):
        said = base(tokens, at, clause, group)
    if said is None and forms & {"participle", "past"}:
        said = past_or_participle(tokens, at, clause, group, is_participle="participle" in forms)
    if said is None and "base" in forms:
        said = base(tokens, at, clause, group)
    if said is None and "ing" in forms:
        said = ing(tokens, at, clause, group, is_noun=tokens.words[at] in known.nouns)
    if said is None and "third" in forms and is_third_person_verb(tokens, at, clause):
        said = MENTION
    if said is None:
        return None
    if group.modal == "should" and not group.negated and any(use.light in {"receives", "arrives"} for use in uses):
        said = Said("promise", is_passive=True)
    return Reading(
        said.act, tuple(uses), at, max(_direct_end(tokens, at, use) for use in uses), group.start, clause,
        said.first_person, said.is_passive, said.is_ability, said.is_stative,
    )  # fmt: skip
