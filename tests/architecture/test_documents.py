"""What the documents say holds: examples parse, commands exist, nothing leaks from where the project was made."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import yaml
from django.core.management import get_commands

from tests.support.tree import PACKAGES, ROOT, files, imported, modules, short, texts

FENCE = re.compile(r"^```(json|yaml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# The hosts of package registries: an address of one machine's mirror is no other machine's business.
REGISTRY = re.compile(r"\b(?:pypi|pythonhosted|npmjs|crates|debian)\.(?:org|com|io)\b")
HOME = re.compile(r"(?<![\w./-])/(?:work|root|home)/\w")
BROUGHT = {
    "asgiref": "django",
    "autobahn": "daphne",
    "jsonpointer": "jsonpatch",
    "pydantic-core": "pydantic",
    "starlette": "mcp",
    "twisted": "daphne",
}
"""What a declared dependency always brings, because its own interface is made of it."""


def test_every_json_and_yaml_parses():
    broken = {}
    for path in files(".md", ".json", ".yaml", ".yml"):
        for language, example in _examples(path):
            try:
                READERS[language](example)
            except ValueError as error:
                broken[short(path)] = f"{error} in {example[:80]}"
    assert not broken


def test_every_make_command_of_the_documents_is_a_target():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {name for _, name in _mentions(r"(?:^|`|\$ )make ([a-z-]+)")}
    assert named <= targets


def test_every_management_command_of_the_documents_exists():
    named = {name for _, name in _mentions(r"manage\.py ([a-z_]+)")}
    assert named <= set(get_commands())


def test_no_file_names_a_registry_host_or_a_path_of_one_machine():
    leaks = [
        f"{short(path)}: {found.group()}"
        for path, text in texts()
        for pattern in (REGISTRY, HOME)
        for found in pattern.finditer(text)
    ]
    assert not leaks


def test_no_dependency_brings_another_package_named_agents():
    locked = {line.split("==")[0].lower() for line in (ROOT / "requirements.lock").read_text().splitlines()}
    assert "django" in locked
    assert "openai-agents" not in locked


def test_every_dependency_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    locked = {line.split("==")[0].lower() for line in (ROOT / "requirements.lock").read_text().splitlines()}
    assert {_name(name) for name in wanted} <= locked


def test_what_the_apps_import_is_installed_without_the_dev_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {_name(wanted) for wanted in project["dependencies"]} | BROUGHT.keys()
    providers = packages_distributions()
    missing = {
        f"{short(path)} imports {top}"
        for path in modules()
        for top in imported(path)
        if top not in sys.stdlib_module_names and top not in PACKAGES
        if not declared & {_name(found) for found in providers.get(top, [])}
    }
    assert not missing


def _examples(path: Path) -> list[tuple[str, str]]:
    text = path.read_text()
    return FENCE.findall(text) if path.suffix == ".md" else [(path.suffix[1:], text)]


def _read_json(example: str) -> None:
    """Read one JSON value, or one on each line."""
    try:
        json.loads(example)
    except json.JSONDecodeError:
        for line in filter(str.strip, example.splitlines()):
            json.loads(line)


def _read_yaml(example: str) -> None:
    try:
        list(yaml.safe_load_all(example))
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


READERS = {"json": _read_json, "yaml": _read_yaml, "yml": _read_yaml}


def _mentions(pattern: str) -> list[tuple[str, str]]:
    found = re.compile(pattern, re.MULTILINE)
    return [(short(path), name) for path in files(".md") for name in found.findall(path.read_text())]


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=~!; ]", requirement)[0].lower().replace("_", "-")
