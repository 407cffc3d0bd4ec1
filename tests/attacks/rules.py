"""The switch of ablations: a test runs with its rule on and, patched out of the test's own process, with it off."""

from __future__ import annotations

import pytest

SWITCH = pytest.mark.parametrize("rule", ["on", pytest.param("off", marks=pytest.mark.corrupts)])
"""Gives a test ``rule``, on or off. With it off, what is left in the database need not satisfy the audit."""
