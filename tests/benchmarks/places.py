"""Databases of a benchmark's own: migrated once, copied for each figure, gone afterwards."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
from psycopg import sql

from tests.support.server import environment_for, manage
from tests.support.services import database_url

SQLITE, POSTGRESQL = "sqlite", "postgresql"
SCRIPT = Path(__file__).parent / "script.yaml"


@dataclass(slots=True)
class Places:
    """Makes the environments in which figures are measured, below a folder that the caller removes."""

    folder: Path
    stack: ExitStack
    _templates: dict[str, dict[str, str]] = field(default_factory=dict)

    def databases(self) -> list[str]:
        """Return the kinds of database that answer on this machine."""
        return [SQLITE, POSTGRESQL] if database_url() else [SQLITE]

    @contextmanager
    def place(self, database: str) -> Iterator[dict[str, str]]:
        """Return an environment with a migrated database of this kind that nothing was written to yet."""
        template = self._template(database)
        folder = Path(shutil.copytree(template["ACCORD_DATA"], self.folder / uuid4().hex))
        if database == SQLITE:
            yield _environment(folder)
            return
        with postgres_database(template=urlsplit(template["DATABASE_URL"]).path[1:]) as url:
            yield _environment(folder, DATABASE_URL=url)

    def _template(self, database: str) -> dict[str, str]:
        if database not in self._templates:
            folder = self.folder / f"template-{database}"
            folder.mkdir(parents=True)
            url = {} if database == SQLITE else {"DATABASE_URL": self.stack.enter_context(postgres_database())}
            self._templates[database] = _environment(folder, **url)
            manage(self._templates[database], "migrate", "--verbosity", "0")
        return self._templates[database]


@contextmanager
def postgres_database(template: str = "template1") -> Iterator[str]:
    """Create a PostgreSQL database beside the one that tests may use, and drop it at the end."""
    base = os.environ.get("ACCORD_BENCH_POSTGRES") or database_url()
    assert base, "no PostgreSQL answers"
    name = f"accord_bench_{uuid4().hex[:8]}"
    _on_server(base, sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))
    try:
        yield urlunsplit(urlsplit(base)._replace(path=f"/{name}"))
    finally:
        _on_server(base, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _on_server(base: str, statement: sql.Composed) -> None:
    with psycopg.connect(urlunsplit(urlsplit(base)._replace(path="/postgres")), autocommit=True) as connection:
        connection.execute(statement)


def _environment(folder: Path, **variables: str) -> dict[str, str]:
    quiet = {"ACCORD_LOG_LEVEL": "WARNING", "ACCORD_MODEL": f"scripted:{SCRIPT}"}
    return environment_for(folder, **quiet, **variables)
