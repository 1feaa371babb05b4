"""Rows `pipeline.append_age_ratio`, `pipeline.append_left_alone`, `pipeline.scan_after_housekeeping`: the benefit of
housekeeping.
"""

from __future__ import annotations

from rows import Bench, Measure, Row, same, taken

YOUNG, OLD = 100, 10_000
DAY_COMMITS = 1_440
TENTH = 10


def append_age(bench: Bench) -> list[Row]:
    """An append of 500 facts costs the same at 10,000 commits as at 100, because the table is kept small."""
    commits = OLD if bench.full else OLD // TENTH
    found = taken("append_at_age", bench.scratch, YOUNG, commits).value
    seconds, stands = found["seconds"], found["stands"]
    how = (
        "housekeeping every 12 hours of a clock that runs ahead, roll-ups left out; wall, medians of 15 by turns in "
        f"one session; aged in {found['aged_seconds'] / 60:.0f} min"
    )
    note = f"500 facts appended by Spark at {commits:,} commits ({stands['old']}) against {YOUNG} ({stands['young']})"
    left = f"the same at {commits:,} commits against a table that nobody kept ({stands['left']})"
    return [
        Row("pipeline.append_age_ratio", seconds["old"], seconds["young"], "s", 0.83, f"{note}; at most 1.2x; {how}"),
        Row("pipeline.append_left_alone", seconds["old"], seconds["left"], "s", 1, f"{left}; {how}"),
    ]


def scan(bench: Bench) -> list[Row]:
    """A full scan of a day of commits every 60 s."""
    found = []
    for compacted in ("yes", "no"):
        folder = bench.scratch / compacted
        files = taken("make_day", folder, DAY_COMMITS, compacted).value
        found.append((files, taken("scan_day", folder)))
    (kept_files, ours), (left_files, peer) = found
    same(ours, peer)
    note = f"the day in {kept_files} files against {left_files}, {ours.value} rows; embedded engine; wall, median of 3"
    return [Row("pipeline.scan_after_housekeeping", ours.wall_s, peer.wall_s, "s", 50, note)]


MEASURES: dict[str, Measure] = {"append_age": append_age, "scan": scan}
