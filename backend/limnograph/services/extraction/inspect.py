"""`inspect`: one table's whole history as a document. Reads every snapshot to its entries, and the head's shape."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.metadata.content import Content, PartitionState, Reading, Want
from limnograph.domain.metadata.inspection import (
    DocumentTotals,
    FileDelta,
    HeadState,
    InspectedPartition,
    InspectedProblem,
    InspectedSnapshot,
    InspectedTable,
    Inspection,
    InspectionReport,
    Structure,
)
from limnograph.domain.metadata.manifests import PartitionKey
from limnograph.domain.metadata.table import Snapshot, TableMetadata, TableProblem
from limnograph.domain.metadata.targets import delete_target, manifest_target
from limnograph.ports.table_reader import TableReader
from limnograph.services.extraction.entries import reading_numbers
from limnograph.services.extraction.inspect_sentences import UNAVAILABLE, remedy, sentence
from limnograph.services.extraction.lists import manifest_numbers
from limnograph.services.extraction.summary import compare

WORST = 5
"""Partitions that are listed."""
_NUMBERS = Want(changed_only=True, shape=False)
_SHAPE = Want(shape=True)


def inspect(location: str, reader: TableReader, table_format: str | None = "iceberg") -> InspectionReport:
    """Document of the table at a metadata pointer. `table_format`: the format reported for a table that cannot be read;
    None if it is unknown.

    Raises SourceError if storage cannot serve the pointer.
    """
    try:
        metadata = reader.metadata(location)
    except MetadataError as error:
        return InspectionReport(document=_unreadable(location, table_format, error), structure=None)
    problems = list(map(_problem, metadata.problems))
    snapshots: list[InspectedSnapshot] = []
    current: HeadState | None = None
    structure: Structure | None = None
    for snapshot in metadata.ordered:
        is_head = snapshot.snapshot_id == metadata.head_id
        reading = _read(reader, metadata, snapshot, _SHAPE if is_head else _NUMBERS)
        numbers = reading_numbers(snapshot, reading, None)
        snapshots.append(_snapshot(snapshot, reading, numbers))
        problems += [_snapshot_problem(metadata, snapshot, code, reading) for code in reading.problems]
        if is_head:
            current = _current(snapshot, numbers)
            structure = _structure(metadata, reading)
    if metadata.empty:
        current = HeadState(snapshot_id=None, data_files=0, delete_files=0, records=0, bytes=0, partitions=0)
    status = "partial" if problems else "ok"
    document = Inspection(
        table=_table(metadata), status=status, problems=problems, snapshots=snapshots, current=current
    )
    return InspectionReport(document=document, structure=structure)


def _read(reader: TableReader, metadata: TableMetadata, snapshot: Snapshot, want: Want) -> Reading:
    """Read a snapshot as deep as storage serves it now. There is no later pass: what is missing is a problem in the
    document.
    """
    for level in (want, want._replace(entries=False)):
        try:
            found = reader.read(metadata, snapshot, level)
        except SourceError:
            continue
        return found if level is want else structs.replace(found, problems=(*found.problems, UNAVAILABLE))
    return Reading(tier="summary", problems=(UNAVAILABLE,))


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


def _snapshot(snapshot: Snapshot, reading: Reading, numbers: dict[str, Any]) -> InspectedSnapshot:
    """Members of Totals and Moved are columns of `snapshots` with prefixes `total_`, `added_` and `removed_`."""
    known = numbers.get
    return InspectedSnapshot(
        snapshot_id=str(snapshot.snapshot_id),
        parent_id=None if snapshot.parent_id is None else str(snapshot.parent_id),
        sequence_number=snapshot.sequence_number,
        committed_at=snapshot.timestamp_ms,
        operation=snapshot.operation,
        totals=DocumentTotals(**{name: known(f"total_{name}") for name in DocumentTotals.__struct_fields__}),
        added=FileDelta(**{name: known(f"added_{name}") for name in FileDelta.__struct_fields__}),
        removed=FileDelta(**{name: known(f"removed_{name}") for name in FileDelta.__struct_fields__}),
        manifests=known("manifests"),
        status="partial" if reading.problems else "ok",
        summary_mismatch=compare(snapshot, numbers) if reading.tier != "summary" else [],
    )


def _current(snapshot: Snapshot, numbers: dict[str, Any]) -> HeadState:
    return HeadState(
        snapshot_id=str(snapshot.snapshot_id),
        data_files=numbers.get("total_data_files"),
        delete_files=numbers.get("total_delete_files"),
        records=numbers.get("total_records"),
        bytes=numbers.get("total_bytes"),
        partitions=numbers.get("partitions_total"),
    )


def _structure(metadata: TableMetadata, reading: Reading) -> Structure | None:
    content = reading.content
    if content is None and reading.manifests is None:
        return None
    totals = content.totals if content else None
    iceberg, targets = metadata.format == "iceberg", metadata.targets
    lines = {} if reading.manifests is None else manifest_numbers(reading.manifests)
    return Structure(
        rule=targets.rule if targets else None,
        target=targets.target if targets else None,
        small_below=targets.small_below if targets else None,
        small_files=totals.small_files if totals else None,
        histogram=content.histogram if content else None,
        delete_bytes=totals.delete_bytes if totals else None,
        delete_target=delete_target(metadata.properties) if iceberg else None,
        manifests=lines.get("manifests"),
        delete_manifests=lines.get("delete_manifests"),
        manifest_bytes=lines.get("manifest_bytes"),
        manifest_target=manifest_target(metadata.properties) if iceberg else None,
        metadata_bytes=metadata.size_bytes,
        shape=content.shape if content else None,
        worst=_worst(content) if content else [],
        notes=list(reading.notes),
    )


def _worst(content: Content) -> list[InspectedPartition]:
    """Partitions with the most small files, then the most files, among the largest ones that the reader lists."""

    def badness(item: tuple[PartitionKey, PartitionState]) -> tuple[int, int, PartitionKey]:
        key, state = item
        return -(state.small_files or 0), -(state.data_files + state.delete_files), key

    states = content.partitions.states if content.partitions else {}
    return [
        InspectedPartition(
            partition=key[1],
            data_files=state.data_files,
            delete_files=state.delete_files,
            small_files=state.small_files,
            records=state.records,
            bytes=state.bytes,
        )
        for key, state in sorted(states.items(), key=badness)[:WORST]
    ]


def _snapshot_problem(metadata: TableMetadata, snapshot: Snapshot, code: str, reading: Reading) -> InspectedProblem:
    about = (sentence(code), reading.details.get(code), remedy(code, metadata))
    detail = ": ".join(part for part in about if part)
    return InspectedProblem(code=code, detail=detail, snapshot_id=str(snapshot.snapshot_id))


def _problem(problem: TableProblem) -> InspectedProblem:
    snapshot_id = None if problem.snapshot_id is None else str(problem.snapshot_id)
    return InspectedProblem(code=problem.code, detail=problem.detail, snapshot_id=snapshot_id)


def _unreadable(location: str, table_format: str | None, error: MetadataError) -> Inspection:
    nothing = InspectedTable(
        format=table_format,
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
