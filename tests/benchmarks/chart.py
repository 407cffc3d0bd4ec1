"""A bar chart as SVG: how much of its target each number uses up. It follows the reader's light or dark theme."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

WIDTH, LABELS, VALUES = 1180, 560, 250
ROW, BAR, TOP = 26, 14, 44
MOST = 1.5
"""A bar ends here; what is longer is cut off."""

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 } .quiet { fill: #59636e }
.met { fill: #2f6f4f } .missed { fill: #b3261e } line { stroke: #59636e; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .quiet { fill: #9198a1 }
.met { fill: #5fb88a } .missed { fill: #f2817a } line { stroke: #9198a1 }
}
"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One row: what it is, the share of its target that is used up, and the number in words."""

    label: str
    used: float
    said: str
    met: bool


def draw(bars: Iterable[Bar]) -> str:
    """Return the picture."""
    rows = list(bars)
    height = TOP + ROW * len(rows) + 10
    limit = LABELS + _length(1)
    body = "".join(_row(number, bar) for number, bar in enumerate(rows))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="How much of its target each number uses up">\n<style>{STYLE}</style>\n'
        f'<text class="quiet" x="{limit}" y="18" text-anchor="middle">the target</text>\n'
        f'<line x1="{limit}" x2="{limit}" y1="26" y2="{height - 6}"/>\n{body}</svg>\n'
    )


def _row(number: int, bar: Bar) -> str:
    top = TOP + ROW * number
    middle = top + BAR - 2
    kind = "met" if bar.met else "missed"
    said = bar.said if bar.met else f"{bar.said}, not met"
    return (
        f'<text x="{LABELS - 10}" y="{middle}" text-anchor="end">{escape(bar.label)}</text>'
        f'<rect class="{kind}" x="{LABELS}" y="{top}" width="{max(2, _length(bar.used))}" height="{BAR}" rx="2"/>'
        f'<text class="quiet" x="{WIDTH - VALUES + 10}" y="{middle}">{escape(said)}</text>\n'
    )


def _length(used: float) -> int:
    return round(min(used, MOST) / MOST * (WIDTH - LABELS - VALUES))
