"""What each tool is called in people's words, compiled once to an index (REPLIES, A tool's words)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any

from agents.replies.inflect import Form, forms, singular
from agents.replies.lexicon import alike, table, words

_NAME_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
MONEY = "¤"
"""The noun that stands for every sum of money."""

_AMOUNTS = frozenset({"amount", "price", "sum", "total", "value", "fee", "payment"})
_ALSO_NOUNS = frozenset(
    {"email", "message", "order", "file", "post", "report", "request", "invite", "ticket", "payment", "card"}
)
_ALWAYS_VERBS = frozenset({"send", "create", "cancel", "update", "delete", "add", "remove", "submit", "issue", "make"})
_PARTICLES = frozenset({"on", "off", "up", "down", "out", "back", "in", "away", "over"})


@dataclass(frozen=True)
class ToolWords:
    """A tool and the words that mean it.

    Attributes:
        verbs, nouns: of its action; made from its name when empty.
        strong: words that mean this tool and no other.
        weak: words of what it acts on; the name's other words and the arguments' names when empty.
        never: compounds that are not the action.
        effect: ``none``, ``read`` or ``write``.
    """

    name: str
    effect: str
    verbs: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    strong: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    phrasings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def in_words(self) -> str:
        """Its name as people read it."""
        return " ".join(name_words(self.name)) or self.name


@dataclass(frozen=True, slots=True)
class VerbUse:
    """One form of a verb that may mean tools.

    Attributes:
        rest: the words that must follow its head, with others between.
        tools: each tool it may mean, with how well: 4 its own verb, 2 one like it.
        vague: it says so little that a noun must stand with it.
    """

    lemma: str
    form: Form
    rest: tuple[str, ...]
    tools: tuple[tuple[str, int], ...]
    vague: bool
    light: str = ""


@dataclass(frozen=True)
class Words:
    """All write tools' words, compiled.

    Attributes:
        uses: form of a verb → what it may mean.
        nouns: singular noun → tool → weight: 5 strong, 4 its action's own noun, 3 what it makes or sends, 2 of its
            name, 1 of its arguments.
    """

    tools: Mapping[str, ToolWords]
    uses: Mapping[str, tuple[VerbUse, ...]]
    nouns: Mapping[str, Mapping[str, int]]
    never: Mapping[str, frozenset[tuple[str, ...]]]

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The forms that may mean one of the tools, or what became of one."""
        return frozenset(form for form, uses in self.uses.items() if any(use.light != "heavy" for use in uses))

    def is_write(self, tool: str) -> bool:
        """Say whether a tool changes something; one nobody described does unless its name says it reads."""
        known = self.tools.get(tool)
        return (known.effect if known else effect_of(tool)) == "write"


def name_words(name: str) -> list[str]:
    """Return the words of a tool's or an argument's name, in small letters."""
    return [word.lower() for part in re.split(r"[^A-Za-z0-9]+", name) for word in _NAME_WORD.findall(part)]


def effect_of(name: str) -> str:
    """Return the effect that a tool's name alone suggests."""
    found = name_words(name)
    verb = _verb_at(found)
    reads = words("reads", "reads")
    if found[:1] == ["check"] and found[1:2] in (["in"], ["out"]):
        return "write"
    if set(found[:1]) & words("reads", "doing") and found[-1] in reads:
        return "read"
    if any(word in table("verbs") for word in found[:1]):
        return "write"
    return "read" if (found and found[0] in reads) or (verb < 0 and set(found) & reads) else "write"


def tool_words(name: str, arguments: Iterable[str] = (), given: Mapping[str, Any] | None = None) -> ToolWords:
    """Return a tool's words: those given, and for the rest those its name and its arguments' names make.

    Raises:
        ValueError: a key is given that no tool's words have.
    """
    given = given or {}
    if unknown := set(given) - {"verbs", "nouns", "strong", "weak", "never", "effect", "phrasings", "asks"}:
        raise ValueError(f"{name}: tools' words have no {', '.join(sorted(unknown))}")
    found = name_words(name)
    verb, rest = _split(found)
    known = table("verbs").get(verb) or {}
    empty = words("nouns", "empty")
    arguments = tuple(arguments)
    names = [word for word in rest if word not in empty or len(rest) == 1]
    of_arguments = [word for argument in arguments for word in name_words(argument) if word not in empty]
    return ToolWords(
        name,
        str(given.get("effect") or effect_of(name)),
        _texts(given, "verbs") or tuple(dict.fromkeys([verb, *known.get("like", ()), *_verbs_made_of(verb, rest)])),
        _texts(given, "nouns") or tuple(known.get("nouns", (verb,) if verb.isalpha() else ())),
        _texts(given, "strong"),
        _texts(given, "weak") or tuple(dict.fromkeys([*names, *of_arguments, *_money(arguments)])),
        _texts(given, "never"),
        given.get("phrasings") or {},
    )


def _verbs_made_of(verb: str, rest: Sequence[str]) -> list[str]:
    """Return the verbs that a tool's object stands for: ``issue_refund`` refunds, ``make_payment`` pays."""
    if verb not in words("light", "object_verbs") | words("light", "object_lights"):
        return []
    verbs = table("verbs")
    found = [word if word in verbs else _verb_of_noun().get(word, "") for word in rest]
    return [word for word in found if word and word not in words("light", "vague")]


