"""Rows `findings.*`: one commit, a call without news, all tables from the meta tables, and a page of many."""

from __future__ import annotations

from pathlib import Path

import meta_lake
from rows import Bench, Measure, Row, taken

TABLES, DAYS, TENTH = 500, 30, 10
OF_ALL = 5_000
OPEN = 20_000
COMMIT_MS, TICK_MS, PAGE_MS, COLD_S, COLD_MB = 1.0, 20.0, 5.0, 60.0, 500.0


def findings(bench: Bench) -> list[Row]:
    """500 tables with a commit every five minutes for 30 days; the limits are those of 5,000 tables with a tenth of the
    commits. In CI a tenth of the tables and seven days.
    """
    tables, days = (TABLES, DAYS) if bench.full else (TABLES // TENTH, 7)
    folder = Path(bench.scratch) / "meta"
    facts = meta_lake.build(folder, tables, days)
    commit, tick = taken("findings_commit", folder, tables // 2), taken("findings_tick", folder)
    cold, page = taken("findings_cold", folder), taken("findings_page", OPEN)
    part, goal = facts / (OF_ALL * 29 * DAYS), "limit of the goal"
    size = f"{facts:,} facts of {tables:,} tables"
    notes = (
        f"{goal}; 576 facts in memory; CPU, best run",
        f"{goal} for {tables:,} tables; {tick.value} open; CPU, best run",
        f"{goal} for {size}; {cold.value} open; CPU",
        f"{goal}; {size}; peak resident",
        f"{goal}; 50 of {page.value:,} of {OPEN:,} open ones, {OPEN // 10:,} notes; CPU, best run",
    )
    return [
        Row("findings.commit", commit.cpu_s * 1e3, COMMIT_MS, "ms", 1, notes[0]),
        Row("findings.tick", tick.cpu_s * 1e3, TICK_MS * tables / OF_ALL + 1, "ms", 1, notes[1]),
        Row("findings.cold", cold.cpu_s, COLD_S * part, "s", 1, notes[2]),
        Row("findings.cold_memory", cold.peak_mb, COLD_MB, "MB", 1, notes[3]),
        Row("findings.page", page.cpu_s * 1e3, PAGE_MS, "ms", 1, notes[4]),
    ]


MEASURES: dict[str, Measure] = {"findings": findings}
