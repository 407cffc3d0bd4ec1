"""Several processes on settings that cannot carry them are refused in one sentence (FAILURES I1)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management.base import CommandError

from collab import processes

MISSING = "manage.py runner needs PostgreSQL and Redis: set DATABASE_URL and REDIS_URL."


def given(monkeypatch: pytest.MonkeyPatch, settings: Any, *, database: str, redis: str, runners: bool) -> None:
    monkeypatch.setattr(processes, "connection", SimpleNamespace(vendor=database))
    settings.REDIS_URL, settings.ACCORD_RUNNERS = redis, runners


@pytest.mark.parametrize(("database", "redis"), [("sqlite", "redis://r"), ("postgresql", ""), ("sqlite", "")])
def test_a_runner_without_postgresql_or_redis_is_refused(
    monkeypatch: pytest.MonkeyPatch, settings: Any, database: str, redis: str
):
    given(monkeypatch, settings, database=database, redis=redis, runners=True)
    with pytest.raises(CommandError, match=MISSING):
        processes.require_runners("manage.py runner")
    (error,) = processes.check_runners()
    assert (error.id, error.msg) == ("collab.E001", MISSING.replace("manage.py runner", "ACCORD_RUNNERS=1"))


def test_a_runner_to_which_the_other_processes_send_no_jobs_is_refused(monkeypatch: pytest.MonkeyPatch, settings: Any):
    given(monkeypatch, settings, database="postgresql", redis="redis://r", runners=False)
    with pytest.raises(CommandError, match="needs ACCORD_RUNNERS=1"):
        processes.require_runners("manage.py runner")


def test_a_runner_with_all_it_needs_is_not_refused(monkeypatch: pytest.MonkeyPatch, settings: Any):
    given(monkeypatch, settings, database="postgresql", redis="redis://r", runners=True)
    processes.require_runners("manage.py runner")
    assert processes.check_runners() == []


@pytest.mark.django_db
def test_a_runner_of_a_database_that_was_not_migrated_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch):
    processes.require_migrated("manage.py runner")
    monkeypatch.setattr(processes.MigrationExecutor, "migration_plan", lambda *_: [("procrastinate", False)])
    with pytest.raises(CommandError, match=r"\(1 not applied\): run manage.py migrate first, with ACCORD_RUNNERS=1"):
        processes.require_migrated("manage.py runner")


def test_one_process_without_runners_needs_nothing(monkeypatch: pytest.MonkeyPatch, settings: Any):
    given(monkeypatch, settings, database="sqlite", redis="", runners=False)
    assert processes.check_runners() == []
