"""Live files of a table after one version: every commit updates the counts; they are never recomputed.

A file costs about 250 bytes: a key of 16 bytes and five numbers in columns. The state is sized for one child process
with a memory limit.
"""

from __future__ import annotations

from array import array

import msgspec
import numpy as np
import numpy.typing as npt

from limnograph.adapters.delta.actions import DeltaFile, Values
from limnograph.adapters.delta.schema import ColumnNames, partition_key
from limnograph.analysis.hot_partition import PartitionSize
from limnograph.domain.errors import MetadataError
from limnograph.domain.facts.meta_tables import HISTOGRAM_EDGES
from limnograph.domain.metadata.manifests import size_bin

MAX_LIVE_FILES = 1_000_000
UNKNOWN = -1
Longs = npt.NDArray[np.int64]


class Sums(msgspec.Struct):
    """Totals of a table's or a partition's live files. `unknown`: files without a number of rows."""

    files: int = 0
    bytes: int = 0
    records: int = 0
    unknown: int = 0
    small: int = 0
    vectors: int = 0
    vector_rows: int = 0
    vector_bytes: int = 0

    @property
    def known_records(self) -> int | None:
        """Rows of all files; None if one of them is unknown."""
        return None if self.unknown else self.records


class DeltaLiveFiles:
    """State by key.

    touched  by partition number: the latest version known to have touched the partition
    seeded   whether `touched` covers versions before the start of the replay
    """

    def __init__(self) -> None:
        self.total = Sums()
        self.histogram = [0] * (len(HISTOGRAM_EDGES) + 1)
        self.partitions: list[Sums] = []
        self.values: list[Values] = []
        self.touched: dict[int, int] = {}
        self.seeded = False
        self._numbers: dict[Values, int] = {}
        self._naming = ColumnNames()
        self._texts: list[str] = []
        self._rows: dict[bytes, int] = {}
        self._free: list[int] = []
        self._size, self._records, self._partition = array("q"), array("q"), array("q")
        self._vector_rows, self._vector_bytes = array("q"), array("q")
        self._small_below: int | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: bytes) -> bool:
        return key in self._rows

    def number(self, values: Values) -> int:
        """Number of a partition, assigned at first sight."""
        found = self._numbers.get(values)
        if found is None:
            found = self._numbers[values] = len(self.values)
            self.values.append(values)
            self.partitions.append(Sums())
        return found

    def put(self, file: DeltaFile) -> None:
        """Add a file that is not live. Raises MetadataError (`too_many_files`) above MAX_LIVE_FILES."""
        if len(self._rows) >= MAX_LIVE_FILES:
            raise MetadataError("too_many_files", f"more than {MAX_LIVE_FILES} live files")
        row = self._free.pop() if self._free else self._grown()
        self._rows[file.key] = row
        self._size[row] = file.size or 0
        self._records[row] = UNKNOWN if file.records is None else file.records
        self._partition[row] = self.number(file.values or ())
        self._vector_rows[row] = UNKNOWN if file.vector_rows is None else file.vector_rows
        self._vector_bytes[row] = file.vector_bytes
        self._count(row, 1)

    def pop(self, key: bytes) -> DeltaFile | None:
        """Remove a live file and return its known values (without its path); None if it is not live."""
        row = self._rows.pop(key, None)
        if row is None:
            return None
        self._count(row, -1)
        self._free.append(row)
        records, vector_rows = self._records[row], self._vector_rows[row]
        return DeltaFile(
            key=key,
            path=b"",
            size=self._size[row],
            records=None if records == UNKNOWN else records,
            values=self.values[self._partition[row]],
            vector_rows=None if vector_rows == UNKNOWN else vector_rows,
            vector_bytes=self._vector_bytes[row],
        )

    def aim(self, small_below: int | None) -> None:
        """Count files below a size (bytes) as small; recounted only if the size changed."""
        if small_below == self._small_below:
            return
        self._small_below = small_below
        for sums in (self.total, *self.partitions):
            sums.small = 0
        for row in self._rows.values():
            if self._is_small(row):
                self.total.small += 1
                self.partitions[self._partition[row]].small += 1

    def sizes(self) -> tuple[Longs, Longs]:
        """Partition number and bytes of every live file, in arbitrary order."""
        rows = np.fromiter(self._rows.values(), np.int64, len(self._rows))
        # Copies: the columns cannot grow while a view exists.
        return np.array(self._partition, np.int64)[rows], np.array(self._size, np.int64)[rows]

    def held(self, naming: ColumnNames) -> list[PartitionSize]:
        """Every partition with a live file; empty if the files have no partition values."""
        texts = self._texts_of(naming)
        found = [
            PartitionSize(text, sums.files, sums.bytes)
            for text, sums in zip(texts, self.partitions, strict=True)
            if sums.files
        ]
        return found if any(each.text for each in found) else []

    def _texts_of(self, naming: ColumnNames) -> list[str]:
        """Texts by partition number, each made once as long as no column is renamed."""
        if naming != self._naming:
            self._naming, self._texts = naming, []
        self._texts.extend(partition_key(values, naming)[1] for values in self.values[len(self._texts) :])
        return self._texts

    def _is_small(self, row: int) -> bool:
        return self._small_below is not None and self._size[row] < self._small_below

    def _grown(self) -> int:
        for column in (self._size, self._records, self._partition, self._vector_rows, self._vector_bytes):
            column.append(0)
        return len(self._size) - 1

    def _count(self, row: int, sign: int) -> None:
        size, records, vector_rows = self._size[row], self._records[row], self._vector_rows[row]
        self.histogram[size_bin(size)] += sign
        small = sign if self._is_small(row) else 0
        for sums in (self.total, self.partitions[self._partition[row]]):
            sums.files += sign
            sums.bytes += sign * size
            sums.small += small
            if records == UNKNOWN:
                sums.unknown += sign
            else:
                sums.records += sign * records
            if vector_rows != UNKNOWN:
                sums.vectors += sign
                sums.vector_rows += sign * vector_rows
                sums.vector_bytes += sign * self._vector_bytes[row]
