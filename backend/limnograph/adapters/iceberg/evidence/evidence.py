"""Evidence of an action on an Iceberg table."""

from __future__ import annotations

from limnograph.adapters.iceberg.evidence.changed import FileRows, files_of_commits, live_files_of
from limnograph.adapters.iceberg.evidence.existence import check_files
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.domain.maintenance.evidence import ChangedFiles, EvidenceRequest, TableEvidence
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.ports.storage import Storage
from limnograph.ports.table_maintainer import STAMP


def evidence_of(storage: Storage, metadata: TableMetadata, request: EvidenceRequest) -> TableEvidence:
    """Evidence from the manifests of the stamped commits. Raises MetadataError, SourceError."""
    reader = IcebergReader(storage)
    stamped = [each for each in metadata.ordered if (each.summary or {}).get(STAMP) == request.plan_id]
    files = files_of_commits(storage, reader, stamped)
    removed = files.removed.position_deletes if request.deletes else files.removed.data
    inside = [removed.of(group) for group in request.groups]
    found = check_files(storage, reader, _checked(metadata, request))
    return TableEvidence(
        metadata=metadata.outlined(("operation", STAMP)),
        stamped=[each.snapshot_id for each in stamped],
        groups=[removed.only(rows).changed() for rows in inside],
        elsewhere=_outside(removed, request).changed().files,
        removed_data=files.removed.data.changed(),
        removed_deletes=files.removed.deletes.changed(),
        added_data=files.added.data.changed(),
        added_deletes=files.added.deletes.changed(),
        live_before=_live(storage, reader, metadata, stamped[0].parent_id) if _compares(request, stamped) else None,
        live_after=_live(storage, reader, metadata, stamped[-1].snapshot_id) if _compares(request, stamped) else None,
        checked=found.checked,
        missing=found.missing,
        missing_count=found.missing_count,
    )


def _outside(removed: FileRows, request: EvidenceRequest) -> FileRows:
    return removed.only(~removed.of([key for group in request.groups for key in group]))


def _compares(request: EvidenceRequest, stamped: list[Snapshot]) -> bool:
    return request.compare_live and bool(stamped)


def _live(
    storage: Storage, reader: IcebergReader, metadata: TableMetadata, snapshot_id: int | None
) -> ChangedFiles | None:
    snapshot = None if snapshot_id is None else metadata.snapshots.get(snapshot_id)
    return None if snapshot is None else live_files_of(storage, reader, snapshot).changed()


def _checked(metadata: TableMetadata, request: EvidenceRequest) -> list[Snapshot]:
    if request.every_snapshot:
        return metadata.ordered
    head = None if metadata.head_id is None else metadata.snapshots.get(metadata.head_id)
    return [] if head is None else [head]
