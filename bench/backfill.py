"""Rows `pipeline.first_sight_*`: first observation of a table with years of commits, with 1 GB for the driver."""

from __future__ import annotations

from rows import Bench, Measure, Row, taken

SNAPSHOTS, DAYS, NEWEST_DAYS = 10_000, 1_000, 31
TENTH = 10
NEWEST_SECONDS, HISTORY_SECONDS = 30.0, 240.0


def first_sight(bench: Bench) -> list[Row]:
    """Seconds from program start until a reader can see the newest 31 days, and all days."""
    snapshots, days = (SNAPSHOTS, DAYS) if bench.full else (SNAPSHOTS // TENTH, DAYS // TENTH)
    folder = bench.scratch / "lake"
    taken("make_history", folder, snapshots, days)
    found = taken("first_sight", folder, NEWEST_DAYS).value
    if found["appended"] != snapshots:
        raise SystemExit(f"{found['appended']} of {snapshots} snapshots were appended")
    told = (
        f"{snapshots:,} snapshots over {days:,} days at first sight, local[2], driver of 1 GB, start of Spark included"
    )
    # How soon the newest days are visible does not depend on the days before them; the rest grows with those.
    limit = NEWEST_SECONDS + (HISTORY_SECONDS - NEWEST_SECONDS) * snapshots / SNAPSHOTS
    law = (
        "" if bench.full else f"; a tenth, whose limit is {limit:.0f} s: behind the newest days linear in the snapshots"
    )
    return [
        Row("pipeline.first_sight_31_days", found["newest"], NEWEST_SECONDS, "s", 1, f"{told}; peer is the limit"),
        Row("pipeline.first_sight_history", found["all"], limit, "s", 1, f"{told}{law}; peer is the limit"),
    ]


MEASURES: dict[str, Measure] = {"first_sight": first_sight}
