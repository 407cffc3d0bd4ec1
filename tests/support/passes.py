"""``make test``: tests that a database decides on PostgreSQL and Redis, where those answer, and on SQLite; all others
once, in one of the two passes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.support.services import database_url, redis_url

ROOT = Path(__file__).resolve().parent.parent.parent
ON_SERVICES = ("integration", "faults", "attacks", "scenarios")
PARALLEL = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
"""A file's tests run in one worker, which makes what they share once."""

OWN_SERVICES = (
    "faults/test_agui_processes.py",
    "faults/test_approvals.py",
    "faults/test_call_deaths.py",
    "faults/test_hooks_processes.py",
    "faults/test_processes.py",
    "faults/test_pause.py",
    "faults/test_postgres_killed.py",
    "faults/test_reconnect_storm.py",
    "faults/test_two_versions.py",
    "attacks",
    *(
        f"integration/test_{name}.py"
        for name in (
            "accepting_with_edits", "bad_input", "call_items", "call_share", "delegations", "document_policy",
            "document_rights", "document_versions", "documents_in_turns", "editing", "inbox_actions", "inbox_rights",
            "items", "past", "proposal_rights", "proposals_in_advance", "reach", "suggestions_told",
            "documents", "proposals", "proposal_commands", "tools_document", "workspaces", "threads",
            "mcp", "oauth", "rest_fuzz", "authority", "client_authorship", "client_tokens", "call_steps",
            "in_flight_classified", "in_flight_revised", "inbox_socket", "reply_counts", "turns_for_no_one",
            "undo_call",
        )
    ),
)  # fmt: skip
"""Tests whose processes use the services whichever pass runs them, those of documents, rights and what input means,
whose rules no database changes, and those of clients that send anything, of which PostgreSQL keeps less: they run in
the first."""

OWN_SQLITE = (
    "faults/test_kill.py",
    "integration/test_server.py",
    "integration/test_protocol.py",
    "scenarios/test_scenarios.py",
    *(
        f"integration/test_{name}.py"
        for name in (
            "admin_grants", "admin_pages", "admin_people", "admin_phrasings", "admin_private", "admin_reading",
            "admin_reply_settings", "admin_why", "asking", "audit_command", "bad_text", "commands_manage",
            "grants_pages", "hooks_admin", "hooks_deliver", "inbox_page", "page_links", "pages", "phrasings",
            "provider_turns", "readme", "replies_composed", "replies_in_turns", "restaurant_pack", "routes",
            "rude_arguments", "search_page", "shop_pack", "shop_table", "tool_command", "tools_enabled", "why_command",
            "why_pages", "world_command",
            "agui", "client_pages", "clients", "mcp_served", "mcp_tools", "mount_routes", "rest", "rest_docs",
            "rest_routes", "rest_stream", "terminal", "tokens_in_addresses",
        )
    ),
)  # fmt: skip
"""Tests whose processes use a SQLite of their own whichever pass runs them, and those of pages, commands and words,
whose rules no database changes: they run in the second."""

NEEDED = (
    "PostgreSQL and Redis pass skipped: it needs a PostgreSQL (DATABASE_URL, or 127.0.0.1:5432 letting postgres in "
    "without a password) and a Redis (REDIS_URL, or 127.0.0.1:6379)."
)


def main(arguments: Sequence[str]) -> int:
    """Run both passes; return 0 only when neither failed. Where no services answer, the second runs every test."""
    services = services_pass(arguments)
    print("== every test, on SQLite" if services is None else "== the other tests, on SQLite", flush=True)
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
