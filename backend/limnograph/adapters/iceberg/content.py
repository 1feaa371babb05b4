"""Content of a snapshot from the sums of its manifests: totals, what the snapshot changed, states of partitions."""

from __future__ import annotations

from limnograph.domain.content import PARTITIONS_KEPT, Changed, Content, Partitions, PartitionState, Totals, Want
from limnograph.domain.manifests import Delta, ManifestSum, PartitionKey, PartitionSum
from limnograph.domain.metadata import Snapshot, TableMetadata


def content_of(metadata: TableMetadata, snapshot: Snapshot, sums: list[ManifestSum], want: Want) -> Content:
    """What the live manifests of one snapshot add up to."""
    total, delta = ManifestSum(), Delta()
    for part in sums:
        total.add_totals(part)
        if snapshot.snapshot_id in part.deltas:
            delta.add(part.deltas[snapshot.snapshot_id])
    return Content(
        totals=Totals(
            data_files=total.data_files,
            records=total.records,
            bytes=total.bytes,
            small_files=None if metadata.target_file_bytes is None else total.small_files,
            delete_files=total.delete_files,
            delete_bytes=total.delete_bytes,
            position_deletes=total.position_deletes,
            equality_deletes=total.equality_deletes,
            dvs=total.dvs,
        ),
        changed=Changed(
            added_data_files=delta.added_data_files,
            added_delete_files=delta.added_delete_files,
            added_records=delta.added_records,
            added_bytes=delta.added_bytes,
            removed_data_files=delta.removed_data_files,
            removed_delete_files=delta.removed_delete_files,
            removed_records=delta.removed_records,
            removed_bytes=delta.removed_bytes,
            partitions=len(delta.touched),
        ),
        histogram=total.histogram,
        partitions=_partitions(metadata, snapshot, sums, delta, want),
    )


def _partitions(
    metadata: TableMetadata, snapshot: Snapshot, sums: list[ManifestSum], delta: Delta, want: Want
) -> Partitions:
    states: dict[PartitionKey, PartitionSum] = {}
    for part in sums:
        for key, state in part.partitions.items():
            states.setdefault(key, PartitionSum()).add(state)
    changed = want.changed_only and len(delta.touched) <= PARTITIONS_KEPT
    largest = sorted(states, key=lambda key: (-states[key].bytes, key))[:PARTITIONS_KEPT]
    named = sorted(delta.touched) if changed else largest
    return Partitions(
        scope="changed" if changed else "full",
        total=len(states),
        states={key: _state(metadata, snapshot, key, states.get(key, PartitionSum()), delta) for key in named},
    )


def _state(
    metadata: TableMetadata, snapshot: Snapshot, key: PartitionKey, state: PartitionSum, delta: Delta
) -> PartitionState:
    added, removed = delta.touched.get(key, (0, 0))
    return PartitionState(
        data_files=state.data_files,
        delete_files=state.delete_files,
        small_files=None if metadata.target_file_bytes is None else state.small_files,
        records=state.records,
        bytes=state.bytes,
        added_data_files=added,
        removed_data_files=removed,
        last_committed_at=snapshot.committed_at if key in delta.touched else _newest(metadata, state),
    )


def _newest(metadata: TableMetadata, state: PartitionSum) -> int | None:
    """Newest commit among those that wrote the live files; None when metadata holds none of them any more."""
    known = (metadata.snapshots.get(writer) for writer in state.writers)
    return max((s.committed_at for s in known if s and s.committed_at is not None), default=None)
