"""The house stays liveable: imports point one way, rooms stay small, nothing is silenced (DESIGN 3, STYLE)."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.support.tree import PACKAGES, ROOT, Function, files, functions, modules, short

LONGEST_FUNCTION = 60
LONGEST_FILE = 400
SUPPRESSION = re.compile(r"noqa|type:\s*ignore|pragma|pyright|pylint|mypy:|ruff:|nosec|eslint|@ts-")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def test_imports_point_the_way_the_contracts_say():
    checked = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_no_function_imports_our_own_packages():
    hidden = [
        f"{short(path)}:{node.lineno}"
        for path in modules()
        for function in functions(path)
        for node in ast.walk(function)
        if _is_ours(node)
    ]
    assert not hidden, "a circle hidden in a function is still a circle"


def test_functions_stay_readable():
    long = {
        f"{short(path)} {function.name}": lines
        for path in modules()
        for function in functions(path)
        if (lines := _lines(function)) > LONGEST_FUNCTION
    }
    assert not long


def test_files_stay_readable():
    read = [*modules(), *files(".js")]
    long = {short(path): lines for path in read if (lines := len(path.read_text().splitlines())) > LONGEST_FILE}
    assert not long


def test_every_package_has_an_init_and_it_is_empty():
    folders = {path.parent for path in files(".py") if path.relative_to(ROOT).parts[0] in PACKAGES}
    inits = {folder / "__init__.py" for folder in folders}
    assert [short(init) for init in inits if not init.is_file()] == []
    assert [short(init) for init in inits if init.is_file() and init.read_text()] == []


def test_nothing_silences_a_check_where_it_stands():
    silenced = [where for path in files(".py") for where, text in _comments(path) if SUPPRESSION.search(text)]
    silenced += [short(path) for path in files(".js") if SUPPRESSION.search(path.read_text())]
    assert not silenced, "a check that is wrong is changed in pyproject.toml, with its reason"


def test_nothing_is_left_for_later():
    left = [where for path in files(".py") for where, text in _comments(path) if UNFINISHED.search(text)]
    left += [short(path) for path in files(".js", ".css", ".html") if UNFINISHED.search(path.read_text())]
    assert not left


def _is_ours(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(name.name.split(".")[0] in PACKAGES for name in names)
        case ast.ImportFrom(module=str(module), level=level):
            return level > 0 or module.split(".")[0] in PACKAGES
        case _:
            return False


def _lines(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _comments(path: Path) -> Iterator[tuple[str, str]]:
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.COMMENT:
            yield f"{short(path)}:{token.start[0]}", token.string
