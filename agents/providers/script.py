"""The script format: a list of rules, each answering the inputs it matches (docs/scripted.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from agents.providers.errors import ScriptError
from agents.providers.sentences import sentence_for
from agents.providers.template import unknown_placeholder
from agents.providers.yaml_lines import Source, YamlError, read_yaml

WHEN_FLAGS = re.IGNORECASE | re.DOTALL
"""How ``when`` is searched: case does not matter and ``.`` matches a line break."""

LONGEST_HANG = 3600
"""Seconds; a longer wait is written ``hang: true``."""


def _seconds_or_forever(value: object) -> object:
    if isinstance(value, bool):
        if value:
            return float("inf")
    elif isinstance(value, int | float) and 0 < value <= LONGEST_HANG:
        return float(value)
    raise ValueError(f"`hang` must be seconds (more than 0, at most {LONGEST_HANG}) or true")


def _failure(value: object) -> object:
    return {"message": value} if isinstance(value, str) else value


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


ToolName = Annotated[str, Field(min_length=1, max_length=100)]


class Call(_Strict):
    """A tool call; its arguments may hold placeholders."""

    tool: ToolName
    args: dict[str, JsonValue] = Field(default_factory=dict)


class RawCall(_Strict):
    """A tool call whose arguments are sent exactly as written, well-formed JSON or not."""

    tool: ToolName
    args: str


class Failure(_Strict):
    """A request that fails: with an HTTP status, or rejected by the provider when there is none."""

    message: str = Field(min_length=1)
    status: int | None = Field(default=None, ge=400, le=599)


class Step(_Strict):
    """One model response: words and/or calls, or one of ``fail``, ``hang`` (with words after it) and ``raw``."""

    say: str | None = None
    calls: list[Call] | None = Field(default=None, min_length=1)
    fail: Annotated[Failure, BeforeValidator(_failure)] | None = None
    hang: Annotated[float, BeforeValidator(_seconds_or_forever)] | None = None
    raw: RawCall | None = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        given = self.model_fields_set
        if given in ({"say"}, {"calls"}, {"say", "calls"}, {"fail"}, {"hang"}, {"hang", "say"}, {"raw"}):
            empty = [name for name in given if getattr(self, name) is None]
            if not empty:
                return self
            raise ValueError(f"`{empty[0]}` is empty: give it a value or remove it")
        raise ValueError(
            "a step is `say` and/or `calls`, or alone one of `fail`, `raw` and `hang` (`say` may follow it)"
        )

    @property
    def ends_the_turn(self) -> bool:
        """Whether a response of this step alone would end the turn: it calls nothing, and does not fail."""
        return not self.calls and self.raw is None and self.fail is None

    def templates(self) -> list[JsonValue]:
        """Return every part of the step that may hold placeholders."""
        return [self.say or "", *(call.args for call in self.calls or ())]


class Rule(_Strict):
    """How to answer an input: ``when`` it matches, these ``steps``; and what it means for a turn that it comes during,
    ``classify``, where the model is asked that."""

    when: str = Field(min_length=1)
    classify: Literal["adds", "independent", "revises", "unclear"] | None = None
    steps: list[Step] = Field(min_length=1)
    pace_ms: int = Field(default=0, ge=0, le=10_000)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled ``when``."""
        return re.compile(self.when, WHEN_FLAGS)

    @model_validator(mode="after")
    def _can_be_played(self) -> Self:
        try:
            groups = self.pattern.groupindex
        except re.error as problem:
            raise ValueError(f"`when` is not a regular expression: {problem}") from problem
        for number, step in enumerate(self.steps, start=1):
            for template in step.templates():
                if (name := unknown_placeholder(template, groups)) is not None:
                    raise ValueError(
                        f"step {number} uses {{{name}}}, which is neither a named group of `when` nor "
                        "{result.TOOL.FIELD}; write {{ and }} for braces that are text"
                    )
        return self


@dataclass(frozen=True)
class Line:
    """A step as it answers one input."""

    step: Step
    groups: dict[str, str]
    pace_ms: int


ANSWER = "message_means"
"""The tool by which a model says what a message means for the turn it comes during; its argument is ``meaning``."""

NO_ANSWER = "I have no scripted answer to that."
"""Said to an input that no rule matches."""

NOTHING_LEFT = "That is all."
"""Said when the model is asked again although every input has been answered."""


def only_words(text: str) -> Line:
    """Return a line that says a fixed sentence."""
    return Line(step=Step(say=text), groups={}, pace_ms=0)


@dataclass(frozen=True)
class Script:
    """The rules of one file, in the order they are tried."""

    rules: tuple[Rule, ...]

    def meaning_of(self, text: str) -> list[Line]:
        """Return the line that says what an input means for a turn it comes during, by the first rule that it matches;
        NO_ANSWER where that does not say."""
        for rule in self.rules:
            if rule.pattern.search(text):
                if rule.classify is None:
                    break
                answer = Call(tool=ANSWER, args={"meaning": rule.classify})
                return [Line(step=Step(calls=[answer]), groups={}, pace_ms=0)]
        return [only_words(NO_ANSWER)]

    def lines_for(self, text: str) -> Iterator[Line]:
        """Yield the lines that answer an input: the steps of the first rule it matches, else NO_ANSWER."""
        for rule in self.rules:
            if found := rule.pattern.search(text):
                groups = found.groupdict(default="")
                return (Line(step=step, groups=groups, pace_ms=rule.pace_ms) for step in rule.steps)
        return iter([only_words(NO_ANSWER)])


_RULES = TypeAdapter(list[Rule])


def parse_script(text: str, *, file: str = "script") -> Script:
    """Read a script from YAML text.

    Args:
        text: the YAML.
        file: the name that errors give for it.

    Raises:
        ScriptError: the text is no script; the message says where and what to do.
    """
    try:
        source = read_yaml(text)
    except YamlError as problem:
        raise ScriptError(
            f"this is not YAML that a script may use: {problem}.", file=file, line=problem.line
        ) from problem
    if not isinstance(source.data, list) or not source.data:
        raise ScriptError("a script is a list of rules: begin each with `- when:`.", file=file)
    try:
        return Script(tuple(_RULES.validate_python(source.data)))
    except ValidationError as problem:
        raise _script_error(problem, source, file) from problem


def load_script(path: Path) -> Script:
    """Read a script file.

    Raises:
        ScriptError: the file cannot be read or is no script.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise ScriptError(
            "this file cannot be read; check the path and that it is UTF-8 text.", file=str(path)
        ) from problem
    return parse_script(text, file=str(path))


def _script_error(problem: ValidationError, source: Source, file: str) -> ScriptError:
    first = problem.errors(include_url=False)[0]
    place = first["loc"]
    rule = place[0] + 1 if isinstance(place[0], int) else None
    return ScriptError(sentence_for(first), file=file, rule=rule, line=source.line_of(place))
