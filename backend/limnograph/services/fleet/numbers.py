"""Values and deltas of a table over a range, for fleet rows and table pages."""

from __future__ import annotations

import numpy as np

from limnograph.domain.answers.tables import Health, TableDeltas, TableValues
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.thresholds import JobPace
from limnograph.domain.time import Micros, to_millis
from limnograph.services.fleet.view import RangeView, State
from limnograph.services.lake.columns import Ints
from limnograph.services.lake.history import History

SPARK_POINTS = 24


def values(seen: RangeView) -> TableValues:
    """Numbers at the end of the range."""
    row = seen.after
    return TableValues(
        data_files=row.total_data_files if row else None,
        delete_files=row.total_delete_files if row else None,
        records=row.total_records if row else None,
        bytes=row.total_bytes if row else None,
        small_files=row.small_files if row else None,
        file_size_p50=row.file_size_p50 if row else None,
        manifests=row.manifests if row else None,
        live_snapshots=row.live_snapshots if row else None,
        skew_max_over_median=row.skew_max_over_median if row else None,
        commits=seen.commits,
        last_committed_at=to_millis(seen.moved_at),
        job_duration_seconds=seen.pace.now_s if seen.pace else None,
        job_p95_seconds=seen.pace.p95_now_s if seen.pace else None,
    )


def deltas(then: State | None, now: State | None, pace: JobPace | None) -> TableDeltas:
    """The change from one state to another; no delta if the table did not exist at the first one."""

    def change(name: str) -> int | None:
        before = getattr(then, name) if then else None
        after = getattr(now, name) if now else None
        return None if before is None or after is None else after - before

    return TableDeltas(
        data_files=change("total_data_files"),
        delete_files=change("total_delete_files"),
        records=change("total_records"),
        bytes=change("total_bytes"),
        job_duration_ratio=_rounded(pace.ratio if pace else None),
        job_p95_ratio=_rounded(pace.p95_ratio if pace else None),
    )


def _rounded(ratio: float | None) -> float | None:
    return None if ratio is None else round(ratio, 3)


def spark_instants(start: Micros, end: Micros) -> Ints:
    """SPARK_POINTS equidistant instants (epoch microseconds), the last one at the end of the range."""
    width = (end - start) / SPARK_POINTS
    return np.array([int(start + width * (i + 1)) - 1 for i in range(SPARK_POINTS)], np.int64)


def health(history: History, row: SnapshotFact | State | None) -> Health:
    """Whether the newest state is complete, from the row and the table's own changes."""
    if history.dropped:
        return "dropped"
    if history.table.unreadable:
        return "unreadable"
    if row is None:
        return "unknown"
    return "partial" if row.status in {"partial", "unreadable"} else "ok"
