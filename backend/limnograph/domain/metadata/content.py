"""Contents of a table after one snapshot and the changes of that snapshot: the result of every format's reader. Readers
return counts; `services/extraction/extract.py` turns them into rows. A number that is not known is None, never 0; sizes
are bytes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from limnograph.domain.metadata.manifests import ManifestFile, PartitionKey
from limnograph.domain.time import Micros

PARTITIONS_KEPT = 1_000
"""A `full` row names this many partitions, the largest by bytes; a snapshot that changed more has a `full` row."""


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Live files after the snapshot. `small_files` is None where the table has no target size."""

    data_files: int | None
    records: int | None
    bytes: int | None
    small_files: int | None
    delete_files: int | None
    delete_bytes: int | None
    position_deletes: int | None
    equality_deletes: int | None
    dvs: int | None


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
"""Of a snapshot whose live files are not known."""


class SnapshotChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What the snapshot itself added and removed. `partitions`: partitions whose data or delete files it touched."""

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
    """Live files of one partition (all 0 when the snapshot emptied it) and the data files the snapshot moved there.

    `last_committed_at`: latest commit (microseconds) that touched it, None if no retained snapshot shows it.
    """

    data_files: int
    delete_files: int
    small_files: int | None
    records: int | None
    bytes: int | None
    added_data_files: int
    removed_data_files: int
    last_committed_at: Micros | None


class Partitions(msgspec.Struct, frozen=True, kw_only=True):
    """`changed`: every partition that the snapshot touched. `full`: the PARTITIONS_KEPT largest ones.

    `total`: partitions with a live file.
    """

    scope: Literal["changed", "full"]
    total: int
    states: dict[PartitionKey, PartitionState]


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers over all live files that do not add up from snapshot to snapshot (reference: Iceberg's bin-pack planner
    for debt; depth of overlap of the first sort or partition field; skew of partition bytes).

    `debt_outputs`: files that the debt's groups would become. `overlap_unbounded`: files that overlap leaves out.
    """

    debt_files: int | None = None
    debt_bytes: int | None = None
    debt_groups: int | None = None
    debt_outputs: int | None = None
    overlap_depth_max: int | None = None
    overlap_depth_mean: float | None = None
    overlap_unbounded: int | None = None
    skew_max_over_median: float | None = None
    skew_cv: float | None = None
    skew_gini: float | None = None
    skew_top1_share: float | None = None


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """One snapshot read to its entries. `histogram`: counts by `HISTOGRAM_EDGES`; `shape` None: not computed.

    `histogram` and `partitions` are None where only what the snapshot changed is known (a cleaned Delta log).
    """

    totals: Totals
    changed: SnapshotChanges
    histogram: list[int] | None
    partitions: Partitions | None
    shape: Shape | None = None


class Want(NamedTuple):
    """Which parts of a snapshot a caller needs. `entries`: read the deepest level; else the manifest list suffices.
    `changed_only`: partitions that the snapshot touched suffice (unless there are more than PARTITIONS_KEPT). `shape`:
    compute it (True), leave it (False), or compute it where the snapshot itself wrote a tenth of the live manifests
    (for formats without manifests: of the live files).
    """

    entries: bool = True
    changed_only: bool = False
    shape: bool | None = None


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The deepest level of a snapshot that could be read.

    `content` is there exactly for tier `entries`, `manifests` (lines of the manifest list) for `manifest_list` and
    `entries` of formats that have them. `problems`: codes of permanent damage; any of them makes the row `partial`.
    `notes`: codes of deliberate omissions (`shape_too_large`: more live files than the shape's limit); the row stays
    `ok`. Both are in column `problems`. `said`: numbers of the format without a column; they are in the row's summary
    with the writer's own. `details`: by code the damaged file and the reason, a sentence for users that rows do not
    keep.
    """

    tier: Literal["summary", "manifest_list", "entries"]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    manifests: list[ManifestFile] | None = None
    content: Content | None = None
    said: dict[str, str] = msgspec.field(default_factory=dict)
    details: dict[str, str] = msgspec.field(default_factory=dict)
