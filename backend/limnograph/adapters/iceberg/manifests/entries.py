"""Entries of one manifest as columns, one row per entry: decoded by the kernel, added up by `sums.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

LIVE_EXISTING, ADDED, DELETED = 0, 1, 2
"""Values of `status`."""
DATA, POSITION_DELETES, EQUALITY_DELETES = 0, 1, 2
"""Values of `content`."""
NO_SNAPSHOT = -1
"""`snapshot` of an entry if neither it nor the manifest list names a snapshot."""


class KeyColumn(NamedTuple):
    """One key per row, `data[offsets[i]:offsets[i + 1]]`, empty if absent. Byte order is the order of the values."""

    offsets: npt.NDArray[np.int64]
    data: bytes
    has: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, keys: Sequence[bytes | None]) -> KeyColumn:
        """A column from a list of keys."""
        offsets = np.zeros(len(keys) + 1, np.int64)
        offsets[1:] = np.cumsum(np.fromiter((len(key or b"") for key in keys), np.int64, len(keys)))
        has = np.fromiter((key is not None for key in keys), np.bool_, len(keys))
        return cls(offsets, b"".join(key or b"" for key in keys), has)

    @classmethod
    def joined(cls, parts: Sequence[KeyColumn]) -> KeyColumn:
        """The concatenation of all parts."""
        lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(part.offsets) for part in parts)])
        offsets = np.zeros(lengths.size + 1, np.int64)
        offsets[1:] = np.cumsum(lengths)
        has = np.concatenate([np.zeros(0, np.bool_), *(part.has for part in parts)])
        return cls(offsets, b"".join(part.data for part in parts), has)

    def listed(self) -> list[bytes | None]:
        """The keys as a list."""
        ends = self.offsets.tolist()
        rows = zip(ends, ends[1:], self.has.tolist(), strict=False)
        return [self.data[start:end] if has else None for start, end, has in rows]


class Bounds(NamedTuple):
    """Lower and upper bounds of one column."""

    lower: KeyColumn
    upper: KeyColumn


class Paths(NamedTuple):
    """Hashes of paths.

    file    of the entry's file
    target  of the one data file that a delete file is scoped to, by `referenced_data_file` or equal bounds of its paths
            (Iceberg's ContentFileUtil.isFileScoped); 0: not scoped to a file
    """

    file: npt.NDArray[np.uint64]
    target: npt.NDArray[np.uint64]


class Entries(NamedTuple):
    """The entries of a manifest.

    snapshot   the entry's own, else the snapshot that added the manifest
    partition  index into `partitions` (texts such as `day=2026-11-20/region=eu`; empty text: unpartitioned)
    size       bytes; of a deletion vector, its own part of the Puffin file
    bounds     only if a field id was requested
    paths      only if requested
    spec_id    partition spec from the manifest's own header; None if it names none
    partition_values  values of each of `partitions`, if requested
    """

    status: npt.NDArray[np.int8]
    content: npt.NDArray[np.int8]
    is_dv: npt.NDArray[np.bool_]
    snapshot: npt.NDArray[np.int64]
    records: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    partition: npt.NDArray[np.int32]
    partitions: list[str]
    bounds: Bounds | None = None
    paths: Paths | None = None
    spec_id: int | None = None
    partition_values: list[tuple[Any, ...]] | None = None
