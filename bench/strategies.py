"""Rows `strategies.*`: the cost of maintaining an index next to the facts in six ways, and the resulting query cost.

`python bench/strategies.py` prints the table of docs/rollup-strategies.md from results.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rows import Bench, Measure, Row, taken

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "rollup-strategies.md"
BATCHES = 1_440
QUARTER = 4
ORIGIN_MEMORY_MB = 2_000
ALONE = "none"
GOAL = 0.75
"""The chosen strategy may reduce the ingest rate by a quarter at most."""
NAMES = {
    "none": ("facts alone", "no index: every question reads all facts"),
    "master": ("master each batch", "the hourly index is rewritten with every batch"),
    "hierarchical": ("hierarchical", "a micro index with every batch, folded into the hourly one when the hour ends"),
    "dual": ("dual", "the day's facts in memory answer for the last hours; an hour enters the index when it ends"),
    "decoupled": ("decoupled", "facts are appended; a timer rolls up what is new every 10 minutes"),
    "probabilistic": ("probabilistic", "rolled up with probability (files that wait)/1000, and when an hour ends"),
}
INTRODUCTION = """# Strategies of roll-ups, measured

Generated from `bench/results.json` by `python bench/strategies.py`; `make bench` writes both. Chosen in
[ADR 14](adr/0014-rollups-and-housekeeping.md).

%s batches, one a minute of a virtual day (all of it: 1440), each 500 facts of 100 tables with all columns of
`snapshots`, in an SQL catalog on local disk. The index is one row per table and hour. All strategies get the same
facts by the same writer (`bench/aging.py`: plain Iceberg metadata, the least that a commit can cost) and must give the
same answers. *Write impact* is what the index takes from the rate of ingest, by CPU seconds of one run; an engine adds
its own cost to every commit, so the number of commits tells what becomes of it there. *Hot* asks for the last two
hours, *cold* for the hours before: what every table added and its most files; best of 15. *Memory* is what the
strategy itself keeps in memory in the end; it grows with the batches.

| strategy | commits | write impact | hot | cold | memory |
|---|---:|---:|---:|---:|---:|
"""


def strategies(bench: Bench) -> list[Row]:
    """All strategies on the same batches."""
    batches = BATCHES if bench.full else BATCHES // QUARTER
    found: dict[str, dict[str, Any]] = {
        name: taken("day_of_batches", bench.scratch / name, name, batches).value for name in NAMES
    }
    alone = found[ALONE]
    rows: list[Row] = []
    for name, one in found.items():
        if one["answers"] != alone["answers"]:
            raise SystemExit(f"{name} gives another answer than the facts alone")
        appends = one["append_seconds"]
        both = appends + one["index_seconds"]
        impact = 100 * (appends / both - 1)
        told = (
            f"{one['commits']} commits for {batches} batches; write impact {impact:+.1f} %; with against without, CPU"
        )
        goal = GOAL if name == "decoupled" else 0.0
        rows += [
            Row(f"strategies.{name}.write", both, appends, "s", goal, told),
            Row(f"strategies.{name}.hot", one["hot_ms"], alone["hot_ms"], "ms", 0.0, "last two hours; best of 15"),
            Row(f"strategies.{name}.cold", one["cold_ms"], alone["cold_ms"], "ms", 0.0, "hours before; best of 15"),
        ]
        if one["held_mb"]:
            note = f"kept in memory after {batches} batches; the origin's figure"
            rows.append(Row(f"strategies.{name}.memory", one["held_mb"], ORIGIN_MEMORY_MB, "MB", 1.0, note))
    return rows


def document(results: dict[str, dict[str, Any]]) -> str:
    """The page as Markdown."""
    lines = [_line(name, results) for name in NAMES if f"strategies.{name}.write" in results]
    legend = [f"* **{short}**: {text}." for short, text in NAMES.values()]
    batches = results[f"strategies.{ALONE}.write"]["note"].split(" for ")[1].split(" ")[0]
    return INTRODUCTION % batches + "\n".join((*lines, "", *legend)) + "\n"


def _line(name: str, results: dict[str, dict[str, Any]]) -> str:
    write, hot, cold = (results[f"strategies.{name}.{what}"] for what in ("write", "hot", "cold"))
    memory = results.get(f"strategies.{name}.memory", {"ours": 0})
    impact = 100 * (write["peer"] / write["ours"] - 1)
    cells = (
        NAMES[name][0],
        write["note"].split(" ")[0],
        "0 %" if name == ALONE else f"{impact:+.1f} %",
        f"{hot['ours']:.1f} ms",
        f"{cold['ours']:.1f} ms",
        f"{memory['ours']:.0f} MB",
    )
    return f"| {' | '.join(cells)} |"


MEASURES: dict[str, Measure] = {"strategies": strategies}

if __name__ == "__main__":
    sys.stdout.write(document(json.loads((HERE / "results.json").read_text())))
