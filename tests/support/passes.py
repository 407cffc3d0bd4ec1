"""``make test``: the database tests on PostgreSQL and Redis where those answer, then every test on SQLite."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.support.services import database_url, redis_url

ROOT = Path(__file__).resolve().parent.parent.parent
ON_SERVICES = ("integration", "faults", "attacks", "scenarios")
PARALLEL = ("-n", "2", "--dist", "loadgroup")
OWN_SERVICES = (
    "faults/test_approvals.py",
    "faults/test_call_deaths.py",
    "faults/test_hooks_processes.py",
    "faults/test_processes.py",
    "faults/test_pause.py",
    "faults/test_postgres_killed.py",
    "faults/test_reconnect_storm.py",
    "faults/test_two_versions.py",
)
"""Tests whose processes use the services whichever pass runs them: they run in the first."""

OWN_SQLITE = (
    "faults/test_kill.py",
    "integration/test_server.py",
    "integration/test_protocol.py",
    "scenarios/test_scenarios.py",
)
"""Tests whose processes use a SQLite of their own whichever pass runs them: they run in the second."""

NEEDED = (
    "PostgreSQL and Redis pass skipped: it needs a PostgreSQL (DATABASE_URL, or 127.0.0.1:5432 letting postgres in "
    "without a password) and a Redis (REDIS_URL, or 127.0.0.1:6379)."
)


def main(arguments: Sequence[str]) -> int:
    """Run both passes, the whole suite last; return 0 only when neither failed."""
    services = services_pass(arguments)
    print("== every test, on SQLite", flush=True)
    done = () if services is None else OWN_SERVICES
    whole = pytest({"DATABASE_URL": "", "REDIS_URL": ""}, [*PARALLEL, *ignoring(done), *arguments])
    return services or whole


def services_pass(arguments: Sequence[str]) -> int | None:
    """Run the tests that use a database on PostgreSQL and Redis, or say in one line what is missing and return None."""
    database, redis = database_url(), redis_url()
    folders = [str(folder) for name in ON_SERVICES if (folder := ROOT / "tests" / name).is_dir()]
    if database is None or redis is None:
        print(NEEDED, flush=True)
        return None
    print("== database tests, on PostgreSQL and Redis", flush=True)
    return pytest(
        {"DATABASE_URL": database, "REDIS_URL": redis}, [*PARALLEL, *ignoring(OWN_SQLITE), *arguments, *folders]
    )


def ignoring(files: Sequence[str]) -> list[str]:
    """Return the options that leave some files of tests out."""
    return [f"--ignore={ROOT / 'tests' / file}" for file in files]


def pytest(environment: dict[str, str], arguments: Sequence[str]) -> int:
    """Run pytest with these variables set (an empty one is taken away) and return its exit code."""
    changed = {**os.environ, **environment}
    kept = {name: value for name, value in changed.items() if value or name not in environment}
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, env=kept, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
