"""What a clause says of an action, held to what became of it (REPLIES 5 and 6)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from agents.replies.acts import Reading
from agents.replies.counting import leaves_some
from agents.replies.excuses import is_another, is_known_state, is_only_asked_for
from agents.replies.inflect import singular
from agents.replies.judgements import Fault, Judgement, Tied
from agents.replies.known import Known, calls_about, calls_named, names_another
from agents.replies.lexicon import table
from agents.replies.outcomes import allows
from agents.replies.record import CallRecord
from agents.replies.ties import is_heavy
from agents.replies.tokens import Tokens

_BEFORE_DONE = r"and|great news|good news|great|perfect|okay|ok|sure|alright|absolutely|certainly|thanks|yes"
_GENERIC = re.compile(
    rf"(?:^|[,;:—–-] ?|\b(?:{_BEFORE_DONE})[,!. —-]+ ?)[\W_]{{0,6}}"
    rf"(?:{'|'.join(table('light')['generic_done'])})\s*(?:[.!,;:—–✅🎉-]|$| for | now| and | on | with )"
)
_PLURAL = frozenset({"all", "both", "each", "every", "following", "these", "those", "everything"})
_SEEN = frozenset({"see", "looks", "seems"})
_SEEN_WITHIN = 8
_OBJECTS = frozenset(table("nouns")["counted"])


def says_all_done(text: str) -> bool:
    """Say whether a folded text says that what was asked for is done, with no word of what it was."""
    return bool(_GENERIC.search(text))


class Holding:
    """Holds clauses to the calls they speak of."""

    def __init__(self, known: Known) -> None:
        self._known = known

    def hold(self, found: Judgement, one: Tied, tokens: Tokens, listed: tuple[str, ...]) -> None:
        """Hold what a clause says of an action.

        Args:
            listed: the identifiers of the list that its span leads.
        """
        reading, tools = one.reading, one.tie.tools
        found.is_tied = found.is_tied or bool(tools) or bool(self._known.writes)
        if reading.act == "done" and is_only_asked_for(tokens, reading, self._known):
            found.covers += [call for call in self._known.writes if call.outcome in {"pending_confirmation", "unknown"}]
            return
        if not tools:
            self._hold_light(found, one, tokens)
            return
        if reading.act in {"question", "mention", "not_yet_known"}:
            found.covers += [
                call for call in self._known.calls_of(tools) if reading.act == "not_yet_known" or call.outcome != "done"
            ]
            return
        calls = self._known.calls_of(tools)
        identifiers = one.identifiers or listed or self._titled(tokens, reading, calls)
        about = (
            calls_about(calls, identifiers)
            or calls_about([call for call in self._known.earlier_writes if call.name in tools], identifiers)
            or (calls_named(calls, _labelled(tokens, reading)) if not identifiers else [])
        )
        if identifiers and not about and (not calls or names_another(calls, identifiers)):
            if reading.act == "done" and not is_known_state(self._known, tokens, reading, one.tie, identifiers):
                self._not_attempted(found, one, tokens)
            return
        if not calls:
            if reading.act == "done" and not is_known_state(self._known, tokens, reading, one.tie, identifiers):
                self._not_attempted(found, one, tokens)
            return
        self._hold_calls(found, one, tokens, calls, about, is_listed=bool(listed) and not one.identifiers)

    def _titled(self, tokens: Tokens, reading: Reading, calls: Sequence[CallRecord]) -> tuple[str, ...]:
        """Return the identifiers of the things that a clause calls by their titles, where calls differ in them."""
        if len(calls) < 2:
            return ()
        for said in (tokens.words[reading.clause.start : reading.clause.end], tokens.words):
            text = f" {' '.join(said)} "
            if found := [id for id, title in self._known.titles.items() if f" {title} " in text]:
                return tuple(id.lower().lstrip("#") for id in found)
        return ()

    def _hold_calls(
        self, found: Judgement, one: Tied, tokens: Tokens, calls: list[CallRecord], about: list[CallRecord], *,
        is_listed: bool,
    ) -> None:  # fmt: skip
        reading = one.reading
        is_now = calls[0] in self._known.writes
        if (not is_now and reading.act != "done") or is_another(tokens, reading, calls, about, one.identifiers):
            return
        if self._is_state_of_another(tokens, one, about):
            return
        chosen = about or (calls if _is_plural(tokens, reading) else _latest(calls))
        good = _allowing(chosen, reading)
        of_one_tool = [call for call in calls if call in chosen or allows(call.outcome, reading.act)]
        found.covers += good if len(one.tie.tools) > 1 else of_one_tool
        found.stated.append((one, chosen))
        clause = tokens.words[reading.clause.start : reading.clause.end]
        says_both = "both" in clause and reading.act == "done"
        if ("one", "of") in pairwise(clause) and _allowing(calls, reading):
            # Of the others it tells that they were not.
            found.covers += calls
            return
        holds = len(good) == len(chosen) if says_both else self._holds(one, chosen, good)
        if is_now and leaves_some(self._known, tokens, reading, chosen) and not about:
            self._not_attempted(found, one, tokens)
            return
        if holds or (good and not says_both and (is_listed or not is_now)):
            return
        if not self._is_excused(tokens, one, about):
            found.faults += [Fault("outcome", call.name, call) for call in chosen if call not in good]

    def _is_state_of_another(self, tokens: Tokens, one: Tied, about: Sequence[CallRecord]) -> bool:
        """Say whether a read returned what is said of another thing: "INC-20418 is still open"."""
        reading, identifiers = one.reading, one.identifiers
        if reading.act != "done" or not reading.is_stative or not identifiers or about:
            return False
        return is_known_state(self._known, tokens, reading, one.tie, identifiers)

    def _holds(self, one: Tied, chosen: Sequence[CallRecord], good: Sequence[CallRecord]) -> bool:
        """Say whether of one of the tools it may mean, all it says is so."""
        by_tool = ([call for call in chosen if call.name == tool] for tool in one.tie.tools)
        return any(calls and all(call in good for call in calls) for calls in by_tool)

    def _is_excused(self, tokens: Tokens, one: Tied, about: Sequence[CallRecord]) -> bool:
        reading = one.reading
        if (
            reading.act == "done"
            and reading.is_stative
            and is_known_state(self._known, tokens, reading, one.tie, one.identifiers)
        ):
            return True
        return self._is_the_reason(tokens, one) or (self._sibling_did(one) and not about)

    def _is_the_reason(self, tokens: Tokens, one: Tied) -> bool:
        """Say whether a clause tells why a call was not done: "it has already been transferred once"."""
        reading = one.reading
        if reading.first_person or "already" not in tokens.words[reading.group : reading.at]:
            return False
        reasons = (call.because.lower() for call in self._known.writes)
        return any("already" in reason and tokens.words[reading.at] in reason for reason in reasons)

    def _sibling_did(self, one: Tied) -> bool:
        """Say whether another tool that the words may mean did it this turn, and none names this one."""
        done = {call.name for call in self._known.writes if allows(call.outcome, one.reading.act)}
        if done & one.tie.peers:
            return True
        vague = all(use.vague for use in one.reading.uses if use.tools)
        meant = {tool for use in one.reading.uses for tool, _ in use.tools}
        if vague and not one.tie.nouns and done & meant and not one.tie.is_own:
            return True
        return vague and bool(done & set(one.tie.siblings)) and one.tie.nouns < 2

    def _not_attempted(self, found: Judgement, one: Tied, tokens: Tokens) -> None:
        reading = one.reading
        if self._only_follows(tokens, reading) or self._is_of_what_was_made(one):
            return
        # How things stand is a claim of ours only where it is said of what the tool is for.
        subject = tokens.words[reading.clause.start : reading.group]
        is_all = tokens.words[reading.end : reading.clause.end] in ([], ["now"])
        is_ours = bool(one.tie.nouns) or (one.tie.is_own and is_all and subject in (["it"], ["that"], ["this"]))
        is_ours = is_ours or tokens.words[reading.end : reading.end + 2] == ["for", "you"]
        is_said = not reading.is_stative or (is_ours and reading.clause.opener not in {"since", "because", "as"})
        done = {call.name for call in self._known.writes if allows(call.outcome, "done")}
        if is_said and not self._sibling_did(one) and not (done | self._known.undone) & one.tie.rivals:
            found.faults.append(Fault("not_attempted", one.tie.tools[0], None))

    def _is_of_what_was_made(self, one: Tied) -> bool:
        """Say whether a clause tells vaguely of what a call of this turn made: "reservation SR-9 is confirmed"."""
        made = (
            call.evidence.identifiers - call.sent.identifiers for call in self._known.writes if call.outcome == "done"
        )
        is_vague = all(use.light or use.vague for use in one.reading.uses)
        return is_vague and any(not ids.isdisjoint(one.identifiers) for ids in made)

    def _only_follows(self, tokens: Tokens, reading: Reading) -> bool:
        """Say whether a clause tells what comes of what was done ("a refund is on its way"), or what is seen."""
        if reading.first_person or not reading.is_stative:
            return False
        comes = self._known.did and any(use.lemma == "on its way" for use in reading.uses)
        before = set(tokens.words[max(0, reading.group - _SEEN_WITHIN) : reading.group])
        return comes or bool(self._known.reads and before & _SEEN)

    def _hold_light(self, found: Judgement, one: Tied, tokens: Tokens) -> None:
        """Hold what names no action ("the payment has been processed") to all of this turn's writes."""
        calls, reading = self._known.writes, one.reading
        if not calls:
            self._hold_heavy(found, one, tokens)
            return
        said = frozenset(filter(str.isalpha, _labelled(tokens, reading)))
        named = calls_named(calls, said) if reading.act == "done" else []
        if reading.act not in {"done", "promise"} or (reading.is_stative and reading.act == "done" and not named):
            return
        calls = tuple(named) or calls
        before = tokens.words[reading.clause.start : reading.at]
        is_of_tool = not named and any(singular(word) in self._known.words.nouns for word in before)
        if "already" in before or is_of_tool:
            return
        good = _allowing(calls, reading)
        if "both" in before and reading.act == "done" and len(good) < min(2, len(calls)):
            found.faults += [Fault("outcome", call.name, call) for call in calls if call not in good]
        elif good:
            found.covers += good if reading.act == "done" and len(calls) == 1 else []
            found.stated.append((one, list(calls)))
        elif not (reading.act == "promise" and (reading.first_person or reading.is_conditional)):
            found.faults.append(Fault("outcome", calls[-1].name, calls[-1]))

    def _hold_heavy(self, found: Judgement, one: Tied, tokens: Tokens) -> None:
        """Hold what says that something was done for which the agent has no tool, where its thread wrote nothing."""
        reading = one.reading
        is_said = reading.first_person or reading.is_stative or "been" in tokens.words[reading.group : reading.at]
        if not is_said or not is_heavy(tokens, reading) or self._known.earlier_writes:
            return
        if not found.faults and not is_known_state(self._known, tokens, reading, one.tie, one.identifiers):
            found.faults.append(Fault("not_attempted", reading.uses[0].lemma, None))

    def hold_generic(self, found: Judgement, text: str) -> None:
        """Hold "All done!" to all of this turn's writes."""
        if text.rstrip().endswith("?"):
            return
        calls = self._known.writes
        found.is_tied = True
        good = [call for call in calls if allows(call.outcome, "done")]
        found.covers += good
        if calls and not good:
            found.faults.append(Fault("outcome", calls[-1].name, calls[-1]))


def _labelled(tokens: Tokens, reading: Reading) -> frozenset[str]:
    """Return the words of a clause and of its label: "Figma: assigned"."""
    start = reading.clause.start
    if start > 1 and tokens.words[start - 1] == ":":
        start = next((clause.start for clause in tokens.clauses if clause.start <= start - 2 < clause.end), start)
    return frozenset(tokens.words[start : reading.clause.end])


def _is_plural(tokens: Tokens, reading: Reading) -> bool:
    scope = tokens.words[reading.clause.start : reading.clause.end]
    return bool(_PLURAL & set(scope)) or any(
        word.endswith("s") and singular(word) != word and singular(word) in _OBJECTS for word in scope
    )


def _allowing(calls: Sequence[CallRecord], reading: Reading) -> list[CallRecord]:
    """Return the calls of which a sentence may say what it says."""
    is_passive = reading.is_passive or reading.is_conditional
    return [call for call in calls if allows(call.outcome, reading.act, is_passive=is_passive)]


def _latest(calls: Sequence[CallRecord]) -> list[CallRecord]:
    """Return each tool's latest call."""
    return list({call.name: call for call in calls}.values())
