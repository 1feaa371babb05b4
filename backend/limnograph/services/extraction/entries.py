"""Columns of a snapshot from the deepest level that could be read. From entries: exact counts, the shape of file sizes
and partition states. The levels above are in `lists.py`.
"""

from __future__ import annotations

from typing import Any

from limnograph.domain.facts.meta_tables import PartitionFact
from limnograph.domain.metadata.content import Content, PartitionState, Reading, Shape
from limnograph.domain.metadata.manifests import PartitionKey, histogram_percentile
from limnograph.domain.metadata.table import Snapshot
from limnograph.services.extraction.lists import list_numbers, manifest_numbers, summary_numbers

_SHAPE = tuple(name for name in Shape.__struct_fields__ if name not in {"debt_outputs", "overlap_unbounded"})
"""Members of Shape that are separate columns."""


def reading_numbers(snapshot: Snapshot, reading: Reading, base: int | None) -> dict[str, Any]:
    """Columns by name, without those that no level contains. `base`: snapshot whose row `partitions` may be a
    difference from.
    """
    if reading.content is not None:
        lines = {} if reading.manifests is None else manifest_numbers(reading.manifests)
        return {**lines, **entries_numbers(snapshot, reading.content, base)}
    if reading.manifests is not None:
        return list_numbers(snapshot, reading.manifests)
    return summary_numbers(snapshot)


def entries_numbers(snapshot: Snapshot, content: Content, base: int | None) -> dict[str, Any]:
    """All columns computed from entries. `base`: snapshot whose row this row may be a difference from."""
    totals, changed, histogram = content.totals, content.changed, content.histogram
    return {
        "total_data_files": totals.data_files,
        "total_delete_files": totals.delete_files,
        "total_records": totals.records,
        "total_bytes": totals.bytes,
        "total_delete_bytes": totals.delete_bytes,
        "total_position_deletes": totals.position_deletes,
        "total_equality_deletes": totals.equality_deletes,
        "total_dvs": totals.dvs,
        "oldest_delete_at": totals.oldest_delete_at,
        "added_data_files": changed.added_data_files,
        "added_delete_files": changed.added_delete_files,
        "added_records": changed.added_records,
        "added_bytes": changed.added_bytes,
        "removed_data_files": changed.removed_data_files,
        "removed_delete_files": changed.removed_delete_files,
        "removed_records": changed.removed_records,
        "removed_bytes": changed.removed_bytes,
        "changed_partitions": changed.partitions,
        "small_files": totals.small_files,
        **_sizes(histogram),
        **_shape(snapshot, content.shape),
        **_partitions(content, base),
    }


def _sizes(histogram: list[int] | None) -> dict[str, Any]:
    if histogram is None:
        return {}
    percentiles = {f"file_size_p{p}": histogram_percentile(histogram, p / 100) for p in (10, 50, 90)}
    return {"file_size_histogram": histogram, **percentiles}


def _shape(snapshot: Snapshot, shape: Shape | None) -> dict[str, Any]:
    """`shape_at` is the commit's instant, whenever the shape was computed: the numbers describe the files of that
    commit.
    """
    if shape is None:
        return {}
    return {name: getattr(shape, name) for name in _SHAPE} | {"shape_at": snapshot.committed_at}


def _partitions(content: Content, base: int | None) -> dict[str, Any]:
    partitions = content.partitions
    if partitions is None:
        return {}
    return {
        "partitions": [_fact(key, state) for key, state in partitions.states.items()],
        "partitions_scope": partitions.scope,
        "partitions_base": base if partitions.scope == "changed" else None,
        "partitions_total": partitions.total,
    }


def _fact(key: PartitionKey, state: PartitionState) -> PartitionFact:
    return PartitionFact(
        partition=key[1],
        spec_id=key[0],
        data_files=state.data_files,
        delete_files=state.delete_files,
        small_files=state.small_files,
        records=state.records,
        bytes=state.bytes,
        added_data_files=state.added_data_files,
        removed_data_files=state.removed_data_files,
        last_committed_at=state.last_committed_at,
        delete_bytes=state.delete_bytes,
        oldest_delete_at=state.oldest_delete_at,
    )
