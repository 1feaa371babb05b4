"""`inspect`: one table's whole history as the document of DESIGN §11. Reads every snapshot to its entries."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import structs

from limnograph.domain.content import Reading, Want
from limnograph.domain.due import DueTable
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.facts import SnapshotFact
from limnograph.domain.metadata import Problem, Snapshot, TableMetadata
from limnograph.ports.clock import Clock
from limnograph.ports.table_reader import TableReader
from limnograph.services.extract import facts_of


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Live files and rows after a snapshot; None = not known."""

    data_files: int | None
    delete_files: int | None
    records: int | None
    bytes: int | None
    position_deletes: int | None
    equality_deletes: int | None
    dvs: int | None


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """What a snapshot added or removed."""

    data_files: int | None
    delete_files: int | None
    records: int | None
    bytes: int | None


class InspectedSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One snapshot; ids are text, `committed_at` epoch milliseconds."""

    snapshot_id: str
    parent_id: str | None
    sequence_number: int | None
    committed_at: int | None
    operation: str | None
    totals: Totals
    added: Moved
    removed: Moved
    manifests: int | None
    status: str
    summary_mismatch: list[str]


class Current(msgspec.Struct, frozen=True, kw_only=True):
    """State at main's head."""

    snapshot_id: str
    data_files: int | None
    delete_files: int | None
    records: int | None
    bytes: int | None
    partitions: int | None


class InspectedTable(msgspec.Struct, frozen=True, kw_only=True):
    """The table's identity; None where the metadata does not say it or cannot be read."""

    format: str
    format_version: int | None
    table_uuid: str | None
    location: str | None
    metadata_location: str
    current_schema_id: int | None
    default_spec_id: int | None
    refs: dict[str, dict[str, str]]


