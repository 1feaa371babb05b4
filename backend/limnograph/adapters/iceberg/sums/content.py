"""Content of a snapshot from the sums of its manifests: totals, its changes, states of partitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from limnograph.adapters.iceberg.sums.sums import DELTA, HISTOGRAM, LIVE, TOTALS, Longs
from limnograph.adapters.iceberg.sums.table_sums import SelectedSums, TableSums
from limnograph.analysis.hot_partition import PartitionSize
from limnograph.analysis.shape import partition_shape
from limnograph.domain.metadata.content import (
    PARTITIONS_KEPT,
    Content,
    Partitions,
    PartitionState,
    Shape,
    SnapshotChanges,
    Totals,
    Want,
)
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.domain.time import Micros


class SnapshotSums:
    """The sums of one snapshot's live manifests. Raises MetadataError if they exceed 64 bits."""

    def __init__(self, metadata: TableMetadata, snapshot: Snapshot, sums: TableSums, weights: Longs) -> None:
        self._metadata, self._snapshot, self._sums, self._weights = metadata, snapshot, sums, weights
        self._found: SelectedSums = sums.select(weights, snapshot.snapshot_id)

    @property
    def data_files(self) -> int:
        """Live data files."""
        return int(self._found.totals[TOTALS.index("data_files")])

    def content(self, want: Want, shape: Shape | None) -> Content:
        """The complete content."""
        totals, changed = self._found.totals.tolist(), self._found.delta.tolist()
        numbers = dict(zip(TOTALS, totals[: len(TOTALS)], strict=True))
        if self._metadata.targets is None:
            numbers["small_files"] = None
        return Content(
            totals=Totals(**numbers, oldest_delete_at=self._oldest_delete()),
            changed=SnapshotChanges(**dict(zip(DELTA, changed, strict=True)), partitions=self._found.touched.size),
            histogram=totals[HISTOGRAM],
            partitions=self._partitions(want),
            shape=shape,
        )

    def _oldest_delete(self) -> Micros | None:
        """Commit of the oldest live delete file; None without one, or if it is unknown."""
        live = np.flatnonzero(self._found.live_partitions)
        times = self._sums.oldest_deletes(self._weights, live, self._commits()).values()
        known = [at for at in times if at is not None]
        return min(known) if known and len(known) == len(times) else None

    def partition_shape(self) -> dict[str, Any]:
        """The part of the shape that can be computed from sums alone: sizes of partitions with a live data file. Empty
        for an unpartitioned table.
        """
        states, keys = self._sums.states(self._weights), self._sums.partitions
        data_files, sizes = (states[LIVE.index(name)] for name in ("data_files", "bytes"))
        live = np.flatnonzero(data_files > 0)
        held = [
            PartitionSize(keys[place][1], files, size)
            for place, files, size in zip(live.tolist(), data_files[live].tolist(), sizes[live].tolist(), strict=True)
        ]
        return partition_shape(held, self._snapshot.committed_at) if any(each.text for each in held) else {}

    def _partitions(self, want: Want) -> Partitions:
        keys, touched = self._sums.partitions, self._found.touched
        if want.changed_only and touched.size <= PARTITIONS_KEPT:
            scope, states = "changed", self._sums.states(self._weights, touched)
            named = sorted(touched.tolist(), key=lambda place: keys[place])
        else:
            scope, states = "full", self._sums.states(self._weights)
            named = self._largest(states[LIVE.index("bytes")])
        return Partitions(
            scope="changed" if scope == "changed" else "full",
            total=int(np.count_nonzero(self._found.live_partitions)),
            states={keys[place]: state for place, state in zip(named, self._states(named, states), strict=True)},
        )

    def _largest(self, sizes: Longs) -> list[int]:
        """Indexes of the live partitions with the most bytes; ties are broken by name, independent of their order."""
        keys, live = self._sums.partitions, np.flatnonzero(self._found.live_partitions)
        if live.size > PARTITIONS_KEPT:
            least = np.partition(sizes[live], live.size - PARTITIONS_KEPT)[live.size - PARTITIONS_KEPT]
            live = live[sizes[live] >= least]
        return sorted(live.tolist(), key=lambda place: (-sizes[place], keys[place]))[:PARTITIONS_KEPT]

    def _states(self, named: list[int], states: Longs) -> list[PartitionState]:
        snapshot, found = self._snapshot, self._found
        moved = zip(found.touched_added.tolist(), found.touched_removed.tolist(), strict=True)
        own = dict(zip(found.touched.tolist(), moved, strict=True))
        others = np.array([place for place in named if place not in own], np.int64)
        commits = self._commits()
        newest = self._sums.newest(self._weights, others, commits) if others.size else {}
        no_target = self._metadata.targets is None
        oldest = self._sums.oldest_deletes(self._weights, np.array(named, np.int64), commits) if named else {}
        return [
            PartitionState(
                data_files=data_files,
                delete_files=delete_files,
                small_files=None if no_target else small_files,
                records=records,
                bytes=size,
                delete_bytes=delete_bytes,
                oldest_delete_at=oldest.get(place),
                added_data_files=own.get(place, (0, 0))[0],
                removed_data_files=own.get(place, (0, 0))[1],
                last_committed_at=snapshot.committed_at if place in own else newest.get(place),
            )
            for place, (data_files, delete_files, small_files, records, size, delete_bytes) in zip(
                named, states[:, named].T.tolist(), strict=True
            )
        ]

    def _commits(self) -> dict[int, Micros]:
        known = self._metadata.snapshots.values()
        return {s.snapshot_id: at for s in known if (at := s.committed_at) is not None}
