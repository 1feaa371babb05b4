"""Thresholds of findings. Sources: docs/findings.md names one for each."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.finding_codes import FindingCode
from limnograph.domain.objectives import PromisedLimit
from limnograph.domain.time import MICROS_PER_SECOND

MINUTE = 60 * MICROS_PER_SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MIB = 1 << 20


SNAPSHOT_AGE = "history.expire.max-snapshot-age-ms"
KEPT_SNAPSHOTS = "history.expire.min-snapshots-to-keep"
MANIFEST_TARGET = "commit.manifest.target-size-bytes"
MANIFESTS_MERGED = "commit.manifest.min-count-to-merge"
DELETES_METADATA = "write.metadata.delete-after-commit.enabled"
ERASURE_DAYS = "limnograph.erasure-days"
THRESHOLD_PROPERTIES = (
    *(SNAPSHOT_AGE, KEPT_SNAPSHOTS, MANIFEST_TARGET, MANIFESTS_MERGED, DELETES_METADATA),
    ERASURE_DAYS,
)
"""Properties of a table that take the place of thresholds, or that a rule reads."""


class FindingLimits(NamedTuple):
    """Counts are files, partitions or snapshots; shares are fractions of one; times are microseconds."""

    disabled: frozenset[FindingCode] = frozenset()
    confirmed_after: int = 10 * MINUTE  # a level that was exceeded this long, or by two commits, opens a finding
    rest: int = HOUR  # between two transitions of one finding
    below: float = 0.8  # of its limit: a level closes
    expires_after: int = 7 * DAY  # an event without an effect
    small_table_bytes: int = 1 << 30
    burst_files: int = 1_000
    burst_over_usual: float = 5.0  # times the 99th percentile of the writer's commits
    burst_within: int = 5 * MINUTE  # commits of one writer that count as one
    burst_small_share: float = 0.25  # average added file below this fraction of the target
    burst_removed: float = 0.8  # of its files: merged or deleted
    saved_files: int = 20
    saved_share: float = 0.02  # of the live files
    data_files: int = 100_000
    partition_files: int = 10_000
    large_share: float = 0.75  # average file above this fraction of the target: the table is simply large
    replaces: int = 3
    replace_gaps: float = 3.0
    replace_least: int = DAY
    rewritten_files: int = 20
    removed_debt: float = 0.1
    delete_files: int = 20
    delete_share: float = 0.1  # delete files per data file
    equality_days: int = 7
    snapshots: int = 500
    snapshot_age: int = 5 * DAY  # default of history.expire.max-snapshot-age-ms
    metadata_bytes: int = 5 * MIB
    manifest_target: int = 8 * MIB  # default of commit.manifest.target-size-bytes
    manifest_factor: float = 2.0
    manifest_excess: int = 20
    manifests_merged: int = 100  # default of commit.manifest.min-count-to-merge
    metadata_versions: int = 100
    skew_partitions: int = 10
    skew_ratio: float = 10.0
    hot_ratio: float = 10.0  # times the median of the same period before
    stale_intervals: float = 3.0
    stale_least: int = HOUR
    retired_intervals: float = 30.0  # times the age at which a table is stale
    freshness: PromisedLimit | None = None  # of the table, from its objective
    silent_runs: int = 5
    silent_median: float = 3.0  # times the median gap between runs
    silent_p95: float = 1.5  # times the 95th percentile of the gaps at this time of the week
    silent_gaps: int = 3
    silent_least: int = 10 * MINUTE
    silent_retired: int = 7 * DAY
    failed_runs: int = 3  # in a row
    failed_of: int = 6
    failed_within: float = 6.0  # times the median gap
    slower: float = 1.10  # lower bound of the ratio
    stale_reads: int = 3  # of one reader within an hour
    unpruned_scans: int = 20  # of 7 days
    unpruned_share: float = 0.5  # of these scans
    unpruned_back: float = 0.3
    unpruned_opened: float = 0.5  # of the live files
    unpruned_bytes: int = 10 << 30
    slower_back: float = 1.10  # upper bound of the ratio
    usual_after: int = 7 * DAY  # a level that held this long is the new usual one
    contention_share: float = 0.2  # of the attempts of an hour that did not become a commit; half of it closes
    contention_attempts: int = 20
    stream_conflicts: int = 3  # within a day
    null_points: float = 0.05  # smallest change of a null share
    null_sigmas: float = 3.3  # of the two-proportion test: one in a thousand
    null_rows: int = 5  # rows of the commit that are not as usual
    column_commits: int = 20  # of the writer, before a column is judged
    column_back: int = 3  # commits of the writer: the measure is back
    bounds_ratio: float = 10.0  # times the range of the writer's commits
    bounds_future: int = DAY
    distinct_ratio: float = 3.0  # times the median, or a part of it
    distinct_seen: int = 5
    held_bytes: int = 1 << 30
    held_share: float = 0.05  # of the live bytes
    deletes_days: int = 30  # age of a live delete file; limnograph.erasure-days goes before it
    deleted_share: float = 0.1  # deleted rows per row
    deleted_for: int = 3 * DAY
    cardinality_partitions: int = 1_000
    cardinality_share: float = 0.1  # median partition below this fraction of the target
    cold_days: int = 90  # without a write
    cold_share: float = 0.5  # of the table's bytes
    cold_bytes: int = 10 << 30
    tiny_commits: int = 200  # of a writer within a day
    tiny_rows: int = 100  # median of these commits
    tiny_large_share: float = 0.25  # average file from this fraction of the target on: few, but large rows
    overlap_depth: int = 10
    overlap_share: float = 0.5  # of the files of the largest partition
    overlap_back: float = 0.5  # of the limit: closes
    rewriting_commits: int = 10  # within 7 days
    rewriting_dropped: float = 0.01  # of the rows that they write again
    rewriting_grown: float = 0.1  # rows that they add to those: beyond, it is a load
    lag_triggers: float = 3.0  # times the usual gap between the commits of a stream
    lag_least: int = MINUTE
    engine_days: int = 30  # an engine that was not seen for so long no longer counts
    catalog_tables: int = 100_000  # of a database: the default limit of AWS Glue
    catalog_share: float = 0.8
    catalog_slow: int = 1_000_000  # 95th percentile of the requests, microseconds
    catalog_errors: float = 0.01
    catalog_for: int = 15 * MINUTE
