"""What a decision costs with 20,000 grants in the tables, beside one hand-written query and beside `user.has_perm`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import Template
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.test.utils import override_settings

from collab.models.documents import Document
from collab.models.grants import (
    DocumentGroupGrant,
    DocumentUserGrant,
    ThreadGroupGrant,
    ThreadUserGrant,
    WorkspaceGroupGrant,
    WorkspaceUserGrant,
)
from collab.models.workspaces import Workspace
from permissions.decisions import Action, Level
from permissions.gate import decide_on
from permissions.models import User
from tests.benchmarks import people
from tests.benchmarks.places import POSTGRESQL
from tests.benchmarks.results import Result, Target, at_most, p50, ratio_at_least, ratio_at_most
from tests.benchmarks.run import Run
from tests.benchmarks.timing import alternately
from tests.support.cast import Someone, Studio
from tests.support.queries import queries

BACKENDS = ["django.contrib.auth.backends.ModelBackend", "guardian.backends.ObjectPermissionBackend"]
ROUNDS = 400
GRANTED = 100
"""Objects of each kind that the other grants are on; each is held by this many accounts and groups in turn."""


def measure(run: Run) -> list[Result]:
    """Count the statements of a decision, and time it."""
    made = people.studio()
    held = fill(made, run.size(10_000, 1_000))
    with override_settings(AUTHENTICATION_BACKENDS=BACKENDS):
        took = alternately(
            {
                "decide": lambda: decide_on(made.ben.actor, Action.CHANGE_DOCUMENT, made.document),
                "agent": lambda: decide_on(
                    made.robin.acting_for(made.ben, made.thread), Action.CHANGE_DOCUMENT, made.document
                ),
                "sql": _by_hand(made.ben, made.document),
                "has_perm": _fresh(made.ben, made.document),
            },
            run.size(ROUNDS, 100),
        )
    at = f"at {held:,} grants"
    by_hand = _Beside(took["sql"], "one hand-written query through the same cursor", at)
    on_postgres = ratio_at_most(3) if run.database == POSTGRESQL else None
    faster = _Beside(took["decide"], "decide, a person", at)
    return [
        Result("decide for a write, statements", _statements(made), "", None, "", at_most(2), at),
        by_hand.row("decide, a person", took["decide"], on_postgres),
        by_hand.row("decide, an agent for a person", took["agent"], None),
        faster.row("reading a user afresh and asking user.has_perm", took["has_perm"], ratio_at_least(3)),
    ]


@dataclass(frozen=True, slots=True)
class _Beside:
    """What times are held against."""

    times: Sequence[float]
    against: str
    note: str

    def row(self, name: str, took: Sequence[float], target: Target | None) -> Result:
        return Result(f"{name}, p50", p50(took), "ms", p50(self.times), self.against, target, self.note)


def _statements(made: Studio) -> int:
    acting = made.robin.acting_for(made.ben, made.thread)
    with transaction.atomic(), queries() as sent:
        decided = decide_on(acting, Action.CHANGE_DOCUMENT, made.document, for_write=True)
    assert decided.level is Level.ALLOW
    return len(sent)


def fill(made: Studio, each: int) -> int:
    """Fill the tables with this many grants of accounts and as many of groups, and return how many there are."""
    accounts = User.objects.bulk_create(
        [User(username=f"holder{number}", password="!") for number in range(each // GRANTED)]
    )
    groups = Group.objects.bulk_create([Group(name=f"team {number}") for number in range(each // GRANTED)])
    kind = ContentType.objects.get_for_model(Document)
    permission = Permission.objects.get(content_type=kind, codename="change_document")
    for account, group in zip(accounts, groups, strict=True):
        account.groups.add(group)
    made.ben.user.groups.add(*groups[:3])
    documents = Document.objects.bulk_create(
        [Document(workspace=made.workspace, title=f"Document {n}", kind="markdown", data={}) for n in range(GRANTED)]
    )
    DocumentUserGrant.objects.bulk_create(
        DocumentUserGrant(user=account, permission=permission, content_object=document)
        for account in accounts
        for document in documents
    )
    DocumentGroupGrant.objects.bulk_create(
        DocumentGroupGrant(group=group, permission=permission, content_object=document)
        for group in groups
        for document in documents
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return sum(model.objects.count() for model in _TABLES)


_TABLES: tuple[Any, ...] = (
    *(DocumentUserGrant, DocumentGroupGrant, ThreadUserGrant, ThreadGroupGrant),
    *(WorkspaceUserGrant, WorkspaceGroupGrant),
)

_BY_HAND = Template("""
SELECT p.codename FROM $document_users g JOIN auth_permission p ON p.id = g.permission_id
WHERE g.user_id = %s AND g.content_object_id = %s
UNION ALL
SELECT p.codename FROM $document_groups g JOIN auth_permission p ON p.id = g.permission_id
JOIN permissions_user_groups m ON m.group_id = g.group_id WHERE m.user_id = %s AND g.content_object_id = %s
UNION ALL
SELECT p.codename FROM $workspace_users g JOIN auth_permission p ON p.id = g.permission_id
WHERE g.user_id = %s AND g.content_object_id = %s
UNION ALL
SELECT p.codename FROM $workspace_groups g JOIN auth_permission p ON p.id = g.permission_id
JOIN permissions_user_groups m ON m.group_id = g.group_id WHERE m.user_id = %s AND g.content_object_id = %s
""")


def _by_hand(someone: Someone, document: Document) -> Any:
    """Return what asks, by hand, which grants a person holds on a document and its workspace."""
    text = _BY_HAND.substitute(
        document_users=DocumentUserGrant._meta.db_table, document_groups=DocumentGroupGrant._meta.db_table,
        workspace_users=WorkspaceUserGrant._meta.db_table, workspace_groups=WorkspaceGroupGrant._meta.db_table,
    )  # fmt: skip
    person, place, scope = (_adapted(id) for id in (someone.id, document.id, document.workspace_id))
    parameters = [person, place, person, place, person, scope, person, scope]

    def ask() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(text, parameters)
            return ("change_document",) in cursor.fetchall()

    assert ask()
    return ask


def _adapted(id: UUID) -> Any:
    return Workspace._meta.pk.get_db_prep_value(id, connection)


def _fresh(someone: Someone, document: Document) -> Any:
    """Return what asks Django's backends for a user as the database has them now, as `decide` does."""
    return lambda: User.objects.get(pk=someone.id).has_perm("collab.change_document", document)
