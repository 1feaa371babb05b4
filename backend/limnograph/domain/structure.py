"""What the pages of a table's structure answer: partitions, schema history, refs. Wire structs, as `domain/answers.py`.

Ids are text, instants epoch ms, sizes bytes; null = not known, never 0. A note says in a sentence what is lacking.
"""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers import Health, PartitionField, View

NoteCode = Literal[
    "unreadable",
    "no_state",
    "no_state_before",
    "top_only",
    "rest_unknown",
    "shown_only",
    "heat_left_out",
    "names_are_identity",
    "no_sort_orders",
    "one_branch",
    "savepoints",
    "deletes_are_vectors",
    "deletes_are_logs",
    "versions_left_out",
    "moves_left_out",
    "meta_unread",
    "chain_broken",
    "retention_unknown",
]


class Note(View, frozen=True, kw_only=True):
    """What is not there and why: closed code and a sentence."""

    code: NoteCode
    sentence: str


class PageHead(View, frozen=True, kw_only=True):
    """Which table a page of its structure is about, and until when it is known (`watermark`)."""

    catalog: str
    namespace: str
    table: str
    format: str | None
    status: Health
    watermark: int | None
    notes: list[Note]


PartitionSort = Literal[
    "data_files",
    "bytes",
    "average_file_bytes",
    "small_files",
    "delete_ratio",
    "last_committed_at",
    "data_files_delta",
    "bytes_delta",
    "partition",
]


class Instant(View, frozen=True, kw_only=True):
    """The table as main had it at `t`. `snapshot_id` null: main or the row of its snapshot is not known there.

    `histogram`: live data files per bin of `PartitionsPage.edges`. `partitions`: those with a live file.
    """

    t: int
    snapshot_id: str | None
    committed_at: int | None
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
    """One partition at `at`. Shares are of the whole table; `delete_ratio`: delete files for each data file;
    `bytes_over_median`: against the median partition, null unless every partition is named. Deltas: since `cmp`.
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
    last_committed_at: int | None
    data_files_delta: int | None
    bytes_delta: int | None


class PartitionRest(View, frozen=True, kw_only=True):
    """Everything that no row of the answer shows: all live files minus those of the rows."""

    partitions: int | None
    data_files: int | None
    delete_files: int | None
    bytes: int | None


class HeatRow(View, frozen=True, kw_only=True):
    """Most data files that a partition had in each step; 0: it had none, null: not known."""

    partition: str
    spec_id: int | None
    data_files: list[int | None]


class PartitionHeat(View, frozen=True, kw_only=True):
    """Partitions by time, those with most files: `t` are starts of steps of `step` ms."""

    t: list[int]
    step: int
    rows: list[HeatRow]


class FileTrack(View, frozen=True, kw_only=True):
    """Live data files of the table over the range: each value holds until the next instant. The first instant is the
    range's start; of very many moves the largest in each of equal steps.
    """

    t: list[int]
    data_files: list[int | None]


class SpanMs(View, frozen=True, kw_only=True):
    """A range of time, epoch ms, half-open."""

    start: int
    end: int


class PartitionsPage(PageHead, frozen=True, kw_only=True):
    """Partitions at one instant, against another when asked (`before`). `named`: with a known state; `matching`: of
    those the ones that fit the filter; `rest`: null when a filter is given. `track` and `heat` are of `range`.
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


Risk = Literal["breaking", "check", "safe"]
FieldChangeKind = Literal[
    "added",
    "dropped",
    "renamed",
    "promoted",
    "retyped",
    "optional",
    "required",
    "doc",
    "default",
    "reordered",
    "reparented",
]


class FieldChange(View, frozen=True, kw_only=True):
    """One difference of two schemas, by field id. `name`: dotted, as after the change (dropped: as before).

    `risk` is that of programs which read the table: `breaking` when a query that names or types the column as before
    fails or answers otherwise, `check` when it may.
    """

    field_id: int
    name: str
    kind: FieldChangeKind
    before: str | None
    after: str | None
    risk: Risk
    sentence: str


