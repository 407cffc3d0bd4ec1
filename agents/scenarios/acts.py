"""The scenario format: who does what in which order, in YAML (docs/scenarios.md). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator
from pydantic_core import ErrorDetails

from agents.providers.script import Rule
from agents.providers.sentences import sentence_for
from agents.providers.yaml_lines import Source, YamlError, read_yaml

FOLDER = Path(__file__).parent

Someone = Literal["Ana", "Ben", "Vera", "Zoe"]
Sender = Literal["restaurant", "cinema"]
Number = Annotated[str, Field(pattern=r"^A[1-9]\d*$")]
Text = Annotated[str, Field(min_length=1, max_length=4_000)]
Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,50}$")]


class ScenarioError(ValueError):
    """A file is no scenario; the text names the file, the line and the act, and says what to do."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Posts(_Strict):
    """Someone writes to the agent; with the ``id`` of an earlier post it is the same post, sent again."""

    act: Literal["posts"]
    who: Someone
    text: Text
    id: Id | None = None


class Means(_Strict):
    """Someone says, by button, what a held message means."""

    act: Literal["means"]
    who: Someone
    message: Id
    meant: Literal["adds", "independent", "revises"]


class Delivers(_Strict):
    """A source delivers a body; ``forged`` is signed with a secret that is not its own."""

    act: Literal["delivers"]
    source: Sender
    body: dict[str, JsonValue]
    id: Id
    forged: bool = False
    minutes_old: int = Field(default=0, ge=0, le=10_000)


class Approves(_Strict):
    """Someone approves a pending action."""

    act: Literal["approves"]
    who: Someone
    action: Number


class Declines(_Strict):
    """Someone declines a pending action, and may say why."""

    act: Literal["declines"]
    who: Someone
    action: Number
    reason: str = ""


class SetsTimer(_Strict):
    """Someone sets a timer, at a local time of UTC like ``2026-11-30T18:30``."""

    act: Literal["sets_timer"]
    who: Someone
    text: Text
    at: Text
    does: Literal["tells", "asks"] = "tells"
    subject: str = ""


class Takes(_Strict):
    """Someone takes a person's grant to use a tool."""

    act: Literal["takes"]
    who: Someone
    holder: Someone
    tool: Text


class Passes(_Strict):
    """Time passes."""

    act: Literal["passes"]
    minutes: int = Field(default=0, ge=0, le=100_000)
    seconds: int = Field(default=0, ge=0, le=59)

    @model_validator(mode="after")
    def _is_some(self) -> Self:
        if not self.minutes and not self.seconds:
            raise ValueError("`minutes` or `seconds` must be more than 0")
        return self


class World(_Strict):
    """The world outside behaves otherwise from here on: what is given changes, the rest stays.

    Attributes:
        hold: it keeps its answers to what it does, so that what comes next comes while a call waits.
        lose_replies: of how many of its next deeds nobody is told.
        fail: to how many of the next requests it says no.
        down: it is closed.
    """

    act: Literal["world"]
    hold: bool | None = None
    lose_replies: int | None = Field(default=None, ge=0, le=100)
    fail: int | None = Field(default=None, ge=0, le=100)
    down: bool | None = None

    @property
    def switches(self) -> dict[str, bool | int]:
        """What changes."""
        return self.model_dump(exclude={"act"}, exclude_none=True)

    @model_validator(mode="after")
    def _is_something(self) -> Self:
        if not self.switches:
            raise ValueError("name what changes: `hold`, `lose_replies`, `fail` or `down`")
        return self


class Dies(_Strict):
    """The process that works the next turn is killed once the world has done what it first asks for, before it hears
    of it."""

    act: Literal["dies"]


Act = Posts | Means | Delivers | Approves | Declines | SetsTimer | Takes | Passes | World | Dies


class Agent(_Strict):
    """What the agent does with input in flight (DESIGN 6)."""

    in_flight: Literal["merge", "queue", "restart"] = "merge"
    classify: bool = False


class Scenario(_Strict):
    """What a scenario shows, how its agent is set, what its model answers (docs/scripted.md), and what is done.

    Attributes:
        patched: a rule of the product that is taken out for this run, to show what it is for.
    """

    shows: str = Field(min_length=1, pattern=r"^[^\n]+$")
    agent: Agent = Agent()
    patched: Literal["keys_per_turn"] | None = None
    script: list[Rule] = Field(min_length=1)
    acts: list[Annotated[Act, Field(discriminator="act")]] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_what_is_there(self) -> Self:
        posted = {act.id for act in self.acts if isinstance(act, Posts)}
        for number, act in enumerate(self.acts, start=1):
            if isinstance(act, Means) and act.message not in posted:
                raise ValueError(f"act {number} names the message `{act.message}`, which no act posts")
        return self


@dataclass(frozen=True, slots=True)
class Named:
    """A scenario, the name of its file, and its script as it was written."""

    name: str
    scenario: Scenario
    script: list[JsonValue]


def parse_scenario(text: str, *, file: str) -> Named:
    """Read a scenario from YAML text.

    Args:
        file: the file's name, which errors give; without its ending it is the scenario's name.

    Raises:
        ScenarioError: the text is no scenario.
    """
    try:
        source = read_yaml(text)
    except YamlError as problem:
        where = f"{file}, line {problem.line}" if problem.line else file
        raise ScenarioError(f"{where}: this is not YAML that a scenario may use: {problem}.") from problem
    if not isinstance(source.data, dict):
        raise ScenarioError(f"{file}: a scenario is a mapping of `shows`, `script` and `acts`.")
    try:
        found = Scenario.model_validate(source.data)
    except ValidationError as problem:
        raise ScenarioError(_explained(problem.errors(include_url=False)[0], source, file)) from problem
    return Named(file.removesuffix(".yaml"), found, source.data["script"])


def load_scenario(name: str) -> Named:
    """Read a scenario of this folder.

    Raises:
        ScenarioError: there is none of this name, or its file is none.
    """
    path = FOLDER / f"{name}.yaml"
    if name not in names():
        raise ScenarioError(f"There is no scenario {name!r}; manage.py scenario --list lists them.")
    return parse_scenario(path.read_text(encoding="utf-8"), file=path.name)


def names() -> list[str]:
    """Return the names of the scenarios of this folder, in order."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def _explained(error: ErrorDetails, source: Source, file: str) -> str:
    place = error["loc"]
    path = [key for number, key in enumerate(place) if not (number == 2 and place[0] == "acts")]
    where = [file]
    if (line := source.line_of(path)) is not None:
        where.append(f"line {line}")
    if place[:1] == ("acts",) and len(place) > 1:
        where.append(_act(place))
    if error["type"].startswith("union_tag"):
        return f"{', '.join(where)}: {_kinds(error)}."
    if not place:
        return f"{', '.join(where)}: {error['msg'].removeprefix('Value error, ')}."
    return f"{', '.join(where)}: {sentence_for(error)}"


def _act(place: Sequence[int | str]) -> str:
    number = place[1]
    kind = f" ({place[2]})" if len(place) > 2 else ""
    return f"act {number + 1}{kind}" if isinstance(number, int) else "acts"


def _kinds(error: ErrorDetails) -> str:
    expected = str(error.get("ctx", {}).get("expected_tags", "")).replace("'", "`")
    return f"`act` says what is done; it is one of {expected}" if expected else "`act` is missing: it says what is done"
