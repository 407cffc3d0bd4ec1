"""YAML whose values remember their lines and whose keys are written once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import yaml


class YamlError(ValueError):
    """The text is not YAML, or it writes a key twice."""

    def __init__(self, sentence: str, line: int | None) -> None:
        super().__init__(sentence)
        self.line = line


@dataclass(frozen=True)
class Source:
    """YAML data beside the tree it was read from."""

    data: object
    root: yaml.Node | None

    def line_of(self, place: Sequence[int | str]) -> int | None:
        """Return the line, from 1, of the value at a path of keys and indexes, or of its nearest parent."""
        node = self.root
        for key in place:
            child = _child(node, key)
            if child is None:
                break
            node = child
        return None if node is None else node.start_mark.line + 1


class _Loader(yaml.SafeLoader):
    def compose_mapping_node(self, anchor: dict[str, yaml.Node]) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                problem = f"the key `{key.value}` is written twice"
                raise yaml.composer.ComposerError(problem=problem, problem_mark=key.start_mark)
            seen.add(key.value)
        return node


def read_yaml(text: str) -> Source:
    """Read one YAML document with plain values only.

    Raises:
        YamlError: the text is not YAML, makes Python objects, or writes a key twice.
    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        return Source(data=None if root is None else loader.construct_document(root), root=root)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        raise YamlError(problem.problem or "it cannot be read", None if mark is None else mark.line + 1) from problem
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        raise YamlError("it cannot be read", None) from problem


def _child(node: yaml.Node | None, key: int | str) -> yaml.Node | None:
    children: dict[int | str, yaml.Node] = {}
    match node:
        case yaml.SequenceNode():
            children = dict(enumerate(node.value))
        case yaml.MappingNode():
            children = {name.value: value for name, value in node.value if isinstance(name, yaml.ScalarNode)}
    return children.get(key)
