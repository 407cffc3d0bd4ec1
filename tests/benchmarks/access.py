"""What the access report costs for 1,000 accounts, beside guardian's own list of who holds what on one object."""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from guardian.shortcuts import get_users_with_perms

from collab.models.documents import Document
from collab.models.grants import DocumentUserGrant, WorkspaceGroupGrant, WorkspaceUserGrant
from collab.models.workspaces import Workspace
from permissions.actors import Person
from permissions.decisions import Level
from permissions.gate import decisions_on
from permissions.models import User
from permissions.reach import actions_on, reach_of
from permissions.tables import table_of
from tests.benchmarks import people
from tests.benchmarks.results import Result, at_most, p50, ratio_at_least
from tests.benchmarks.run import Run
from tests.benchmarks.timing import alternately
from tests.support.cast import Studio
from tests.support.queries import queries

ACCOUNTS = 1_000
CODENAMES = ("view", "comment", "start_turn", "propose_document")


def measure(run: Run) -> list[Result]:
    """Count the statements of a report, and time it."""
    made = people.studio()
    accounts = fill(made, run.size(ACCOUNTS, 100))
    with queries() as sent:
        found = reach_of(made.document)
    assert sum(line.levels[actions_on(made.document)[0]] is Level.ALLOW for line in found) >= len(accounts)
    took = alternately(
        {
            "page": lambda: reach_of(made.document)[:100],
            "table": lambda: list(table_of(made.document, reach_of(made.document))),
            "guardian": lambda: get_users_with_perms(made.document, attach_perms=True),
        },
        run.size(10, 1),
        warm_up=2,
    )
    each = p50(one_by_one(made, accounts[:50])) * len(accounts)
    at = f"for {len(found):,} accounts"
    return [
        Result("the access report, statements", len(sent), "", None, "", at_most(5), at),
        Result("its first page of 100, p50", p50(took["page"]), "ms", each, "a check of every account",
               at_most(300), at),
        Result("the whole as a table, p50", p50(took["table"]), "ms", each, "a check of every account", None, at),
        Result("guardian's get_users_with_perms, p50", p50(took["guardian"]), "ms", p50(took["page"]), "the first page",
               ratio_at_least(2), f"{at}; it knows nothing of the workspace"),
    ]  # fmt: skip


def one_by_one(made: Studio, accounts: list[User]) -> list[float]:
    """Return what deciding on each action takes for one account, in ms."""
    calls = {str(one.pk): lambda one=one: decisions_on(Person(one.pk), made.document) for one in accounts}
    return [time for times in alternately(calls, 1).values() for time in times]


def fill(made: Studio, size: int) -> list[User]:
    """Give this many accounts grants: a third on the document, a third on the workspace, a third through ten groups."""
    accounts = User.objects.bulk_create([User(username=f"reader{n}", password="!") for n in range(size)])
    groups = Group.objects.bulk_create([Group(name=f"readers {n}") for n in range(10)])
    on_document, on_workspace = _permissions(Document), _permissions(Workspace)
    thirds = accounts[0::3], accounts[1::3], accounts[2::3]
    DocumentUserGrant.objects.bulk_create(
        DocumentUserGrant(user=one, permission=held, content_object=made.document)
        for one in thirds[0] for held in on_document
    )  # fmt: skip
    WorkspaceUserGrant.objects.bulk_create(
        WorkspaceUserGrant(user=one, permission=held, content_object=made.workspace)
        for one in thirds[1] for held in on_workspace
    )  # fmt: skip
    WorkspaceGroupGrant.objects.bulk_create(
        WorkspaceGroupGrant(group=group, permission=held, content_object=made.workspace)
        for group in groups for held in on_workspace
    )  # fmt: skip
    User.groups.through.objects.bulk_create(
        User.groups.through(user=one, group=groups[number % 10]) for number, one in enumerate(thirds[2])
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return accounts


def _permissions(model: type[Document] | type[Workspace]) -> list[Permission]:
    kind = ContentType.objects.get_for_model(model)
    return list(Permission.objects.filter(content_type=kind, codename__in=CODENAMES))
