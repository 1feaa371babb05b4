"""Readers of old snapshots: a read of a snapshot of main that main had left well before. Branches and tags are read on
purpose.
"""

from __future__ import annotations

from bisect import bisect_right

import polars as pl

from limnograph.domain.answers.reads import StaleRead
from limnograph.domain.time import MICROS_PER_SECOND, to_millis
from limnograph.services.lake.history import History

BEHIND_COMMITS = 10
BEHIND_SECONDS = 600
MOST_STALE = 100


def stale_reads(sums: pl.DataFrame, history: History) -> list[StaleRead]:
    """Snapshots that were more than BEHIND_COMMITS commits or BEHIND_SECONDS seconds behind when they were last read,
    newest first. `sums`: reads by engine and job.
    """
    times, ids = history.main_times, history.main_ids
    places: dict[int, list[int]] = {}
    for place, snapshot_id in enumerate(ids):
        places.setdefault(snapshot_id, []).append(place)
    kept = {change.to_value for change in history.of_kind("ref") if change.to_value is not None}
    found = []
    for row in sums.iter_rows(named=True):
        for each in row["snapshots"] or ():
            now = bisect_right(times, each["last_at"]) - 1
            before = [place for place in places.get(each["snapshot_id"], ()) if place <= now]
            if not before or before[-1] == now or str(each["snapshot_id"]) in kept:
                continue
            left = times[before[-1] + 1]
            behind_s, commits = (each["last_at"] - left) / MICROS_PER_SECOND, now - before[-1]
            if commits > BEHIND_COMMITS or behind_s > BEHIND_SECONDS:
                found.append(
                    StaleRead(
                        engine=row["engine"],
                        job=row["job_name"],
                        snapshot_id=str(each["snapshot_id"]),
                        reads=max(each["scans"], each["queries"]),
                        last_at=to_millis(each["last_at"]),
                        behind_seconds=behind_s,
                        behind_commits=commits,
                    )
                )
    return sorted(found, key=lambda read: -read.last_at)[:MOST_STALE]
