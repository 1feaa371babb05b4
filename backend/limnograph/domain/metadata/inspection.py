"""The result of `limnograph inspect`: a document for other programs, and additional output for users.
The fields of Inspection and of the structs in it are a contract: none is ever omitted or added.
"""

from __future__ import annotations

import msgspec

from limnograph.domain.metadata.content import Shape
from limnograph.domain.time import Millis


class DocumentTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Live files and rows after a snapshot; None = unknown."""

    data_files: int | None
    delete_files: int | None
    records: int | None
    bytes: int | None
    position_deletes: int | None
    equality_deletes: int | None
    dvs: int | None


class FileDelta(msgspec.Struct, frozen=True, kw_only=True):
    """Files that a snapshot added or removed."""

    data_files: int | None
    delete_files: int | None
    records: int | None
    bytes: int | None


class InspectedSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One snapshot; ids are text, `committed_at` epoch milliseconds."""

    snapshot_id: str
    parent_id: str | None
    sequence_number: int | None
    committed_at: Millis | None
    operation: str | None
    totals: DocumentTotals
    added: FileDelta
    removed: FileDelta
    manifests: int | None
    status: str
    summary_mismatch: list[str]


class HeadState(msgspec.Struct, frozen=True, kw_only=True):
    """State at main's head. `snapshot_id` is None if nothing was ever committed; then every number is 0."""

    snapshot_id: str | None
    data_files: int | None
    delete_files: int | None
    records: int | None
    bytes: int | None
    partitions: int | None


class InspectedTable(msgspec.Struct, frozen=True, kw_only=True):
    """The table's identity; None for values that the metadata lacks, or if it cannot be read."""

    format: str | None
    format_version: int | None
    table_uuid: str | None
    location: str | None
    metadata_location: str
    current_schema_id: int | None
    default_spec_id: int | None
    refs: dict[str, dict[str, str]]


class InspectedProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A problem with its stable code; `snapshot_id` is None for a problem of the whole table."""

    code: str
    detail: str
    snapshot_id: str | None = None


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """The document. `status`: ok, partial or unreadable. `snapshots` in commit order."""

    table: InspectedTable
    status: str
    problems: list[InspectedProblem]
    snapshots: list[InspectedSnapshot]
    current: HeadState | None


class InspectedPartition(msgspec.Struct, frozen=True, kw_only=True):
    """Live files of one partition, and how many of them are small."""

    partition: str
    data_files: int
    delete_files: int
    small_files: int | None
    records: int | None
    bytes: int | None


class Structure(msgspec.Struct, frozen=True, kw_only=True):
    """The layout of the files of main's head, for users. Sizes are bytes.

    `rule`: the sentence behind `small_files` and the debt. `worst`: partitions with the most small files. `notes`:
    codes of deliberate omissions. `manifest_target`: manifest size of the table's writers.
    """

    rule: str | None
    target: int | None
    small_below: int | None
    small_files: int | None
    histogram: list[int] | None
    delete_bytes: int | None
    delete_target: int | None
    manifests: int | None
    delete_manifests: int | None
    manifest_bytes: int | None
    manifest_target: int | None
    metadata_bytes: int
    shape: Shape | None
    worst: list[InspectedPartition]
    notes: list[str]


class InspectionReport(msgspec.Struct, frozen=True, kw_only=True):
    """The document of the contract, and additional output for users. `structure`: None if main's head was not read."""

    document: Inspection
    structure: Structure | None
