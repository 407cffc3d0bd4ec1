"""A reply held to the record (REPLIES, The check, in order)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from agents.replies.judgements import Judgement
from agents.replies.judging import Judge, TooMuch, is_free
from agents.replies.known import Known
from agents.replies.mending import Checked, Mending, Ruling, Setting, needs_mending
from agents.replies.record import Record
from agents.replies.spans import Span, spans_of
from agents.replies.telling import left_out

_MOST_ROUNDS = 4


def check(text: str, record: Record, setting: Setting) -> Checked:
    """Return a reply whose sentences say no more than the record, with every write the turn made (REPLIES 1 to 11)."""
    known = Known(record, setting.words)
    mended = mend(read(text, known, setting), known, setting)
    ruled = rule(mended.reading.text, setting)
    added = additions(read(ruled.text, known, setting) if ruled.rulings else mended.reading, known, setting)
    required = require(ruled.text + added.text, setting)
    rulings = (*mended.rulings, *ruled.rulings, *added.rulings, *required.rulings)
    return Checked(ruled.text + added.text + required.text, rulings)


def held(text: str, record: Record, setting: Setting) -> Checked:
    """Return a text that is no reply (a question, a reason given with a proposal) whose sentences say no more than the
    record: what the turn did need not stand in it."""
    known = Known(record, setting.words)
    mended = mend(read(text, known, setting), known, setting)
    return Checked(mended.reading.text, mended.rulings)


@dataclass(frozen=True)
class Reading:
    """A text with what was found in each of its spans; nothing where there was too much of it to be read."""

    text: str
    spans: Sequence[Span]
    judgements: Sequence[Judgement]


@dataclass(frozen=True)
class Mended:
    """A text in which everything untrue was replaced, and what was done to it."""

    reading: Reading
    rulings: tuple[Ruling, ...] = ()


def read(text: str, known: Known, setting: Setting) -> Reading:
    """Return a text as it is held to the record."""
    spans = spans_of(text)
    try:
        return Reading(text, spans, Judge(known, setting.derived).judge(spans))
    except TooMuch:
        return Reading(text, spans, ())


def mend(reading: Reading, known: Known, setting: Setting) -> Mended:
    """Return a text with everything untrue replaced; a replacement checked again comes out unchanged (REPLIES 11).

    The spans before the first that speaks of an action are never changed: they may have been shown already.
    """
    rulings: tuple[Ruling, ...] = ()
    for _ in range(_MOST_ROUNDS if reading.judgements or not reading.spans else 0):
        mending = Mending(reading.text, reading.spans, reading.judgements, known, setting)
        checked = mending.mended() if needs_mending(reading.judgements, known) else Checked(reading.text)
        rulings = rulings or checked.rulings
        if not checked.rulings:
            return Mended(reading, rulings)
        reading = read(checked.text, known, setting)
    told = _told(reading.spans, known, setting)
    rulings = rulings or (Ruling(0, len(reading.text), "unread", "", "replaced"),)
    return Mended(read(told, known, setting), rulings)


def additions(reading: Reading, known: Known, setting: Setting) -> Checked:
    """Return what a checked text leaves out: the turn's writes it does not tell of, by their phrasings (REPLIES 9)."""
    missing = left_out(reading.text, reading.judgements, known)
    if not missing:
        return Checked("")
    return Mending(reading.text, reading.spans, reading.judgements, known, setting).added(missing)


def rule(text: str, setting: Setting) -> Checked:
    """Return a text without what the reply rules forbid, span by span (REPLIES 10)."""
    if not setting.rules.forbids:
        return Checked(text)
    spans = [(span, setting.rules.kept(span.text)) for span in spans_of(text)]
    rulings = [
        Ruling(span.start, span.end, "reply_rule", "", "replaced" if kept else "removed")
        for span, kept in spans
        if kept != span.text
    ]
    return Checked("".join(kept for _, kept in spans), tuple(rulings))


def require(text: str, setting: Setting) -> Checked:
    """Return the required sentences that a whole reply does not hold, as they are put behind it (REPLIES 10)."""
    missing = setting.rules.missing(text)
    rulings = tuple(Ruling(len(text), len(text), "required", "", "added") for _ in missing)
    return Checked("".join(f"\n\n{sentence}" if text else sentence for sentence in missing), rulings)


def _told(spans: Sequence[Span], known: Known, setting: Setting) -> str:
    """Return a text of which only what was shown already is left, and the phrasings of the turn's writes."""
    shown = "".join(span.text for span in takewhile(lambda span: is_free(span, known), spans))
    said = dict.fromkeys(setting.say(call) for call in known.writes)
    return shown + "\n\n".join(said)
