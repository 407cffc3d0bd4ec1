"""The tables that replies are read with: data files that whoever knows the language edits, loaded once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def table(name: str) -> Mapping[str, Any]:
    """Return one of the tables in ``english/``, by its file's name without the ending."""
    text = (files(__package__) / "english" / f"{name}.yaml").read_text("utf-8")
    return dict(_Words(text).get_single_data())


@cache
def words(name: str, key: str) -> frozenset[str]:
    """Return the set of words under one key of a table."""
    return frozenset(table(name)[key])


@cache
def phrases(name: str, key: str) -> tuple[tuple[str, ...], ...]:
    """Return the phrases under one key of a table, each as its words."""
    return tuple(tuple(phrase.split()) for phrase in table(name)[key])


@cache
def moods() -> Mapping[str, frozenset[str]]:
    """Return the words by what they do to a claim."""
    return {key: words("moods", key) for key in table("moods")}


@cache
def alike(noun: str) -> frozenset[str]:
    """Return the nouns that name the same kind of thing as a singular noun, itself among them."""
    return frozenset({noun}.union(*(family for family in table("nouns")["alike"] if noun in family)))


_NOT_READ = {"tag:yaml.org,2002:bool", "tag:yaml.org,2002:null"}

_Words: Any = type(
    "_Words",
    (getattr(yaml, "CSafeLoader", yaml.SafeLoader),),
    {
        "yaml_implicit_resolvers": {
            first: [(tag, pattern) for tag, pattern in resolvers if tag not in _NOT_READ]
            for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
        },
    },
)
"""YAML in which a bare word is a word: ``on``, ``no`` and ``off`` are prepositions here, not truth values. It is read
in C where PyYAML can, which is a tenth of a server's start."""
