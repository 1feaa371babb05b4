"""A table at a cut-off, about which a forecast is made: what was known then. The format: docs/forecast.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from limnograph.domain.time import Millis

ForecastMetric = Literal[
    "small_files",
    "total_delete_files",
    "delete_ratio",
    "manifests",
    "live_snapshots",
    "metadata_bytes",
    "skew_max_over_median",
    "reader_seconds",
    "reader_seconds_per_gib",
]
"""What may cross a threshold. Structural: mean of the last 24 hourly states. Readers: median of a day's runs."""

Numbers = Sequence[float | None]


class FactColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Columns of equal length, ascending `at`: one row per UTC hour with commits (`span_hours` 1) in the last 28 days,
    per UTC day with commits (24) before. Sums over the row's commits, then the state after its last commit; null: not
    known. A column that a source does not have may be missing.
    """

    at: Sequence[Millis]
    span_hours: Sequence[int]
    # sums
    commits: Numbers | None = None
    replaces: Numbers | None = None
    overwrites: Numbers | None = None
    added_data_files: Numbers | None = None
    removed_data_files: Numbers | None = None
    added_delete_files: Numbers | None = None
    added_bytes: Numbers | None = None
    removed_data_files_by_replace: Numbers | None = None
    # states
    total_data_files: Numbers | None = None
    total_delete_files: Numbers | None = None
    total_records: Numbers | None = None
    total_bytes: Numbers | None = None
    total_position_deletes: Numbers | None = None
    partitions_total: Numbers | None = None
    spec_id: Numbers | None = None
    small_files: Numbers | None = None
    manifests: Numbers | None = None
    live_snapshots: Numbers | None = None
    metadata_bytes: Numbers | None = None
    skew_max_over_median: Numbers | None = None


class ReaderRuns(msgspec.Struct, frozen=True, kw_only=True):
    """Runs of the one job that reads the table, by start. A null `read_bytes`: unknown."""

    job: str
    times: Sequence[Millis]
    duration_seconds: Numbers
    read_bytes: Numbers


class ForecastTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A question: will the level of `metric` reach `threshold`?"""

    metric: ForecastMetric
    threshold: float


class ForecastCase(msgspec.Struct, frozen=True, kw_only=True):
    """One table at `as_of`, a whole UTC hour. `first_seen`: there is no history before it. Cases of one `fleet` share
    `as_of` and a cluster.
    """

    id: str
    fleet: str
    table: str
    as_of: Millis
    first_seen: Millis
    horizons_hours: Sequence[int]
    target_file_bytes: float
    facts: FactColumns
    targets: Sequence[ForecastTarget]
    runs: ReaderRuns | None = None
