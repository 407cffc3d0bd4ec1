"""The repository's own files, for tests that read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("permissions", "collab", "agents")
OUTSIDE = {"__pycache__", "node_modules", "staticfiles"}
DOTTED = {".ci", ".editorconfig", ".gitattributes", ".gitignore", ".importlinter"}
TEXT = {".py", ".js", ".css", ".html", ".md", ".yaml", ".yml", ".json", ".toml", ".lock", ".svg", ".txt", ""}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def files(*suffixes: str) -> list[Path]:
    """Return the files that belong to the repository, sorted; only those with a suffix, when some are named."""
    found = (path for entry in ROOT.iterdir() if _belongs(entry) for path in _below(entry))
    return sorted(path for path in found if not suffixes or path.suffix in suffixes)


def texts() -> Iterator[tuple[Path, str]]:
    """Yield every text file of the repository and what it says."""
    for path in files(*TEXT):
        yield path, path.read_text(encoding="utf-8")


def modules() -> list[Path]:
    """Return the Python files of the three apps, without the migrations Django writes."""
    return [path for path in files(".py") if path.relative_to(ROOT).parts[0] in PACKAGES and not generated(path)]


def generated(path: Path) -> bool:
    """Say whether Django wrote the file."""
    return "migrations" in path.parts and path.name != "__init__.py"


def functions(path: Path) -> Iterator[Function]:
    """Yield every function and method of a Python file, nested ones too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, Function):
            yield node


def imported(path: Path) -> set[str]:
    """Return the top names of the modules that a Python file imports."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = {name.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for name in node.names}
    return plain | {node.module.split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom) and node.module}


def short(path: Path) -> str:
    """Return a path as a failure should name it."""
    return str(path.relative_to(ROOT))


def _belongs(entry: Path) -> bool:
    return entry.name in DOTTED or not (entry.name.startswith(".") or entry.name in OUTSIDE)


def _below(entry: Path) -> Iterator[Path]:
    if entry.is_file():
        yield entry
    elif entry.name not in OUTSIDE:
        for child in entry.iterdir():
            yield from _below(child)
