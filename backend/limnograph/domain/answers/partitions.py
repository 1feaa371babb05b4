"""Partitions of a table as the API returns them. Wire structs, as `domain/answers/tables.py`."""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.structure import PageHead
from limnograph.domain.answers.tables import PartitionField
from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis

PartitionSort = Literal[
    "data_files",
    "bytes",
    "average_file_bytes",
    "small_files",
    "delete_ratio",
    "delete_bytes",
    "oldest_delete_at",
    "last_committed_at",
    "data_files_delta",
    "bytes_delta",
    "partition",
]


class Instant(View, frozen=True, kw_only=True):
    """The state of main at `t`. `snapshot_id` null: main, or the row of its snapshot, is unknown at that time.

    `histogram`: live data files per bin of `PartitionsPage.edges`. `partitions`: those with a live file.
    """

    t: Millis
    snapshot_id: str | None
    committed_at: Millis | None
    data_files: int | None
    delete_files: int | None
    bytes: int | None
    small_files: int | None
    partitions: int | None
    target_file_bytes: int | None
    skew_max_over_median: float | None
    skew_top1_share: float | None
    histogram: list[int] | None


class PartitionRow(View, frozen=True, kw_only=True):
    """One partition at `at`. Shares are relative to the table; `delete_ratio`: delete files for each data file;
    `delete_bytes_ratio`: their bytes for each byte of data files; `oldest_delete_at`: commit that added the oldest live
    delete file, null without one or if it is unknown;
    `bytes_over_median`: relative to the median partition, null unless every partition is named. Deltas: since `cmp`.
    """

    partition: str
    spec_id: int | None
    data_files: int | None
    delete_files: int | None
    small_files: int | None
    records: int | None
    bytes: int | None
    average_file_bytes: float | None
    files_share: float | None
    bytes_share: float | None
    bytes_over_median: float | None
    delete_ratio: float | None
    delete_bytes: int | None
    delete_bytes_ratio: float | None
    oldest_delete_at: Millis | None
    last_committed_at: Millis | None
    data_files_delta: int | None
    bytes_delta: int | None


class PartitionRest(View, frozen=True, kw_only=True):
    """Everything that is not in the rows: all live files minus those of the rows."""

    partitions: int | None
    data_files: int | None
    delete_files: int | None
    bytes: int | None


class HeatRow(View, frozen=True, kw_only=True):
    """Maximum number of data files of a partition in each step; 0: none, null: unknown."""

    partition: str
    spec_id: int | None
    data_files: list[int | None]


class PartitionHeat(View, frozen=True, kw_only=True):
    """Partitions over time, those with the most files: `t` are the starts of steps of `step` ms."""

    t: list[Millis]
    step: int
    rows: list[HeatRow]


class FileTrack(View, frozen=True, kw_only=True):
    """Live data files of the table over the range: each value holds until the next instant. The first instant is the
    start of the range; with very many changes, the largest in each of equal steps.
    """

    t: list[Millis]
    data_files: list[int | None]


class SpanMs(View, frozen=True, kw_only=True):
    """A range of time, epoch ms, half-open."""

    start: Millis
    end: Millis


class PartitionsPage(PageHead, frozen=True, kw_only=True):
    """Partitions at one instant, compared with another if requested (`before`). `named`: those with a known state;
    `matching`: of those, the ones that match the filter; `rest`: null with a filter. `track` and `heat` are of `range`.
    """

    edges: list[int]
    spec_id: int | None
    partition_fields: list[PartitionField]
    after: Instant
    before: Instant | None
    named: int
    matching: int
    rows: list[PartitionRow]
    rest: PartitionRest | None
    range: SpanMs
    track: FileTrack
    heat: PartitionHeat | None
