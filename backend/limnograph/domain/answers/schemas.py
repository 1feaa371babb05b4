"""Schemas, partition specs and sort orders as the API returns them. Wire structs, as `domain/answers/tables.py`."""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.commits import ColumnOrigin
from limnograph.domain.answers.structure import PageHead
from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis

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
    """One difference between two schemas, by field id. `name`: dotted, after the change (dropped: before it).

    `risk` concerns programs that read the table: `breaking` if a query with the previous name or type fails or returns
    other results, `check` if it may.
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
    """A schema, partition spec or sort order that became current at `t` (first seen; after `not_before`). `risk` and
    `changes`: compared with the previous one; `first`: no earlier version is known.
    """

    kind: Literal["schema", "spec", "sort_order"]
    id: str
    previous_id: str | None
    t: Millis
    not_before: Millis | None
    first: bool
    risk: Risk
    sentence: str
    changes: list[FieldChange]
    fields: list[SpecField]
    schema_id: str | None
    spec_id: str | None
    sort_order_id: str | None


class FieldSpan(View, frozen=True, kw_only=True):
    """The state of a field from column `first` of the matrix, for `versions` columns."""

    first: int
    versions: int
    name: str
    type: str
    required: bool
    doc: str | None


class FieldHistory(View, frozen=True, kw_only=True):
    """A row of the matrix: one field id across all versions of the schema. Outside of its spans the field does not
    exist.
    """

    field_id: int
    name: str
    spans: list[FieldSpan]


class MatrixVersion(View, frozen=True, kw_only=True):
    """A column of the matrix: a schema and when it became current."""

    schema_id: str
    t: Millis


class SchemaPage(PageHead, frozen=True, kw_only=True):
    """`versions`: newest first. `matrix_versions`: oldest first, as `FieldSpan.first` counts them."""

    schema_id: str | None
    spec_id: str | None
    sort_order_id: str | None
    versions: list[StructureVersion]
    matrix_versions: list[MatrixVersion]
    matrix: list[FieldHistory]


class LineageRun(View, frozen=True, kw_only=True):
    """A successful run that wrote the table and reported the origin of its columns. `t`: its end. `snapshot_id`: the
    commit that it reported; null: none. `reads`: other tables that it read, at most 20.
    """

    run_id: str
    job: str | None
    t: Millis
    snapshot_id: str | None
    reads: list[str]


class ColumnSource(View, frozen=True, kw_only=True):
    """Where a column of the current schema comes from. `origins`: as the newest run states that names another table, at
    most 20 of `origins_total`; empty: unknown. `masked`: whether all values that it takes over are fully masked; null:
    not reported, or no value is taken over. `run_id`: that run. `own_run_id`: a newer run that names only the table
    itself as the origin, as updates do, and as OpenLineage reports every MERGE of Spark: what it wrote may come from
    elsewhere.
    """

    field_id: int
    column: str
    origins: list[ColumnOrigin]
    origins_total: int
    masked: bool | None
    run_id: str | None
    own_run_id: str | None


class LineagePage(PageHead, frozen=True, kw_only=True):
    """Top-level columns of the current schema, in its order. Only runs that ended at `since` or later and wrote to main
    are considered. `runs`: those that `columns` name, newest first.
    """

    since: Millis
    columns: list[ColumnSource]
    runs: list[LineageRun]
