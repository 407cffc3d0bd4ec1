"""Results as a text for the terminal, as JSON, as the tables of docs/performance.md, and as a chart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks import chart

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = Path(__file__).parent / "results"
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "images" / "performance.svg"
PART = re.compile(r"(<!-- results:(?P<figure>\w+) -->\n).*?(<!-- /results -->)", re.DOTALL)
VERDICTS = {True: "met", False: "**not met**", None: ""}
HEAD = "| | database | Accord | beside it | ratio | target | |\n|---|---|--:|--:|--:|--:|---|\n"

Found = Mapping[str, Mapping[str, Any]]


def text(figure: str, found: Mapping[str, Any]) -> str:
    """Return one figure's results for the terminal."""
    lines = [f"\n{figure}, {found['at']}{', quick: the numbers mean little' if found['quick'] else ''}"]
    for run in found["runs"]:
        why = f": not measured, {run['not_measured']}" if "not_measured" in run else f", load {_load(run)}"
        lines.append(f"  {run['database']}{why}")
        lines += [f"    {_line(row)}" for row in run["results"]]
    return "\n".join(lines) + "\n"


def publish(found: Found) -> None:
    """Keep the results, write them into docs/performance.md, and draw the chart of all that are kept."""
    for figure, kept in found.items():
        (RESULTS / f"{figure}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    page()


def page() -> None:
    """Write the kept results into docs/performance.md, and draw the chart."""
    kept = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    PAGE.write_text(PART.sub(lambda part: f"{part[1]}{_table(part['figure'], kept)}{part[3]}", PAGE.read_text()))
    PICTURE.write_text(chart.draw(_bars(kept)))


def all_met(found: Found) -> bool:
    """Say whether everything was measured and every target met."""
    runs = [run for figure in found.values() for run in figure["runs"]]
    return all("not_measured" not in run and all(row["met"] is not False for row in run["results"]) for run in runs)


def _table(figure: str, kept: Found) -> str:
    if figure == "versions":
        return _versions(kept)
    if figure not in kept:
        return "Not published yet.\n"
    found = kept[figure]
    lines = [f"| {' | '.join(_cells(row))} |" for run in found["runs"] for row in run["results"]]
    left_out = [
        f"{run['database']}: not measured, {run['not_measured']}." for run in found["runs"] if "not_measured" in run
    ]
    loads = "; ".join(f"{run['database']} {_load(run)}" for run in found["runs"] if "load" in run)
    machine = f"{found['machine']['cores']} cores, priority {found['machine']['priority']}"
    when = f"Measured {found['at']}, {machine}; load before → after: {loads}."
    return f"{HEAD}{chr(10).join(lines)}\n\n{' '.join([when, *left_out])}\n"


def _versions(kept: Found) -> str:
    found = {name: version for figure in kept.values() for name, version in figure["versions"].items()}
    return f"Versions: {', '.join(f'{name} {version}' for name, version in found.items())}.\n"


def _cells(row: Mapping[str, Any]) -> list[str]:
    beside = "" if row["reference"] is None else _number(row["reference"], row["unit"])
    name = row["name"] + (f" ({row['note']})" if row["note"] else "")
    against = f"{beside}, {row['against']}" if beside else row["against"]
    ratio = "" if row["ratio"] is None else f"{row['ratio']:g} ×"
    value = "not measured" if row["value"] is None else _number(row["value"], row["unit"])
    return [name, row["database"], value, against, ratio, row["target"] or "", VERDICTS[row["met"]]]


def _line(row: Mapping[str, Any]) -> str:
    name, _, *cells = _cells(row)
    return f"{name}: {' | '.join(filter(None, cells))}".replace("*", "")


def _number(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}".rstrip() if value == int(value) else f"{value:g} {unit}".rstrip()


def _load(run: Mapping[str, Any]) -> str:
    load = run.get("load")
    return "unknown" if load is None else f"{load['before'][0]:g} → {load['after'][0]:g}"


def _bars(kept: Found) -> Iterator[chart.Bar]:
    """Every ratio that has a target, as the share of the target that it uses up."""
    for found in kept.values():
        for run in found["runs"]:
            for row in run["results"]:
                if row["target"] and row["value"] is not None and (used := _used(row)) is not None:
                    label = f"{row['name']}, {row['database']}"
                    yield chart.Bar(label, used, f"{_said(row)} ({row['target']})", met=bool(row["met"]))


def _said(row: Mapping[str, Any]) -> str:
    return f"{row['ratio']:g} ×" if row["target"].endswith("×") else _number(row["value"], row["unit"])


def _used(row: Mapping[str, Any]) -> float | None:
    """Return how much of its target a row uses up: below 1 it is met, however it is bounded."""
    found = re.search(r"[\d.]+", row["target"].replace(",", ""))
    held = row["ratio"] if row["target"].endswith("×") else row["value"]
    limit = float(found[0]) if found else 0.0
    if held is None or not limit:
        return None
    return held / limit if row["target"].startswith("≤") else limit / held
