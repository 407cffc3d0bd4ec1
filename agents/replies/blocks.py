"""The values of a reply, held to the calls of the claim they stand under (REPLIES 7)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.replies.evidence import Several
from agents.replies.figures import Derived, Support
from agents.replies.judgements import Fault, Judgement, Tied
from agents.replies.known import Known, calls_about, names_another
from agents.replies.lexicon import table
from agents.replies.outcomes import allows
from agents.replies.record import CallRecord
from agents.replies.spans import Span
from agents.replies.ties import Tie
from agents.replies.values import MOST_VALUES, Value

_COMPARES = re.compile(
    r"\b(?:previous|previously|original|originally|balance|worth|was|were|instead of|regular|limit|available|remaining|"
    r"before|earlier|your other|you paid|deposit|taken off|already paid)\b|\([^)]*\d"
)
_ELSEWHERE = re.compile(
    r"\b(?:other|another|upcoming|available|options?|alternatives?|remaining|you (?:still |also )?have|next|instead)\b"
)
_OLD = re.compile(r"\b(?:from|instead of|originally|previously|was|old|rather than|replacing) (?:[a-z]+ ){0,2}$")
_LEAVES = re.compile(
    r"\b(?:i|we)(?: did|'ve| have)? ?(?:not|n't) |\b(?:did|have)n't\b|"
    r"\b(?:stays?|remains?|stayed|unchanged|unaffected|untouched|left)\b"
)
_OF_RULES = re.compile(rf"\b(?:{'|'.join(table('moods')['rules'])})\b")
_NO_STATEMENT = re.compile(r"\s*(?:if|please|would|once|unless|should|feel free|let me)\b")


class Block:
    """The claim that a reply made last, with the list and the sentences that follow it.

    Args:
        derived: how amounts may be made of evidenced ones.
    """

    def __init__(self, known: Known, derived: Derived) -> None:
        self._known = known
        self._support = Support(known.evidence, derived)
        self._in_block = False
        self._block: list[CallRecord] = []
        self._after_list = False
        self._is_held = False
        self._header: Tie | None = None

    @property
    def _follows_a_deed(self) -> bool:
        """Whether what a span states may be of what the turn did, though no claim stands above it."""
        return self._is_held and self._known.did

    def enter(self, span: Span, *, is_free: bool) -> None:
        """Leave the list of a claim where a sentence follows it.

        Args:
            is_free: the span may have been shown, as all before it, and is not held to anything.
        """
        self._is_held = self._is_held or not is_free
        if span.kind == "sentence" and self._after_list:
            self._block = []

    def hold_code(self, found: Judgement, span: Span) -> None:
        """Hold the values of a line of code, which claims nothing itself."""
        if self._in_block:
            self._check_values(found, span, span.values, None)

    def hold_item(self, found: Judgement, span: Span, tied: Sequence[Tied]) -> None:
        """Hold a list item that only names an object to what its list says of it."""
        if self._header is None or span.kind not in {"item", "row"} or any(one.tie.tools for one in tied):
            return
        identifiers = tuple(str(value.key) for value in span.values if value.kind == "identifier")
        calls = [call for call in self._known.calls_of(self._header.tools) if call in self._known.writes]
        about = calls_about([call for call in calls if call.sent.identifiers], identifiers)
        found.covers += about
        if not about and names_another(calls, identifiers):
            found.faults.append(Fault("not_attempted", calls[-1].name, None))
        if about and not any(allows(call.outcome, "done") for call in about):
            found.faults.append(Fault("outcome", about[-1].name, about[-1]))

    def hold_values(self, found: Judgement, span: Span, tied: Sequence[Tied]) -> None:
        """Hold the values of a span to the calls it states, or to those of the claim above it."""
        is_bare = not self._in_block and not tied and not self._follows_a_deed
        if found.faults or (span.kind == "sentence" and is_bare):
            return
        values = span.values
        if not values:
            return
        if len(values) > MOST_VALUES:
            found.faults += [Fault("unread", call.name, call) for call in self._known.writes]
            return
        stating = [(one, calls) for one, calls in found.stated if one.reading.act in {"done", "promise"}]
        for one, calls in stating:
            self._check_values(found, span, one.values, calls, is_block=not one.tie.tools)
        if not _is_statement(span, tied):
            return
        stated = [value for one, _ in stating for value in one.values]
        rest = [value for value in values if value not in stated]
        if any(one.reading.act == "not_done" and one.tie.tools for one in tied):
            self._check_values(
                found, span, [value for value in rest if value.kind not in {"amount", "date"}], None, is_tied=True
            )
        elif stating or self._in_block or self._follows_a_deed:
            self._hold_block(found, span, rest, is_tied=bool(stating))

    def _hold_block(self, found: Judgement, span: Span, values: Sequence[Value], *, is_tied: bool) -> None:
        """Hold the values of what follows a claim to its call; identifiers to any call of the thread."""
        own = self._block or None
        self._check_values(found, span, [value for value in values if value.kind == "identifier"], None, is_tied=True)
        if span.kind == "sentence" and not is_tied and _OF_RULES.search(span.folded.text):
            return
        if own or is_tied or span.kind != "sentence" or self._follows_a_deed:
            others = [value for value in values if value.kind != "identifier"]
            self._check_values(found, span, others, own, is_block=True, is_tied=True)

    def _check_values(
        self, found: Judgement, span: Span, values: Sequence[Value], own: Sequence[CallRecord] | None, *,
        is_block: bool = False, is_tied: bool = False,
    ) -> None:  # fmt: skip
        if found.faults or (own is None and not self._in_block and not is_tied):
            return
        several = Several([call.evidence for call in own]) if own else None
        if is_block and several and self._support.lacks(values, span.folded.text, several):
            # A list under a claim may hold what was worked out, and compare with what was before.
            is_free = _COMPARES.search(span.folded.text) or _LEAVES.search(span.folded.text)
            several = None if is_free else Several([*several.parts, *self._known.reckoned])
        if several:
            several_values = [value for value in values if _OLD.search(span.folded.text[: value.start])]
            values = [value for value in values if value not in several_values]
            if self._support.lacks(several_values, span.folded.text):
                values = [*values, *several_values]
        if self._support.lacks(values, span.folded.text, several):
            call = own[-1] if own else next(iter(reversed(self._known.writes)), None)
            if call is not None:
                found.faults.append(Fault("values", call.name, call))

    def remember(self, found: Judgement, span: Span, tied: Sequence[Tied]) -> None:
        """Keep what the next spans stand under."""
        said = [one for one in tied if one.reading.act == "done" and one.tie.tools]
        if said or (found.covers and any(one.reading.act == "done" for one in tied)):
            self._in_block = True
            self._block = [call for _, calls in found.stated for call in calls]
        elif (
            span.leads
            and span.kind in {"sentence", "heading"}
            and (_ELSEWHERE.search(span.folded.text) or any(one.tie.tools for one in tied))
        ):
            self._block = []
        self._after_list = span.kind in {"item", "row", "code"}
        if span.leads or span.kind in {"sentence", "heading"}:
            self._header = said[-1].tie if said and span.leads else (self._header if span.kind == "item" else None)


def _is_statement(span: Span, tied: Sequence[Tied]) -> bool:
    """Say whether a span of a block states something: no question, condition or instruction."""
    text = span.folded.text
    if text.rstrip().endswith("?") or any(one.reading.act in {"question", "mention"} for one in tied):
        return False
    return not _NO_STATEMENT.match(text)