class InspectedProblem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A problem with its stable code."""

    code: str
    detail: str
    snapshot_id: str | None = None


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """The document. `status`: ok, partial or unreadable."""

    table: InspectedTable
    status: str
    problems: list[InspectedProblem]
    snapshots: list[InspectedSnapshot]
    current: Current | None


def inspect(location: str, reader: TableReader, clock: Clock) -> Inspection:
    """Document of the table whose metadata file is `location`. Raises SourceError when storage does not answer."""
    try:
        metadata = reader.metadata(location)
    except MetadataError as error:
        return _unreadable(location, error)
    facts = _facts(metadata, _Forgiving(reader), clock)
    problems = [*map(_problem, metadata.problems), *_snapshot_problems(facts)]
    return Inspection(
        table=_table(metadata),
        status="partial" if problems else "ok",
        problems=problems,
        snapshots=[_snapshot(fact) for fact in facts],
        current=_current(metadata, {fact.snapshot_id: fact for fact in facts}),
    )


def _facts(metadata: TableMetadata, reader: TableReader, clock: Clock) -> list[SnapshotFact]:
    """One snapshot at a time, so that no limit of a pass turns entries into lists."""
    return [
        fact
        for snapshot in metadata.ordered
        for fact in facts_of(metadata, _due(metadata, snapshot.snapshot_id), reader, clock)
    ]


def _due(metadata: TableMetadata, snapshot_id: int) -> DueTable:
    return DueTable(
        catalog="",
        namespace="",
        table="",
        table_uuid=metadata.table_uuid,
        metadata_location=metadata.metadata_location,
        snapshot_ids=[snapshot_id],
    )


def _table(metadata: TableMetadata) -> InspectedTable:
    return InspectedTable(
        format=metadata.format,
        format_version=metadata.format_version,
        table_uuid=metadata.table_uuid,
        location=metadata.location,
        metadata_location=metadata.metadata_location,
        current_schema_id=metadata.current_schema_id,
        default_spec_id=metadata.default_spec_id,
        refs={name: {"type": r.type, "snapshot_id": str(r.snapshot_id)} for name, r in metadata.refs.items()},
    )


def _snapshot(fact: SnapshotFact) -> InspectedSnapshot:
    return InspectedSnapshot(
        snapshot_id=str(fact.snapshot_id),
        parent_id=None if fact.parent_id is None else str(fact.parent_id),
        sequence_number=fact.sequence_number,
        committed_at=None if fact.committed_at is None else fact.committed_at // 1000,
        operation=fact.operation,
        totals=Totals(
            data_files=fact.total_data_files,
            delete_files=fact.total_delete_files,
            records=fact.total_records,
            bytes=fact.total_bytes,
            position_deletes=fact.total_position_deletes,
            equality_deletes=fact.total_equality_deletes,
            dvs=fact.total_dvs,
        ),
        added=Moved(
            data_files=fact.added_data_files,
            delete_files=fact.added_delete_files,
            records=fact.added_records,
            bytes=fact.added_bytes,
        ),
        removed=Moved(
            data_files=fact.removed_data_files,
            delete_files=fact.removed_delete_files,
            records=fact.removed_records,
            bytes=fact.removed_bytes,
        ),
        manifests=fact.manifests,
        status=fact.status or "ok",
        summary_mismatch=fact.summary_mismatch or [],
    )


def _current(metadata: TableMetadata, facts: Mapping[int, SnapshotFact]) -> Current | None:
    """None for a table without a snapshot, or whose head the metadata does not hold."""
    fact = facts.get(metadata.head_id) if metadata.head_id is not None else None
    if fact is None:
        return None
    return Current(
        snapshot_id=str(fact.snapshot_id),
        data_files=fact.total_data_files,
        delete_files=fact.total_delete_files,
        records=fact.total_records,
        bytes=fact.total_bytes,
        partitions=fact.partitions_total,
    )


class _Forgiving:
    """Reader for one look: what storage does not serve now is a problem in the document, not a reason to try later."""

    def __init__(self, reader: TableReader) -> None:
        self._reader = reader

    def metadata(self, location: str) -> TableMetadata:
        return self._reader.metadata(location)

    def read(self, metadata: TableMetadata, snapshot: Snapshot, want: Want) -> Reading:
        """The level above where storage fails below."""
        for level in (want, want._replace(entries=False)):
            try:
                found = self._reader.read(metadata, snapshot, level)
            except SourceError:
                continue
            return found if level is want else structs.replace(found, problems=(*found.problems, UNAVAILABLE))
        return Reading(tier="summary", problems=(UNAVAILABLE,))


UNAVAILABLE = "storage_unavailable"
_SENTENCES = {
    UNAVAILABLE: "storage does not serve a file now; what it would tell is not known",
    "manifest_list_refused": "the manifest list lies outside of the table's own locations",
    "manifest_refused": "a manifest lies outside of the table's own locations; its counts come from the manifest list",
    "manifest_list_missing": "the manifest list does not exist",
    "manifest_list_unreadable": "the manifest list is damaged",
    "manifest_missing": "a manifest does not exist; its counts come from the manifest list",
    "manifest_unreadable": "a manifest is damaged; its counts come from the manifest list",
}


def _snapshot_problems(facts: list[SnapshotFact]) -> list[InspectedProblem]:
    return [
        InspectedProblem(code=code, detail=_SENTENCES.get(code, code), snapshot_id=str(fact.snapshot_id))
        for fact in facts
        for code in fact.problems or []
    ]


def _problem(problem: Problem) -> InspectedProblem:
    snapshot_id = None if problem.snapshot_id is None else str(problem.snapshot_id)
    return InspectedProblem(code=problem.code, detail=problem.detail, snapshot_id=snapshot_id)


def _unreadable(location: str, error: MetadataError) -> Inspection:
    nothing = InspectedTable(
        format="iceberg",
        format_version=None,
        table_uuid=None,
        location=None,
        metadata_location=location,
        current_schema_id=None,
        default_spec_id=None,
        refs={},
    )
    problems = [InspectedProblem(code=error.code, detail=error.detail)]
    return Inspection(table=nothing, status="unreadable", problems=problems, snapshots=[], current=None)
