"""Readers of old snapshots: a read of a snapshot of main that main had left well before. Branches and tags are read on
purpose.
"""

from __future__ import annotations

import polars as pl

from limnograph.domain.answers.reads import StaleRead
from limnograph.domain.time import to_millis
from limnograph.services.lake.history import History
from limnograph.services.reads.of_history import kept_snapshots, main_moves

MOST_STALE = 100


def stale_reads(sums: pl.DataFrame, history: History) -> list[StaleRead]:
    """Snapshots that were stale when they were last read (`analysis/behind.py`), newest first. `sums`: reads by engine
    and job.
    """
    moves, kept = main_moves(history), kept_snapshots(history)
    found = []
    for row in sums.iter_rows(named=True):
        for each in row["snapshots"] or ():
            behind = moves.behind(each["snapshot_id"], each["last_at"])
            if behind is None or not behind.is_stale or str(each["snapshot_id"]) in kept:
                continue
            found.append(
                StaleRead(
                    engine=row["engine"],
                    job=row["job_name"],
                    snapshot_id=str(each["snapshot_id"]),
                    reads=max(each["scans"], each["queries"]),
                    last_at=to_millis(each["last_at"]),
                    behind_seconds=behind.seconds,
                    behind_commits=behind.commits,
                )
            )
    return sorted(found, key=lambda read: -read.last_at)[:MOST_STALE]
