"""Numbers of a snapshot from the entries of its manifests: exact counts, the shape of file sizes, partition states."""

from __future__ import annotations

from typing import Any

from limnograph.domain.facts import PartitionFact
from limnograph.domain.manifests import (
    Delta,
    ManifestFile,
    ManifestSum,
    PartitionKey,
    PartitionSum,
    histogram_percentile,
)
from limnograph.domain.metadata import Snapshot, TableMetadata
from limnograph.services.extract_lists import manifest_numbers

PARTITIONS_KEPT = 1_000
"""A `full` row names this many partitions, the largest; the rest is shown as `other`."""


def entries_numbers(
    metadata: TableMetadata,
    snapshot: Snapshot,
    manifests: list[ManifestFile],
    sums: list[ManifestSum],
    base: int | None,
) -> dict[str, Any]:
    """All columns that entries decide. `base`: snapshot whose row this one may be told as a difference of."""
    total, delta = ManifestSum(), Delta()
    for part in sums:
        total.add_totals(part)
        if snapshot.snapshot_id in part.deltas:
            delta.add(part.deltas[snapshot.snapshot_id])
    return {
        **manifest_numbers(manifests),
        "total_data_files": total.data_files,
        "total_delete_files": total.delete_files,
        "total_records": total.records,
        "total_bytes": total.bytes,
        "total_delete_bytes": total.delete_bytes,
        "total_position_deletes": total.position_deletes,
        "total_equality_deletes": total.equality_deletes,
        "total_dvs": total.dvs,
        "added_data_files": delta.added_data_files,
        "added_delete_files": delta.added_delete_files,
        "added_records": delta.added_records,
        "added_bytes": delta.added_bytes,
        "removed_data_files": delta.removed_data_files,
        "removed_delete_files": delta.removed_delete_files,
        "removed_records": delta.removed_records,
        "removed_bytes": delta.removed_bytes,
        "changed_partitions": len(delta.touched),
        "file_size_histogram": total.histogram,
        "file_size_p10": histogram_percentile(total.histogram, 0.1),
        "file_size_p50": histogram_percentile(total.histogram, 0.5),
        "file_size_p90": histogram_percentile(total.histogram, 0.9),
        "small_files": None if metadata.target_file_bytes is None else total.small_files,
        **_partitions(metadata, snapshot, sums, delta, base),
    }


def _partitions(
    metadata: TableMetadata, snapshot: Snapshot, sums: list[ManifestSum], delta: Delta, base: int | None
) -> dict[str, Any]:
    total = len({key for part in sums for key in part.partitions})
    if base is not None and len(delta.touched) <= PARTITIONS_KEPT:
        wanted = sorted(delta.touched)
        states = {key: _state(sums, key) for key in wanted}
        facts = [_fact(metadata, snapshot, key, states[key], delta) for key in wanted]
        return {
            "partitions": facts,
            "partitions_scope": "changed",
            "partitions_base": base,
            "partitions_total": total,
        }
    all_states: dict[PartitionKey, PartitionSum] = {}
    for part in sums:
        for key, state in part.partitions.items():
            all_states.setdefault(key, PartitionSum()).add(state)
    largest = sorted(all_states, key=lambda key: (-all_states[key].bytes, key))[:PARTITIONS_KEPT]
    facts = [_fact(metadata, snapshot, key, all_states[key], delta) for key in largest]
    return {"partitions": facts, "partitions_scope": "full", "partitions_base": None, "partitions_total": total}


def _state(sums: list[ManifestSum], key: PartitionKey) -> PartitionSum:
    """State of one partition; all 0 when it was emptied."""
    state = PartitionSum()
    for part in sums:
        if key in part.partitions:
            state.add(part.partitions[key])
    return state


def _fact(
    metadata: TableMetadata, snapshot: Snapshot, key: PartitionKey, state: PartitionSum, delta: Delta
) -> PartitionFact:
    added, removed = delta.touched.get(key, (0, 0))
    return PartitionFact(
        partition=key[1],
        spec_id=key[0],
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