class SpecField(View, frozen=True, kw_only=True):
    """A field of a partition spec or sort order; `column`: name of its source column then. Order: direction, nulls."""

    name: str
    transform: str
    column: str | None
    source_id: int | None
    order: str | None


class StructureVersion(View, frozen=True, kw_only=True):
    """A schema, partition spec or sort order that became the table's own at `t` (first seen; at the earliest after
    `not_before`). `risk` and `changes`: against the one before; `first`: nothing is known before it.
    """

    kind: Literal["schema", "spec", "sort_order"]
    id: str
    previous_id: str | None
    t: int
    not_before: int | None
    first: bool
    risk: Risk
    sentence: str
    changes: list[FieldChange]
    fields: list[SpecField]
    schema_id: str | None
    spec_id: str | None
    sort_order_id: str | None


class FieldSpan(View, frozen=True, kw_only=True):
    """What a field was from column `first` of the matrix on, `versions` columns long."""

    first: int
    versions: int
    name: str
    type: str
    required: bool
    doc: str | None


class FieldHistory(View, frozen=True, kw_only=True):
    """A row of the matrix: one field id through all versions of the schema. Without a span it was not there."""

    field_id: int
    name: str
    spans: list[FieldSpan]


class MatrixVersion(View, frozen=True, kw_only=True):
    """A column of the matrix: a schema and when it became the table's own."""

    schema_id: str
    t: int


class SchemaPage(PageHead, frozen=True, kw_only=True):
    """`versions`: newest first. `matrix_versions`: oldest first, as `FieldSpan.first` counts them."""

    schema_id: str | None
    spec_id: str | None
    sort_order_id: str | None
    versions: list[StructureVersion]
    matrix_versions: list[MatrixVersion]
    matrix: list[FieldHistory]


class Retention(View, frozen=True, kw_only=True):
    """What Iceberg's expiry keeps for a ref. Each with where it is said: by the ref, by a property of the table, or
    by nobody (Iceberg's default). `max_ref_age_ms` null: the ref stays for ever.
    """

    min_snapshots_to_keep: int | None
    max_snapshot_age_ms: int | None
    max_ref_age_ms: int | None
    min_snapshots_said_by: Literal["ref", "table", "default"] | None
    max_age_said_by: Literal["ref", "table", "default"] | None
    max_ref_age_said_by: Literal["ref", "table", "default"] | None


class RefRow(View, frozen=True, kw_only=True):
    """A branch or tag now. `committed_at`: of its snapshot. `ancestors`: known snapshots it leads to, itself included;
    `protected`: how many of those an expiry now would keep because of this ref, the oldest at `protected_from`;
    `ahead`, `behind`: snapshots that main does not have, and those of main that it does not have. `expires_at`: when
    expiry would remove the ref itself.
    """

    name: str
    type: Literal["branch", "tag"]
    snapshot_id: str
    committed_at: int | None
    moved_at: int | None
    retention: Retention | None
    ancestors: int | None
    protected: int | None
    protected_from: int | None
    ahead: int | None
    behind: int | None
    expires_at: int | None
    sentence: str


class RefMove(View, frozen=True, kw_only=True):
    """A ref that was made, moved or removed. `kind` of main's: commits are left out, `rolled_back` leads to an
    ancestor, `advanced` to a descendant, `moved` anywhere else or somewhere unknown.
    """

    name: str
    type: Literal["branch", "tag"]
    kind: Literal["created", "advanced", "rolled_back", "moved", "removed"]
    t: int
    not_before: int | None
    from_snapshot_id: str | None
    to_snapshot_id: str | None
    sentence: str


class RefsPage(PageHead, frozen=True, kw_only=True):
    """Branches and tags now, main first, and how they moved, newest first. `live_snapshots`: of the table."""

    live_snapshots: int | None
    refs: list[RefRow]
    moves: list[RefMove]
