"""What is said of calls as people edited it, over what the tools' packs say (REPLIES, Outcomes)."""

from __future__ import annotations

from dataclasses import replace

from django.db.models import Exists, OuterRef, QuerySet

from agents.models.replies import Phrasing
from agents.replies.mending import Setting
from agents.replies.phrasings import Phrasings


def standing() -> QuerySet[Phrasing]:
    """Return the newest version of each phrasing that was ever edited; one without text stands for its pack's."""
    same = {name: OuterRef(name) for name in ("tool", "outcome", "language")}
    return Phrasing.objects.filter(~Exists(Phrasing.objects.filter(**same, version__gt=OuterRef("version"))))


def phrasings_now() -> dict[str, dict[str, dict[str, str]]]:
    """Return what stands over the packs' phrasings: tool → language → outcome → text, in one query."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for tool, language, outcome, text in standing().exclude(text="").values_list("tool", "language", "outcome", "text"):
        found.setdefault(tool, {}).setdefault(language, {})[outcome] = text
    return found


class Wording:
    """What one turn's calls are said to be: its packs' phrasings, and over them the edited ones once they are needed.

    Most turns say nothing of any call, so a turn reads the edited phrasings at the moment it first holds something it
    said, or tells what it left out: one query there, and none in a plain turn. What it read stands until it ends.

    Attributes:
        setting: what the turn's texts are checked with; it says the edited phrasings as soon as they are read.
    """

    def __init__(self, setting: Setting) -> None:
        self._own = dict(setting.phrasings.own)
        self._is_read = False
        self.setting = replace(setting, phrasings=Phrasings(self._own))

    @property
    def is_read(self) -> bool:
        """True once the edited phrasings stand over the packs'."""
        return self._is_read

    def read(self) -> None:
        """Put the edited phrasings over the packs', in one query; a second time does nothing."""
        if self._is_read:
            return
        for tool, languages in phrasings_now().items():
            packs = self._own.get(tool, {})
            own = {language: {**packs.get(language, {}), **texts} for language, texts in languages.items()}
            self._own[tool] = {**packs, **own}
        self._is_read = True
