"""Live data files of manifests as columns (partition, size, bounds of one field), for numbers that cannot be summed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from limnograph.adapters.iceberg.manifests.entries import DATA, DELETED, Entries, KeyColumn

Longs = npt.NDArray[np.int64]


_WORD = 8


class FileColumns(NamedTuple):
    """One row per live data file.

    partition  index into the manifest's partitions
    path       hash of the file's path
    bounded    whether both bounds are known; keys are empty otherwise, and for all files if no field was requested
    """

    partition: npt.NDArray[np.int32]
    size: Longs
    records: Longs
    path: npt.NDArray[np.uint64]
    bounded: npt.NDArray[np.bool_]
    lower: KeyColumn
    upper: KeyColumn

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        keys = sum(k.offsets.nbytes + len(k.data) for k in (self.lower, self.upper))
        return sum(column.nbytes for column in self[:5]) + keys


class ScopedDeletes(NamedTuple):
    """One row per live delete file that applies to one data file.

    target   hash of that file's path
    records  rows it deletes
    is_dv    a deletion vector, which replaces the file's older delete files
    """

    target: npt.NDArray[np.uint64]
    records: Longs
    is_dv: npt.NDArray[np.bool_]

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(column.nbytes for column in self)


ManifestFiles = FileColumns | ScopedDeletes
"""Columns of a data manifest, or of a delete manifest."""


def scoped_deletes(entries: Entries) -> ScopedDeletes:
    """The scoped deletes of a delete manifest that was read with paths."""
    target = np.zeros(entries.status.size, np.uint64) if entries.paths is None else entries.paths.target
    rows = np.flatnonzero((entries.status != DELETED) & (target != 0))
    return ScopedDeletes(target[rows], entries.records[rows], entries.is_dv[rows])


def file_columns(entries: Entries) -> FileColumns:
    """Columns of a manifest's live data files, in the order of its entries."""
    rows = np.flatnonzero((entries.status != DELETED) & (entries.content == DATA))
    path = np.zeros(rows.size, np.uint64) if entries.paths is None else entries.paths.file[rows]
    plain = (entries.partition[rows].astype(np.int32), entries.size[rows], entries.records[rows], path)
    if entries.bounds is None:
        none = np.zeros(rows.size, np.bool_)
        return FileColumns(*plain, none, _chosen(None, rows, none), _chosen(None, rows, none))
    bounded = entries.bounds.lower.has[rows] & entries.bounds.upper.has[rows]
    lower, upper = (_chosen(keys, rows, bounded) for keys in entries.bounds)
    return FileColumns(*plain, bounded, lower, upper)


def _chosen(keys: KeyColumn | None, rows: npt.NDArray[np.intp], bounded: npt.NDArray[np.bool_]) -> KeyColumn:
    """Keys of these rows, limited to files with both bounds."""
    if keys is None or not bounded.any():
        return KeyColumn(np.zeros(rows.size + 1, np.int64), b"", bounded)
    if rows.size == keys.has.size and bounded.all():
        return keys
    listed = keys.listed()
    return KeyColumn.of(
        [listed[row] if both else None for row, both in zip(rows.tolist(), bounded.tolist(), strict=True)]
    )


def comparable(columns: list[FileColumns]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Lower and upper bounds of the bounded files of all these columns, as numbers in the same order as the bounds."""
    lower, upper = [part.lower for part in columns], [part.upper for part in columns]
    if all(map(_words, (*lower, *upper))):
        # Numbers of equal length sort in the order of their bytes.
        return _numbers(lower), _numbers(upper)
    coded = pa.chunked_array([*map(_texts, lower), *map(_texts, upper)]).combine_chunks().dictionary_encode()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    low, high = np.split(rank[coded.indices.to_numpy()], 2)
    return low, high


def _words(keys: KeyColumn) -> bool:
    return bool((np.diff(keys.offsets) == keys.has * _WORD).all())


def _numbers(keys: list[KeyColumn]) -> npt.NDArray[np.uint64]:
    return np.frombuffer(b"".join(part.data for part in keys), ">u8").astype(np.uint64)


def _texts(keys: KeyColumn) -> pa.Array:
    """Keys of the bounded files."""
    buffers = [None, pa.py_buffer(keys.offsets), pa.py_buffer(keys.data)]
    whole = pa.LargeBinaryArray.from_buffers(pa.large_binary(), keys.offsets.size - 1, buffers)
    return whole.filter(pa.array(keys.has))
