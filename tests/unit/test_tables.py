"""Cells of a table that a spreadsheet opens (FAILURES M3)."""

from __future__ import annotations

import pytest

from permissions.tables import plain

RUN = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", " =1+1", "\u00a0\u2003=1", " \t=1")


@pytest.mark.parametrize("cell", RUN)
def test_what_a_spreadsheet_would_run_is_text(cell: str) -> None:
    assert plain(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "Ana", "a=1", " Ana", "1-2", "'=1"])
def test_any_other_cell_stays_as_it_is(cell: str) -> None:
    assert plain(cell) == cell