@cache
def _verb_of_noun() -> Mapping[str, str]:
    return {known["nouns"][0]: verb for verb, known in reversed(list(table("verbs").items())) if known.get("nouns")}


def _money(arguments: Sequence[str]) -> list[str]:
    return [MONEY] if any(_AMOUNTS & set(name_words(argument)) for argument in arguments) else []


def compile_words(tools: Iterable[ToolWords]) -> Words:
    """Compile the words of all tools to one index of the forms and nouns that may mean a write."""
    known = {tool.name: tool for tool in tools}
    writes = [tool for tool in known.values() if tool.effect == "write"]
    verbs: dict[str, dict[str, int]] = {}
    for tool in writes:
        own = _split(name_words(tool.name))[0]
        for place, verb in enumerate(tool.verbs):
            if not verb.split():
                continue  # a name without letters has no verb
            weights = verbs.setdefault(verb, {})
            weights[tool.name] = max(weights.get(tool.name, 0), 4 if place == 0 or verb == own else 2)
    uses: dict[str, list[VerbUse]] = {}
    vague = words("light", "vague")
    for verb, weights in verbs.items():
        _add_uses(uses, verb, tuple(sorted(weights.items())), vague=verb.split()[0] in vague and " " not in verb)
    for kind in ("done", "happens", "not_done", "receives", "arrives"):
        for verb in table("light")[kind]:
            _add_uses(uses, verb, (), vague=True, light=kind)
    for verb in (*table("light")["heavy"], *table("light")["heavy_of_mine"]):
        if verb not in verbs:
            _add_uses(uses, verb, (), vague=False, light="heavy")
    return Words(known, {form: tuple(found) for form, found in uses.items()}, _nouns(writes), _never(writes))


def _add_uses(
    uses: dict[str, list[VerbUse]], verb: str, tools: tuple[tuple[str, int], ...], *, vague: bool, light: str = ""
) -> None:
    head, *rest = verb.split()
    for form, kind in forms(head):
        uses.setdefault(form, []).append(VerbUse(verb, kind, tuple(rest), tools, vague, light))
    if rest in (["on"], ["off"]) and tools:
        # What was turned off is off.
        uses.setdefault(rest[0], []).append(VerbUse(verb, "participle", (), tools, vague=True))


def _nouns(writes: Sequence[ToolWords]) -> dict[str, dict[str, int]]:
    nouns: dict[str, dict[str, int]] = {}

    def add(word: str, tool: str, weight: int) -> None:
        weights = nouns.setdefault(singular(word), {})
        weights[tool] = max(weights.get(tool, 0), weight)

    for tool in writes:
        named = set(name_words(tool.name))
        is_spoken_of = verb_of(tool.name).split()[:1] and verb_of(tool.name).split()[0] in words(
            "light", "object_verbs"
        )
        for word in tool.weak:
            weight = (3 if is_spoken_of else 2) if word in named else 1
            add(word, tool.name, weight)
            for other in alike(singular(word)):
                add(other, tool.name, 1)
        for noun in tool.nouns:
            add(noun, tool.name, 4)
        for noun in tool.strong:
            add(noun, tool.name, 5)
    return nouns


def _never(writes: Sequence[ToolWords]) -> dict[str, frozenset[tuple[str, ...]]]:
    return {
        tool.name: frozenset(tuple(phrase.lower().split()) for phrase in tool.never) for tool in writes if tool.never
    }


@lru_cache(maxsize=4_096)
def verb_of(name: str) -> str:
    """Return the verb of a tool's name, with its particle."""
    return _split(name_words(name))[0]


def _split(found: Sequence[str]) -> tuple[str, list[str]]:
    """Return the verb of a name, with its particle, and the other words."""
    at = _verb_at(found)
    at = max(at, 0)
    verb, rest = found[at] if found else "", [*found[:at], *found[at + 1 :]]
    if rest[at : at + 1] and rest[at] in _PARTICLES:
        verb = f"{verb} {rest.pop(at)}"
    return verb, rest


def _verb_at(found: Sequence[str]) -> int:
    known, reads = table("verbs"), words("reads", "reads")
    if len(found) > 1 and found[0] in _ALSO_NOUNS and found[-1] in _ALWAYS_VERBS:
        return len(found) - 1
    nouns = {word for family in table("nouns")["alike"] for word in family} | _ALSO_NOUNS
    for place, word in enumerate(found):
        if place == 0 and (word in known or word in reads):
            return 0
        # "propose_change" proposes; "card_block" and "calendar.create_event" block and create.
        if word in known and (word in _ALWAYS_VERBS or found[0] in nouns):
            return place
    particles = (place for place, word in enumerate(found[1:]) if word in _PARTICLES)
    return next(particles, 0 if found and len(found) > 0 else -1)


def _texts(given: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = given.get(key) or ()
    return (value.lower(),) if isinstance(value, str) else tuple(str(item).lower() for item in value)
