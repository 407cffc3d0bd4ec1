"""Roles are bundles of grants, each holding all of the one below (DESIGN 5)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from permissions.roles import OBJECT_PERMISSIONS, ROLE_GRANTS, Role, role_of

TABLE = {
    Role.VIEWER: "view",
    Role.COMMENTER: "view comment",
    Role.CONTRIBUTOR: "view comment start_turn propose_document",
    Role.EDITOR: "view comment start_turn propose_document change_document review_document",
    Role.OWNER: "view comment start_turn propose_document change_document review_document manage",
}


@pytest.mark.parametrize(("role", "codenames"), TABLE.items())
def test_each_role_holds_the_grants_of_the_table(role, codenames):
    assert ROLE_GRANTS[role] == set(codenames.split())


def test_each_role_holds_all_that_the_one_below_holds():
    assert all(ROLE_GRANTS[lower] < ROLE_GRANTS[higher] for lower, higher in pairwise(Role))


def test_every_grant_of_a_role_is_declared_on_what_it_is_held_on():
    assert ROLE_GRANTS[Role.OWNER] == {codename for codename, _ in OBJECT_PERMISSIONS}


@pytest.mark.parametrize(
    ("codenames", "role"),
    [
        ("", None),
        ("comment manage", None),
        ("view", Role.VIEWER),
        ("view start_turn", Role.VIEWER),
        ("view comment start_turn propose_document manage", Role.CONTRIBUTOR),
        ("view comment start_turn propose_document change_document review_document manage use_tool", Role.OWNER),
    ],
)
def test_the_role_is_the_highest_whose_grants_are_all_held(codenames, role):
    assert role_of(codenames.split()) is role
