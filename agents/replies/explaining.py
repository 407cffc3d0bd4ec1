"""A tool's words and how sentences are read with them, as lines for whoever edits them."""

from __future__ import annotations

from agents.replies.inflect import forms
from agents.replies.known import Known
from agents.replies.mending import Setting
from agents.replies.reader import readings_of
from agents.replies.record import Record
from agents.replies.scopes import scope_of
from agents.replies.spans import spans_of
from agents.replies.ties import ties
from agents.replies.tokens import tokens_of

_SAMPLES = (
    "I've {participle} it.",
    "It has not been {participle}.",
    "I couldn't {base} it.",
    "I'll {base} it now.",
    "Shall I {base} it?",
    "I don't know yet whether it was {participle}.",
)


def samples(setting: Setting, tool: str) -> list[str]:
    """Return the words that mean a tool, and how sample sentences with them are read.

    Raises:
        ValueError: there is no such tool.
    """
    known = setting.words.tools.get(tool)
    if known is None:
        raise ValueError(f"no tool is called {tool}")
    lines = [f"{tool} ({known.effect}): {known.in_words}"]
    kinds = ("verbs", "nouns", "strong", "weak", "never")
    lines += [f"  {kind}: {', '.join(getattr(known, kind)) or '–'}" for kind in kinds]
    if known.verbs:
        head, *rest = known.verbs[0].split()
        by_form = {form: " ".join([word, *rest]) for word, form in reversed(forms(head))}
        for sample in _SAMPLES:
            lines += explained(setting, tool, sample.format(**by_form))
    return lines


def explained(setting: Setting, tool: str, text: str) -> list[str]:
    """Return how each sentence of a text is read: what it says, of which tools."""
    known = Known(Record(), setting.words)
    lines: list[str] = []
    for span in spans_of(text):
        if span.kind == "blank":
            continue
        lines.append(f"{span.kind}: {span.text.strip()}")
        tokens = tokens_of(span.folded.text)
        readings = readings_of(tokens, setting.words, asks=span.folded.text.rstrip().endswith("?"))
        for place, reading in enumerate(readings):
            for tie in ties(tokens, reading, scope_of(tokens, readings, place), known):
                about = ", ".join(tie.tools) or "what this turn did"
                mark = "" if tool in tie.tools else "  (not this tool)"
                lines.append(f"  {tokens.words[reading.at]}: {reading.act.replace('_', ' ')}, {about}{mark}")
    return lines
