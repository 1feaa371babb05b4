"""Live data files of manifests as columns (partition, size, bounds of one field), for numbers that do not add up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from limnograph.adapters.iceberg.entries import DATA, DELETED, Entries

Longs = npt.NDArray[np.int64]


class Keys(NamedTuple):
    """Order-preserving keys of one bound, one a file: `data[offsets[i]:offsets[i + 1]]`."""

    offsets: npt.NDArray[np.int32]
    data: bytes


class FileColumns(NamedTuple):
    """One row per live data file. `partition` indexes the manifest's partitions. Rows without both bounds are not
    `bounded`; their keys are empty. No keys at all when no field was asked for.
    """

    partition: npt.NDArray[np.int32]
    size: Longs
    bounded: npt.NDArray[np.bool_]
    lower: Keys | None
    upper: Keys | None

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        keys = sum(k.offsets.nbytes + len(k.data) for k in (self.lower, self.upper) if k)
        return self.partition.nbytes + self.size.nbytes + self.bounded.nbytes + keys


def file_columns(entries: Entries) -> FileColumns:
    """Columns of a manifest's live data files, in the order of its entries."""
    rows = np.flatnonzero((entries.status != DELETED) & (entries.content == DATA))
    partition, size = entries.partition[rows].astype(np.int32), entries.size[rows]
    if entries.bounds is None:
        return FileColumns(partition, size, np.zeros(rows.size, np.bool_), None, None)
    lower, upper = ([bounds[row] for row in rows.tolist()] for bounds in entries.bounds)
    both = [low is not None and high is not None for low, high in zip(lower, upper, strict=True)]
    bounded = np.array(both, np.bool_)
    return FileColumns(partition, size, bounded, _keys(lower, both), _keys(upper, both))


def _keys(bounds: list[bytes | None], used: list[bool]) -> Keys:
    texts = [bound if bound is not None and use else b"" for bound, use in zip(bounds, used, strict=True)]
    offsets = np.zeros(len(texts) + 1, np.int64)
    offsets[1:] = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    return Keys(offsets.astype(np.int32), b"".join(texts))


def ranked(columns: list[FileColumns]) -> tuple[Longs, Longs]:
    """Lower and upper bounds of the bounded files of all these columns as numbers that compare as the bounds do."""
    keys = [keys for part in columns for keys in _bounded(part)]
    if not keys:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    arrays = pa.chunked_array(keys).combine_chunks()
    coded = arrays.dictionary_encode()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    ranks = rank[coded.indices.to_numpy()]
    half = [part.bounded.sum() for part in columns for _ in range(2)]
    pieces = np.split(ranks, np.cumsum(half)[:-1])
    return np.concatenate(pieces[0::2]), np.concatenate(pieces[1::2])


def _bounded(part: FileColumns) -> list[pa.Array]:
    """Lower then upper keys of the bounded files; nothing of a part that was read without bounds."""
    found = []
    for keys in (part.lower, part.upper):
        if keys is None:
            found.append(pa.array([], pa.large_binary()))
            continue
        buffers = [None, pa.py_buffer(keys.offsets.astype(np.int64)), pa.py_buffer(keys.data)]
        whole = pa.LargeBinaryArray.from_buffers(pa.large_binary(), part.size.size, buffers)
        found.append(whole.filter(pa.array(part.bounded)))
    return found
