"""An agent's reply settings as the admin edits them, each with an example that is run (REPLIES 10, Composers)."""

from __future__ import annotations

from typing import Any

import phonenumbers
from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from agents.models.agents import Agent
from agents.replies.examples import Speech, examples
from agents.replies.rules import PERSONAL_DATA, lines_of
from agents.turns.spoken import rules_of, setting_of
from collab.text import BadText, clean_line

SPEECH = ("composer", "derived", "reader", "on_unread", "never_show", "region", "never_say", "never_offer", "required")
LISTS = ("never_say", "never_offer", "required")
MOST_LINES = 50
"""Phrases of one kind, at most."""

LABELS = {"email": "E-mail addresses", "phone": "Telephone numbers", "card": "Card numbers"}
HELP = {
    "composer": (
        "Model: it writes its replies, and each sentence is held to what its calls came to. "
        "Template: people read the phrasings of its calls alone, as in “Launch plan is at version 2.”, "
        "and it asks nothing."
    ),
    "derived": (
        "After refunds of 12.50 and 2.50 a reply may state, with arithmetic, “15.00 in total”; "
        "with strict, only 12.50 and 2.50; with off, any amount."
    ),
    "reader": "On: what a person asks of one tool in plain words is called without a model.",
    "on_unread": (
        "With the reader on, other words: Model: their person is asked once a thread to say it again, and the next go "
        "to the model. Ask: they are asked each time."
    ),
    "region": "The country whose telephone numbers are written without its code, as two letters.",
    "never_say": "Phrases, one a line. A sentence with one is left out.",
    "never_offer": "What is not on offer, one a line: “discount”. A sentence that offers it is left out.",
    "required": "Sentences, one a line. Those that a reply does not hold stand at its end.",
}


class KindsField(forms.MultipleChoiceField):
    """Kinds of personal data, kept as words with a space between."""

    widget = UnfoldAdminCheckboxSelectMultipleWidget

    def prepare_value(self, value: Any) -> Any:
        return value.split() if isinstance(value, str) else value

    def clean(self, value: Any) -> str:
        return " ".join(kind for kind in PERSONAL_DATA if kind in super(KindsField, self).clean(value))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), data)


def kinds_field() -> KindsField:
    """Return the field of the kinds of personal data that no reply shows."""
    return KindsField(
        choices=[(kind, LABELS[kind]) for kind in PERSONAL_DATA], required=False,
        help_text="Kinds of personal data that no reply shows. A card number is one whose last digit checks out.",
    )  # fmt: skip


def settings_cleaned(found: dict[str, Any]) -> dict[str, str]:
    """Return the reply settings of a form as they are kept; what is wrong with one is in the errors.

    Raises:
        ValidationError: by field: a phrase is too long, there are too many, no country has such a region, or a required
            sentence holds what may never be said.
    """
    kept = {name: "\n".join(_lines(name, found.get(name) or "")) for name in LISTS}
    region = str(found.get("region") or "").strip().upper()
    if region not in phonenumbers.SUPPORTED_REGIONS:
        raise forms.ValidationError({"region": "No country is called by these two letters."})
    rules = rules_of(Agent(**{**kept, "region": region, "never_show": found.get("never_show") or ""}))
    if bad := next((sentence for sentence in rules.required if not rules.allows(sentence)), None):
        raise forms.ValidationError({"required": f"“{bad}” holds what may never be said, shown or offered."})
    return {**kept, "region": region}


def _lines(name: str, text: str) -> tuple[str, ...]:
    lines = lines_of(text)
    if len(lines) > MOST_LINES:
        raise forms.ValidationError({name: f"There are {len(lines)} lines; at most {MOST_LINES} fit."})
    try:
        return tuple(clean_line(line, name="a line") for line in lines)
    except BadText as bad:
        raise forms.ValidationError({name: f"This cannot be saved: {bad.because}."}) from bad


def examples_shown(agent: Agent) -> SafeString:
    """Return an example of each reply setting of an agent, run with what it has, as a list."""
    speech = Speech(agent.composer, agent.derived, agent.reader, agent.on_unread, rules_of(agent))
    lines = [
        (one.setting.replace("_", " ").capitalize(), one.given, one.becomes)
        for one in examples(setting_of(agent), speech)
    ]
    return format_html(
        "<ul>{}</ul>", format_html_join("", "<li><strong>{}</strong>: “{}” → “{}”</li>", lines)
    )  # fmt: skip
