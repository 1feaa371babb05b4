"""Sums of all known manifests of a table, as columns; a snapshot's numbers are vector sums over its live manifests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.adapters.iceberg.sums.sums import CHECKS, DELTA, LIVE, MAX_SUM, WIDTH, GroupedSums, Longs, ManifestSums
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.manifests import ManifestFile, PartitionKey
from limnograph.domain.time import Micros


class Line(NamedTuple):
    """Identity of a manifest's numbers: its line in a manifest list, without the counts."""

    path: str
    length: int | None
    spec_id: int
    deletes: bool
    added_snapshot_id: int | None


_MANIFEST, _PARTITION, _WRITER, _NUMBERS = 0, 1, 2, 3
"""Rows of a GrowingMatrix: index of the manifest, index of the partition, id of the writer, then numbers."""


_parts = attrgetter(*Line._fields)


def lines_of(manifests: Iterable[ManifestFile]) -> list[Line]:
    """Keys of manifests, of which a long history has thousands. The same path in another line is another manifest."""
    return list(map(Line._make, map(_parts, manifests)))


class GrowingMatrix:
    """An int64 matrix that grows by columns; each of its rows is contiguous."""

    def __init__(self, height: int) -> None:
        self._room, self._used = np.empty((height, 16), np.int64), 0

    @property
    def view(self) -> Longs:
        """The columns added so far."""
        return self._room[:, : self._used]

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self._room.nbytes

    def take(self, width: int) -> Longs:
        """`width` more columns, to be filled by the caller."""
        end = self._used + width
        if end > self._room.shape[1]:
            room = np.empty((self._room.shape[0], max(end, self._room.shape[1] * 3 // 2)), np.int64)
            room[:, : self._used] = self.view
            self._room = room
        taken = self._room[:, self._used : end]
        self._used = end
        return taken

    def keep(self, columns: npt.NDArray[np.bool_]) -> None:
        """Drop the other columns."""
        self._room = np.ascontiguousarray(self.view[:, columns])
        self._used = self._room.shape[1]


class SelectedSums(NamedTuple):
    """Numbers of a snapshot.

    totals           the same as `ManifestSums.totals`
    delta            by DELTA
    touched          indexes of partitions that the snapshot changed, with data files added and removed there
    live_partitions  by partition index
    """

    totals: Longs
    delta: Longs
    touched: Longs
    touched_added: Longs
    touched_removed: Longs
    live_partitions: npt.NDArray[np.bool_]


class TableSums:
    """Not thread-safe: the owner locks."""

    def __init__(self) -> None:
        self._places: dict[Line, int] = {}
        self._partitions: dict[PartitionKey, int] = {}
        self.partitions: list[PartitionKey] = []
        self._local: list[Longs] = []
        self._specs: list[int] = []
        self._text_bytes = 0
        self._totals = GrowingMatrix(WIDTH)
        self._live = GrowingMatrix(_NUMBERS + len(LIVE))
        self._deltas = GrowingMatrix(_NUMBERS + len(DELTA))

    @property
    def nbytes(self) -> int:
        """Estimated bytes of memory: arrays, and texts with Python's overhead."""
        arrays = self._totals.nbytes + self._live.nbytes + self._deltas.nbytes
        return arrays + self._text_bytes + 300 * len(self._places) + 300 * len(self.partitions)

    def __contains__(self, line: object) -> bool:
        return line in self._places

    def absent(self, lines: Iterable[Line]) -> list[Line]:
        """The given manifests that were not added, in order."""
        places = self._places
        return [line for line in lines if line not in places]

    def __len__(self) -> int:
        return len(self._places)

    def add(self, line: Line, sums: ManifestSums) -> None:
        """Add a manifest's sums, once."""
        if line in self._places:
            return
        place = self._places[line] = len(self._places)
        partitions = np.array([self._place((sums.spec_id, text)) for text in sums.partitions], np.int64)
        self._local.append(partitions)
        self._specs.append(sums.spec_id)
        self._totals.take(1)[:, 0] = sums.totals
        self._put(self._live, place, sums.live, partitions)
        self._put(self._deltas, place, sums.deltas, partitions)
        self._text_bytes += 2 * len(line.path) + partitions.nbytes

    def _place(self, key: PartitionKey) -> int:
        found = self._partitions.get(key)
        if found is None:
            found = self._partitions[key] = len(self.partitions)
            self.partitions.append(key)
            self._text_bytes += len(key[1])
        return found

    @staticmethod
    def _put(into: GrowingMatrix, place: int, rows: GroupedSums, partitions: Longs) -> None:
        taken = into.take(rows.partition.size)
        taken[_MANIFEST] = place
        taken[_PARTITION] = partitions[rows.partition] if rows.partition.size else 0
        taken[_WRITER] = rows.writer
        taken[_NUMBERS:] = rows.numbers

    def places(self, line: Line) -> Longs:
        """Table-wide partition indexes of one manifest, by the manifest's own partition numbers."""
        return self._local[self._places[line]]

    def spec_id(self, line: Line) -> int:
        """Partition spec of one manifest."""
        return self._specs[self._places[line]]

    def checks(self, lines: Sequence[Line]) -> Longs:
        """Values from the entries of these manifests: one row per column of CHECKS, one column per line."""
        return self._totals.view[-len(CHECKS) :, [self._places[line] for line in lines]]

    def weights(self, lines: Iterable[Line]) -> Longs:
        """How often each manifest is listed, by index. A manifest listed twice counts twice, the same as for any reader
        of the table.
        """
        places = self._places
        return np.bincount([places[line] for line in lines], minlength=len(places))

    def select(self, weights: Longs, snapshot_id: int) -> SelectedSums:
        """Numbers of a snapshot whose list has these weights. Raises MetadataError if they exceed 64 bits."""
        totals = self._totals.view
        deltas = self._deltas.view
        own = deltas[:, deltas[_WRITER] == snapshot_id]
        own = own[:, weights[own[_MANIFEST]] > 0]
        of_each = weights[own[_MANIFEST]]
        if max(_largest_sum(totals, weights), _largest_sum(own[_NUMBERS:], of_each)) > MAX_SUM:
            raise MetadataError("manifest_implausible", "sizes or counts of the manifests add up to more than 64 bits")
        numbers = own[_NUMBERS:] * of_each
        touched, inverse = np.unique(own[_PARTITION], return_inverse=True)
        live = self._live.view
        live_partitions = np.zeros(len(self.partitions), np.bool_)
        live_partitions[live[_PARTITION, weights[live[_MANIFEST]] > 0]] = True
        return SelectedSums(
            totals=totals @ weights,
            delta=numbers.sum(axis=1),
            touched=touched,
            touched_added=_by_group(numbers[DELTA.index("added_data_files")], inverse, touched.size),
            touched_removed=_by_group(numbers[DELTA.index("removed_data_files")], inverse, touched.size),
            live_partitions=live_partitions,
        )

    def states(self, weights: Longs, only: Longs | None = None) -> Longs:
        """Live numbers by partition: one row per column of LIVE, one column per partition; 0 outside `only`."""
        rows = self._live_rows(weights, only)
        found = np.zeros((len(LIVE), len(self.partitions)), np.int64)
        numbers = rows[_NUMBERS:] * weights[rows[_MANIFEST]]
        for row, values in zip(found, numbers, strict=True):
            np.add.at(row, rows[_PARTITION], values)
        return found

    def newest(self, weights: Longs, only: Longs, commits: dict[int, Micros]) -> dict[int, Micros]:
        """Latest commit (microseconds) among the writers of live files, for the partitions `only`, by index. `commits`:
        instants by snapshot id; writers without one are ignored.
        """
        rows = self._live_rows(weights, only)
        writers, inverse = np.unique(rows[_WRITER], return_inverse=True)
        unknown = np.iinfo(np.int64).min
        instants = np.array([commits.get(int(writer), unknown) for writer in writers], np.int64)
        found = np.full(len(self.partitions), unknown, np.int64)
        if rows.shape[1]:
            np.maximum.at(found, rows[_PARTITION], instants[inverse])
        return {int(place): Micros(found[place]) for place in only if found[place] != unknown}

    def oldest_deletes(self, weights: Longs, only: Longs, commits: dict[int, Micros]) -> dict[int, Micros | None]:
        """Commit (microseconds) of the oldest live delete file, for those of the partitions `only` that have one, by
        index; None if a snapshot that wrote one is not among `commits`: it may be the oldest.
        """
        rows = self._live_rows(weights, only)
        rows = rows[:, rows[_NUMBERS + LIVE.index("delete_files")] > 0]
        if not rows.shape[1]:
            return {}
        writers, inverse = np.unique(rows[_WRITER], return_inverse=True)
        unknown = np.iinfo(np.int64).min
        instants = np.array([commits.get(int(writer), unknown) for writer in writers], np.int64)
        found = np.full(len(self.partitions), np.iinfo(np.int64).max, np.int64)
        np.minimum.at(found, rows[_PARTITION], instants[inverse])
        held = np.unique(rows[_PARTITION])
        return {int(place): None if found[place] == unknown else Micros(int(found[place])) for place in held}

    def _live_rows(self, weights: Longs, only: Longs | None) -> Longs:
        live = self._live.view
        chosen = weights[live[_MANIFEST]] > 0
        if only is not None:
            wanted = np.zeros(len(self.partitions), np.bool_)
            wanted[only] = True
            chosen &= wanted[live[_PARTITION]]
        return live[:, chosen]

    def forget_others(self, lines: Sequence[Line]) -> None:
        """Keep only these manifests."""
        kept = [line for line in dict.fromkeys(lines) if line in self._places]
        renumbered = np.full(len(self._places), -1, np.int64)
        old = np.array([self._places[line] for line in kept], np.int64)
        renumbered[old] = np.arange(len(kept))
        totals = np.ascontiguousarray(self._totals.view[:, old])
        self._totals = GrowingMatrix(totals.shape[0])
        self._totals.take(totals.shape[1])[:] = totals
        for grown in (self._live, self._deltas):
            grown.keep(renumbered[grown.view[_MANIFEST]] >= 0)
            grown.view[_MANIFEST] = renumbered[grown.view[_MANIFEST]]
        self._places = {line: place for place, line in enumerate(kept)}
        self._local, self._specs = ([known[place] for place in old] for known in (self._local, self._specs))
        self._renumber_partitions()

    def _renumber_partitions(self) -> None:
        used = np.unique(np.concatenate([np.empty(0, np.int64), *self._local]))
        renumbered = np.zeros(len(self.partitions), np.int64)
        renumbered[used] = np.arange(used.size)
        for grown in (self._live, self._deltas):
            grown.view[_PARTITION] = renumbered[grown.view[_PARTITION]]
        self._local = [renumbered[places] for places in self._local]
        self.partitions = [self.partitions[place] for place in used]
        self._partitions = {key: place for place, key in enumerate(self.partitions)}
        texts = sum(len(key[1]) for key in self.partitions) + sum(2 * len(line.path) for line in self._places)
        self._text_bytes = texts + sum(places.nbytes for places in self._local)


def _largest_sum(numbers: Longs, weights: Longs) -> float:
    return float((numbers.astype(np.float64) @ weights).max(initial=0.0))


def _by_group(values: Longs, group: npt.NDArray[np.intp], groups: int) -> Longs:
    found = np.zeros(groups, np.int64)
    np.add.at(found, group.reshape(-1), values)
    return found
