"""The content and the changes of a version, from its live files and its own commit, as types of
`domain/metadata/content.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import nlargest

from limnograph.adapters.delta.replay import Moves
from limnograph.adapters.delta.schema import ColumnNames, partition_key
from limnograph.adapters.delta.state import DeltaLiveFiles, Sums
from limnograph.domain.metadata.content import (
    PARTITIONS_KEPT,
    UNKNOWN_TOTALS,
    Content,
    Partitions,
    PartitionState,
    Shape,
    SnapshotChanges,
    Totals,
)
from limnograph.domain.metadata.manifests import PartitionKey
from limnograph.domain.time import Micros


def content_of(
    live: DeltaLiveFiles | None,
    moves: Moves | None,
    partitions: Partitions | None,
    shape: Shape | None,
    *,
    small_below: int | None,
) -> Content:
    """`live` None: the state is unknown. `moves` None: the version's own commit is unknown."""
    return Content(
        totals=UNKNOWN_TOTALS if live is None else totals_of(live.total, small_below),
        changed=changed_of(moves),
        histogram=None if live is None else list(live.histogram),
        partitions=partitions,
        shape=shape,
    )


def totals_of(sums: Sums, small_below: int | None) -> Totals:
    """A deletion vector counts as one delete file: with the bytes of the vector, and its rows as position deletes."""
    return Totals(
        data_files=sums.files,
        records=sums.known_records,
        bytes=sums.bytes,
        small_files=None if small_below is None else sums.small,
        delete_files=sums.vectors,
        delete_bytes=sums.vector_bytes,
        position_deletes=sums.vector_rows,
        equality_deletes=0,
        dvs=sums.vectors,
    )


def changed_of(moves: Moves | None) -> SnapshotChanges:
    """The numbers of the commit itself."""
    added, removed = (moves.added, moves.removed) if moves else (None, None)
    return SnapshotChanges(
        added_data_files=added.data_files if added else None,
        added_delete_files=added.delete_files if added else None,
        added_records=added.records if added else None,
        added_bytes=added.bytes if added else None,
        removed_data_files=removed.data_files if removed else None,
        removed_delete_files=removed.delete_files if removed else None,
        removed_records=removed.records if removed else None,
        removed_bytes=removed.bytes if removed else None,
        partitions=len(moves.touched) if moves and moves.placed else None,
    )


def partitions_of(
    live: DeltaLiveFiles,
    moves: Moves,
    naming: ColumnNames,
    small_below: int | None,
    *,
    changed_only: bool,
    committed_at: Callable[[int], Micros | None],
) -> Partitions:
    """States of the touched partitions, or of the largest ones. `committed_at`: commit time by partition number."""
    total = sum(1 for sums in live.partitions if sums.files)
    touched = {live.number(values) for values in moves.touched}
    keys = {number: partition_key(live.values[number], naming) for number in touched}
    if changed_only and moves.placed and len(touched) <= PARTITIONS_KEPT:
        chosen = sorted(touched, key=lambda number: keys[number])
    else:
        largest = _largest(live, naming)
        keys |= {number: key for key, number in largest}
        chosen = [number for _, number in largest]
        changed_only = False
    states: dict[PartitionKey, PartitionState] = {
        keys[number]: _state(
            live.partitions[number], moves.touched.get(live.values[number]), small_below, committed_at(number)
        )
        for number in chosen
    }
    return Partitions(scope="changed" if changed_only else "full", total=total, states=states)


def _largest(live: DeltaLiveFiles, naming: ColumnNames) -> list[tuple[PartitionKey, int]]:
    """Key and number of the largest partitions, by bytes, then by key. Keys are built only for the candidates."""
    held = [(sums.bytes, number) for number, sums in enumerate(live.partitions) if sums.files]
    least = min(nlargest(PARTITIONS_KEPT, (size for size, _ in held)), default=0)
    ranked = sorted((-size, partition_key(live.values[n], naming), n) for size, n in held if size >= least)
    return [(key, number) for _, key, number in ranked[:PARTITIONS_KEPT]]


def _state(sums: Sums, moved: list[int] | None, small_below: int | None, at: Micros | None) -> PartitionState:
    added, removed = moved or (0, 0)
    return PartitionState(
        data_files=sums.files,
        delete_files=sums.vectors,
        small_files=None if small_below is None else sums.small,
        records=sums.known_records,
        bytes=sums.bytes,
        delete_bytes=sums.vector_bytes,
        added_data_files=added,
        removed_data_files=removed,
        last_committed_at=at,
    )
