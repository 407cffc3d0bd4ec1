"""What a clause can say of an action (REPLIES 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agents.replies.tokens import Clause
from agents.replies.words import VerbUse

Act = Literal["done", "not_done", "promise", "question", "not_yet_known", "mention"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One verb of a span, or adjective beside "is", and what it says.

    Attributes:
        uses: what it may mean.
        at, end: its words.
        group: where its auxiliaries begin.
        first_person: I or we did, do or cannot.
        is_passive: nobody is named who acts.
        is_ability: of "not done": it cannot be done, rather than was not.
        is_stative: of "done": it stands so ("is booked", "was booked"), whoever did it and whenever.
        is_conditional: of a promise: only if something else happens.
    """

    act: Act
    uses: tuple[VerbUse, ...]
    at: int
    end: int
    group: int
    clause: Clause
    first_person: bool = False
    is_passive: bool = False
    is_ability: bool = False
    is_stative: bool = False
    is_conditional: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    act: Act
    first_person: bool = False
    is_passive: bool = False
    is_ability: bool = False
    is_stative: bool = False


MENTION = Said("mention")
