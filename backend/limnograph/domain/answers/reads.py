"""Reads of a table as the API returns them. Wire structs, as `domain/answers/tables.py`.

Ids are text, instants epoch ms, durations seconds, shares 0 to 1; null = unknown, never 0.
"""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.contention import Contention
from limnograph.domain.answers.merge_on_read import MergeOnRead
from limnograph.domain.answers.partitions import SpanMs
from limnograph.domain.answers.structure import PageHead
from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis


class Durations(View, frozen=True, kw_only=True):
    """`count` durations that are known; null percentiles: none is."""

    count: int
    p50: float | None
    p95: float | None
    max: float | None


class ReadNumbers(View, frozen=True, kw_only=True):
    """Reads, added up. `files_opened`, `bytes`, `delete_files`: what scans had to read and apply. `live_files`: of the
    snapshots that were read, for the `live_scans` scans where that is known; of these files they opened
    `live_files_opened`, and `skipped_share` is the rest. `rows`, `read_bytes`: of queries that state both.
    `deletes_per_file`: delete files applied per data file opened.
    """

    scans: int
    queries: int
    planning: Durations
    query: Durations
    files_opened: int | None
    files_skipped: int | None
    live_scans: int
    live_files_opened: int | None
    live_files: int | None
    skipped_share: float | None
    manifests_scanned: int | None
    manifests_skipped: int | None
    bytes: int | None
    delete_files: int | None
    deletes_per_file: float | None
    rows: int | None
    read_bytes: int | None
    bytes_per_row: float | None
    last_at: Millis | None


class EngineReads(View, frozen=True, kw_only=True):
    """Reads of one engine; `engine` null: not stated."""

    engine: str | None
    numbers: ReadNumbers


class ReadPoint(View, frozen=True, kw_only=True):
    """Reads of the span that begins at `t`. `overlap_depth`: most files that cover one value of the first sort field,
    as of the newest commit before the span's end whose files were compared.
    """

    t: Millis
    scans: int
    queries: int
    planning_p95: float | None
    query_p95: float | None
    skipped_share: float | None
    overlap_depth: float | None


class FilterColumn(View, frozen=True, kw_only=True):
    """A column that scans filter. `share`: of the scans whose filter columns are known. `partitions`, `sorts`: whether
    the current partition spec or sort order uses it; null: unknown.
    """

    column: str
    scans: int
    share: float
    partitions: bool | None
    sorts: bool | None


class UserReads(View, frozen=True, kw_only=True):
    """Scans and queries of one user."""

    user: str
    reads: int


class ReaderRow(View, frozen=True, kw_only=True):
    """An engine, its version and a job that read, each null if not stated, with the most frequent users."""

    engine: str | None
    engine_version: str | None
    job: str | None
    users: list[UserReads]
    scans: int
    queries: int
    last_at: Millis | None


class StaleRead(View, frozen=True, kw_only=True):
    """A snapshot of main that a reader read although main had moved on. `last_at`: the newest of `reads`, which are
    scans or, of an engine that reports none, queries; `behind_seconds` and `behind_commits`: how far main was ahead of
    it then.
    """

    engine: str | None
    job: str | None
    snapshot_id: str
    reads: int
    last_at: Millis
    behind_seconds: float
    behind_commits: int


class ReadsPage(PageHead, frozen=True, kw_only=True):
    """Reads of a table in a range. `resolution` `hour`: the range is extended to whole hours, and percentiles are at
    most 19 % off. `filters_known`: scans whose filter columns are known. `points` of `step_s` seconds.
    """

    range: SpanMs
    resolution: Literal["raw", "hour"]
    total: ReadNumbers
    engines: list[EngineReads]
    step_s: int
    points: list[ReadPoint]
    filters_known: int
    filters: list[FilterColumn]
    readers: list[ReaderRow]
    stale: list[StaleRead]
    merges: MergeOnRead
    contention: Contention
