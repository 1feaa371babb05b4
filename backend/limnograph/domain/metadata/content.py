"""Contents of a table after one snapshot, and the changes of that snapshot: the result of every format's reader.
Readers return counts; `services/extraction/extract.py` turns them into rows. Unknown numbers are None, never 0; sizes
are bytes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from limnograph.domain.facts.column_stats import ColumnStat
from limnograph.domain.metadata.manifests import ManifestFile, PartitionKey
from limnograph.domain.time import Micros

PARTITIONS_KEPT = 1_000
"""Maximum number of partitions in a `full` row, the largest by bytes. A snapshot that changed more partitions gets a
`full` row.
"""


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Live files after the snapshot. `small_files` is None if the table has no target size. `oldest_delete_at`: commit
    (epoch microseconds) of the oldest live delete file; None without one, if that snapshot is not retained, or if the
    format does not record it.
    """

    data_files: int | None
    records: int | None
    bytes: int | None
    small_files: int | None
    delete_files: int | None
    delete_bytes: int | None
    position_deletes: int | None
    equality_deletes: int | None
    dvs: int | None
    oldest_delete_at: Micros | None = None


UNKNOWN_TOTALS = Totals(
    data_files=None,
    records=None,
    bytes=None,
    small_files=None,
    delete_files=None,
    delete_bytes=None,
    position_deletes=None,
    equality_deletes=None,
    dvs=None,
)
"""Totals of a snapshot whose live files are unknown."""


class SnapshotChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Files that the snapshot added and removed. `partitions`: number of partitions whose data or delete files it
    touched.
    """

    added_data_files: int | None
    added_delete_files: int | None
    added_records: int | None
    added_bytes: int | None
    removed_data_files: int | None
    removed_delete_files: int | None
    removed_records: int | None
    removed_bytes: int | None
    partitions: int | None


class PartitionState(msgspec.Struct, frozen=True, kw_only=True):
    """Live files of one partition (all 0 if the snapshot emptied it), and the data files that the snapshot added or
    removed.

    `last_committed_at`: the latest commit (epoch microseconds) that touched it; None if that snapshot is not retained.
    `oldest_delete_at`: as in Totals.
    """

    data_files: int
    delete_files: int
    small_files: int | None
    records: int | None
    bytes: int | None
    delete_bytes: int | None
    added_data_files: int
    removed_data_files: int
    last_committed_at: Micros | None
    oldest_delete_at: Micros | None = None


class Partitions(msgspec.Struct, frozen=True, kw_only=True):
    """States of partitions. `scope`: `changed`, every partition that the snapshot touched, or `full`, the
    PARTITIONS_KEPT largest ones.

    `total`: number of partitions with live files.
    """

    scope: Literal["changed", "full"]
    total: int
    states: dict[PartitionKey, PartitionState]


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers over all live files that cannot be derived by adding up snapshots: debt (as Iceberg's bin-pack planner
    computes it), depth of overlap of the first sort or partition field, sizes of partitions.

    `debt_outputs`: files that compaction of the debt would write. `debt_saved_files`: see `analysis.debt`.
    `overlap_unbounded`: files without bounds, which overlap does not count.
    """

    debt_files: int | None = None
    debt_bytes: int | None = None
    debt_groups: int | None = None
    debt_outputs: int | None = None
    debt_saved_files: int | None = None
    overlap_depth_max: int | None = None
    overlap_depth_mean: float | None = None
    overlap_unbounded: int | None = None
    skew_max_over_median: float | None = None
    skew_cv: float | None = None
    skew_gini: float | None = None
    skew_top1_share: float | None = None
    partition_files_max: int | None = None
    hot_partition: str | None = None
    hot_partition_ratio: float | None = None


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """One snapshot read down to its entries. `histogram`: counts by `HISTOGRAM_EDGES`; `shape`: None if it was not
    computed.

    `histogram` and `partitions` are None if only the snapshot's own changes are known (a cleaned Delta log).
    """

    totals: Totals
    changed: SnapshotChanges
    histogram: list[int] | None
    partitions: Partitions | None
    shape: Shape | None = None


class WantedColumn(NamedTuple):
    """A column whose statistics are wanted. `type`: as in the table's schema. `bounded`: with its bounds."""

    field_id: int
    name: str
    type: str
    bounded: bool


class Want(NamedTuple):
    """Which parts of a snapshot a caller needs. `entries`: read down to the entries; otherwise the manifest list
    suffices. `changed_only`: only partitions that the snapshot touched (unless there are more than PARTITIONS_KEPT).
    `shape`: compute it (True), omit it (False), or (None) compute it if the snapshot itself wrote a tenth of the live
    manifests (for formats without manifests: of the live files). `columns`: those whose statistics are wanted.
    """

    entries: bool = True
    changed_only: bool = False
    shape: bool | None = None
    columns: tuple[WantedColumn, ...] = ()


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The deepest level of a snapshot that could be read.

    `content` is set exactly for tier `entries`; `manifests` (entries of the manifest list) for `manifest_list` and
    `entries`, in formats that have them. `problems`: codes of permanent damage; any of them makes the row `partial`.
    `notes`: codes of deliberate omissions (`shape_too_large`: more live files than the shape's limit); the row stays
    `ok`. Both are in column `problems`. `said`: numbers of the format without a column, stored in the row's summary
    with the writer's own. `details`: for each code a sentence for users with the damaged file and the reason; rows do
    not contain it. `columns`: statistics of the wanted columns in the data files that the snapshot added; None if it
    added none or they are not known.
    """

    tier: Literal["summary", "manifest_list", "entries"]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    manifests: list[ManifestFile] | None = None
    content: Content | None = None
    said: dict[str, str] = msgspec.field(default_factory=dict)
    details: dict[str, str] = msgspec.field(default_factory=dict)
    columns: list[ColumnStat] | None = None
