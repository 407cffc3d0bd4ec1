"""Replies that are composed from phrasings (REPLIES, Composers: ``template``). Pure.

A :class:`TemplateStream` stands where a :class:`~agents.replies.stream.CheckedStream` does: what it lets out is what is
posted, and nothing in it was written by a model.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.replies.check import require, rule
from agents.replies.known import Known
from agents.replies.mending import Ruling, Setting
from agents.replies.record import CallRecord, Record
from agents.replies.stream import BETWEEN

NOTHING_CHANGED = "Nothing was changed."
"""The reply of a turn that ends and called no tool that changes anything."""


class TemplateStream:
    """Lets out the phrasings of a turn's writes, one for each call as it ends, in order.

    Args:
        setting: whose phrasings and reply rules stand.
        shown: what the turn said before.
    """

    holds = False
    """Nothing waits for the calls of earlier turns: none of them is told of."""

    def __init__(self, setting: Setting, shown: str = "") -> None:
        self._setting, self._shown = setting, shown
        self._known = Known(Record(), setting.words)
        self._told = bool(shown)
        self.tells_all = False
        """True in a turn whose calls were read from its person's words: what they asked for is told, a read too."""
        self.unread = ""
        """What is said instead where nothing was changed because the turn was not read."""
        self.rulings: list[Ruling] = []

    def remember(self, *, earlier: Sequence[CallRecord] = (), calls: Sequence[CallRecord] = ()) -> None:
        """Take note of calls that were told of before this stream began."""
        self._told = self._told or any(map(self._known.is_write, [*earlier, *calls]))

    def feed(self, delta: str) -> list[str]:
        """Take the next characters that the model wrote; none of them is shown."""
        return []

    def drop(self) -> None:
        """The response is asked for again; nothing of it was kept."""

    def respond(self, calls: Sequence[CallRecord] = ()) -> list[str]:
        """Return what is said of calls that ended: of each that changes something, its phrasing."""
        told = [call for call in calls if self.tells_all or self._known.is_write(call)]
        return [self._next(self._setting.say(self._known.settled(call))) for call in told]

    def break_off(self, calls: Sequence[CallRecord] = ()) -> list[str]:
        """Return what is said of the calls of a response that did not come to its end."""
        return self.respond(calls)

    def close(self) -> list[str]:
        """End the turn and return what is still to show: that nothing was changed, and the sentences required."""
        rest = [] if self._told else [self._next(self.unread or NOTHING_CHANGED)]
        required = require(self._shown, self._setting)
        self.rulings += required.rulings
        self._shown += required.text
        return [*rest, required.text] if required.text else rest

    @property
    def text(self) -> str:
        """What was shown so far."""
        return self._shown

    def _next(self, phrasing: str) -> str:
        self._told = True
        ruled = rule(phrasing, self._setting)
        self.rulings += ruled.rulings
        piece = (BETWEEN if self._shown and ruled.text else "") + ruled.text
        self._shown += piece
        return piece
