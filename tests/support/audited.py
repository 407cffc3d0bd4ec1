"""What the audit says of the test's database."""

from __future__ import annotations

from agents.audit.rows import Finding
from agents.audit.run import Progress, audit


def findings() -> list[Finding]:
    """Audit everything."""
    return list(audit(Progress()))


def violations() -> list[str]:
    """Return a line for everything that breaks a rule."""
    return [f"{found.rule} event {found.seq}: {found.because}" for found in findings() if not found.is_note]


def broken() -> set[str]:
    """Return the rules that are broken."""
    return {found.rule for found in findings() if not found.is_note}
