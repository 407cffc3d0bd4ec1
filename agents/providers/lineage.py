"""Where a scripted turn stands, read from its messages alone."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from pydantic import JsonValue
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextContent, ToolReturnPart, UserPromptPart
from pydantic_core import to_jsonable_python

from agents.providers.script import NOTHING_LEFT, Line, Script, only_words
from agents.providers.template import Values

CLASSIFY = "classify"
"""In a request's metadata: the text whose meaning for a running turn is asked for."""


@dataclass(frozen=True)
class Cue:
    """What the model says next: one line or several, and the tool results that their placeholders may name."""

    lines: Sequence[Line]
    results: dict[str, JsonValue]

    def values(self, line: Line) -> Values:
        """Return what a line's placeholders stand for."""
        return Values(groups=line.groups, results=self.results)


def next_cue(script: Script, messages: Sequence[ModelMessage]) -> Cue:
    """Return what a script answers to a turn so far.

    The inputs of the turn are answered in order, each by all the steps of its rule; every response so far has used
    up one step, or several: a response without calls would end the turn, so while anything is left to say a step
    without calls runs on into the next. An input that joined later is answered after those before it. What precedes
    the first input is history and counts for nothing. The same messages always give the same cue. Asked what a message
    means for its turn, the script says what the rule says that it matches.
    """
    asked = messages[-1].metadata or {} if messages else {}
    if CLASSIFY in asked:
        return Cue(lines=script.meaning_of(str(asked[CLASSIFY])), results={})
    waiting: deque[Line] = deque()
    results: dict[str, JsonValue] = {}
    for message in dropwhile(lambda message: not holds_input(message), messages):
        if isinstance(message, ModelResponse):
            _response(waiting)
            continue
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                results[part.tool_name] = _plain(part.content)
        for text in _inputs(message):
            waiting.extend(script.lines_for(text))
    return Cue(lines=_response(waiting) or [only_words(NOTHING_LEFT)], results=results)


def _response(waiting: deque[Line]) -> list[Line]:
    """Take the lines of one response off what is left to say."""
    lines: list[Line] = []
    while waiting and (not lines or lines[-1].step.ends_the_turn):
        lines.append(waiting.popleft())
    return lines


def holds_input(message: ModelMessage) -> bool:
    """Return whether a message carries inputs of the turn: a request whose metadata says ``{"input": True}``."""
    return isinstance(message, ModelRequest) and (message.metadata or {}).get("input") is True


def _inputs(message: ModelRequest) -> Iterator[str]:
    """The texts of a request's inputs: the bare ones that its metadata keeps, else as the model reads them."""
    if not holds_input(message):
        return
    bare = (message.metadata or {}).get("texts")
    if isinstance(bare, list):
        yield from (str(text) for text in bare)
    else:
        yield from (_text(part) for part in message.parts if isinstance(part, UserPromptPart))


def words_in(messages: Sequence[ModelMessage]) -> int:
    """Return about how many words a model would read in these messages."""
    return sum(len(text.split()) for message in messages for text in _contents(message))


def _contents(message: ModelMessage) -> Iterator[str]:
    for part in message.parts:
        content = getattr(part, "content", None) or getattr(part, "args", None)
        if content is not None:
            yield content if isinstance(content, str) else json.dumps(_plain(content), ensure_ascii=False)


def _text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    pieces = (item.content if isinstance(item, TextContent) else item for item in part.content)
    return "\n".join(piece for piece in pieces if isinstance(piece, str))


def _plain(content: object) -> JsonValue:
    """Return a tool result as JSON values; a text that is a JSON object or list counts as what it says."""
    if isinstance(content, str):
        try:
            parsed: JsonValue = json.loads(content)
        except ValueError:
            return content
        return parsed if isinstance(parsed, dict | list) else content
    plain: JsonValue = to_jsonable_python(content, fallback=str)
    return plain
