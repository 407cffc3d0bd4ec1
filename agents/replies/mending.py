"""Phrasings in the place of what may not stand (REPLIES 6 to 9)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agents.replies.figures import Derived
from agents.replies.judgements import Fault, Judgement
from agents.replies.known import Known
from agents.replies.phrasings import LANGUAGES, Phrasings
from agents.replies.record import CallRecord
from agents.replies.rules import ReplyRules
from agents.replies.spans import Span
from agents.replies.words import Words, tool_words


@dataclass(frozen=True)
class Ruling:
    """What was done to a span, without its text.

    Attributes:
        start, end: in the reply as the model wrote it.
        rule: ``outcome``, ``not_attempted``, ``values``, ``language``, ``unread``, ``left_out``,
            ``reply_rule`` or ``required``.
        action: ``replaced``, ``removed`` (its phrasing stands elsewhere already) or ``added``.
    """

    start: int
    end: int
    rule: str
    tool: str
    action: str


@dataclass(frozen=True)
class Checked:
    """A reply that may be shown, and what was done to it."""

    text: str
    rulings: tuple[Ruling, ...] = ()


@dataclass(frozen=True)
class Setting:
    """What replies of one agent are checked with.

    Attributes:
        words: the tools' words.
        phrasings: what is said of their calls.
        derived: how amounts may be made of evidenced ones.
        rules: what their replies must and must not hold.
    """

    words: Words
    phrasings: Phrasings = field(default_factory=Phrasings)
    derived: Derived = "arithmetic"
    rules: ReplyRules = field(default_factory=ReplyRules)

    def say(self, call: CallRecord | str, language: str = "en") -> str:
        """Return the phrasing of a call; of a tool nobody called when only its name is given."""
        name = call if isinstance(call, str) else call.name
        tool = self.words.tools.get(name) or tool_words(name)
        return self.phrasings.say(tool, None if isinstance(call, str) else call, language)


class Mending:
    """Puts phrasings in the place of what may not stand, and adds those of what was left out."""

    def __init__(
        self, text: str, spans: Sequence[Span], judgements: Sequence[Judgement], known: Known, setting: Setting
    ) -> None:
        self._text, self._spans, self._judgements = text, spans, judgements
        self._known, self._setting = known, setting
        self._language = _language(judgements)
        self._said: set[str] = set()
        self._rulings: list[Ruling] = []
        self._below: list[str] = []
        self._phrases: dict[CallRecord | str, str] = {}

    def mended(self) -> Checked:
        """Return the text with everything untrue replaced."""
        parts: list[str] = []
        for span, judgement in zip(self._spans, self._judgements, strict=True):
            if self._below and span.kind not in {"row", "blank"}:
                parts.append(self._rows_end(parts))
            faults = self._faults(span, judgement)
            if not faults or self._is_ours(span):
                parts.append(span.text)
            else:
                parts.append(self._instead(span, faults))
        if self._below:
            parts.append(self._rows_end(parts))
        return Checked("".join(parts), tuple(self._rulings))

    def added(self, missing: Sequence[CallRecord]) -> Checked:
        """Return what is put behind the text for calls that it does not tell of."""
        text, added = self._text, ""
        for call in missing:
            phrase = self._phrase(call.name, call)
            if phrase in self._said or phrase in text:
                continue
            self._said.add(phrase)
            self._rulings.append(Ruling(len(text), len(text), "left_out", call.name, "added"))
            so_far = text + added
            gap = "" if not so_far.strip() or so_far.endswith("\n\n") else "\n" if so_far.endswith("\n") else "\n\n"
            added += gap + phrase
        return Checked(added, tuple(self._rulings))

    def _faults(self, span: Span, judgement: Judgement) -> list[Fault]:
        if judgement.language in {"", "en"} or not self._known.writes:
            return judgement.faults
        return [Fault("language", call.name, call) for call in self._known.writes]

    def _instead(self, span: Span, faults: Sequence[Fault]) -> str:
        phrases: list[str] = []
        for fault in faults:
            phrase = self._phrase(fault.tool, fault.call)
            is_new = phrase not in self._said and phrase not in phrases
            phrases += [phrase] if is_new else []
            self._rulings.append(
                Ruling(span.start, span.end, fault.rule, fault.tool, "replaced" if is_new else "removed")
            )
        self._said |= set(phrases)
        if span.kind == "row":
            self._below += phrases
            return ""
        if not phrases:
            return "\n" if span.text.endswith("\n") and not span.marker and span.kind != "item" else ""
        body = span.text[span.marker :]
        tail = body[len(body.rstrip()) :]
        return span.text[: span.marker] + " ".join(phrases) + tail

    def _rows_end(self, parts: Sequence[str]) -> str:
        below, self._below = self._below, []
        before = "" if not parts or not "".join(parts[-2:]).strip() else "\n"
        return before + "\n\n".join(below) + "\n\n"

    def _phrase(self, name: str, call: CallRecord | None) -> str:
        key = call or name
        if key not in self._phrases:
            self._phrases[key] = self._setting.say(key, self._language)
        return self._phrases[key]

    def _own_words(self) -> Iterator[tuple[int, int]]:
        """Yield where the text already holds a phrasing of ours: it stands as it is."""
        known = self._known
        of_writes: set[CallRecord | str] = {*known.writes, *known.replaced, *known.earlier_writes}
        of_writes |= {name for name, tool in self._setting.words.tools.items() if tool.effect == "write"}
        for phrase in {self._setting.say(one, language) for one in of_writes for language in LANGUAGES}:
            at = self._text.find(phrase)
            while at >= 0:
                yield at, at + len(phrase)
                at = self._text.find(phrase, at + 1)

    @cached_property
    def _ours(self) -> list[tuple[int, int]]:
        return sorted(self._own_words())

    def _is_ours(self, span: Span) -> bool:
        start = span.start + span.marker
        end = span.start + len(span.text.rstrip())
        place = bisect_right(self._ours, (start, len(self._text)))
        return any(end <= high for _, high in self._ours[max(0, place - 8) : place])


def needs_mending(judgements: Sequence[Judgement], known: Known) -> bool:
    """Say whether anything of a text may not stand."""
    foreign = bool(known.writes) and any(judgement.language not in {"", "en"} for judgement in judgements)
    return foreign or any(judgement.faults for judgement in judgements)


def _language(judgements: Sequence[Judgement]) -> str:
    votes = [judgement.language for judgement in judgements if judgement.language]
    return "pt" if votes and votes.count("pt") * 2 > len(votes) else "en"
