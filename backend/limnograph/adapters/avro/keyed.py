"""Totals of maps over many records: sums of numbers and extremes of bytes, by key. Filled by the kernel's ADD and
EXTREME.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.adapters.avro.kernel import (
    ALL_OF_FIRST,
    COUNTS,
    COUNTS_FILES,
    FIRST_ROW,
    FLOATING,
    GREATEST,
    KEYED_WIDTH,
    KIND,
    LEAST,
    NO_KIND,
    TEXT,
)

MAX_KEY = 1 << 20
"""Largest key that can be wanted."""
Extreme = int | float | bytes


class KeyTotals(NamedTuple):
    """Totals of one key.

    sums          of the three measures
    records       records that have each measure
    all_of_first  records whose second measure equals the first
    least, greatest  extremes; None: no record has one
    bounded       records that have each extreme; below 0 if they cannot be compared
    """

    sums: tuple[int, int, int]
    records: tuple[int, int, int]
    all_of_first: int
    least: Extreme | None
    greatest: Extreme | None
    bounded: tuple[int, int]


class KeyedTotals:
    """Totals by key. `kinds`: how the bytes of each wanted key are compared (`NO_KIND`: not at all). Raises ValueError
    for a key that is out of range.
    """

    def __init__(self, kinds: Mapping[int, int]) -> None:
        if any(not 0 <= key <= MAX_KEY for key in kinds):
            raise ValueError(f"keys are from 0 to {MAX_KEY}")
        self._rows = {key: row for row, key in enumerate(kinds)}
        self.keys = np.full(max(kinds, default=-1) + 1, -1, np.int64)
        self.keys[list(kinds)] = np.arange(len(kinds))
        self.cells: npt.NDArray[np.int64] = np.zeros((len(kinds), KEYED_WIDTH), np.int64)
        self.cells[:, KIND] = list(kinds.values())
        self.cells[:, [LEAST + 1, GREATEST + 1]] = -1
        self.cells[:, FIRST_ROW] = -1
        self._texts: dict[tuple[int, int], bytes] = {}

    def fold(self, body: npt.NDArray[np.uint8]) -> None:
        """Take what refers to the buffer of a chunk before it is used again."""
        self.cells[:, FIRST_ROW] = -1
        for row in np.flatnonzero(self.cells[:, KIND] == TEXT).tolist():
            for column, better in ((LEAST, min), (GREATEST, max)):
                offset, size = self.cells[row, column : column + 2].tolist()
                if size >= 0:
                    found = body[offset : offset + size].tobytes()
                    known = self._texts.get((row, column))
                    self._texts[row, column] = found if known is None else better(found, known)
                    self.cells[row, column + 1] = -1

    def of(self, key: int) -> KeyTotals:
        """Totals of a wanted key."""
        row = self._rows[key]
        cells = self.cells[row].tolist()
        return KeyTotals(
            sums=tuple(cells[COUNTS : COUNTS + 3]),
            records=tuple(cells[COUNTS_FILES : COUNTS_FILES + 3]),
            all_of_first=cells[ALL_OF_FIRST],
            least=self._extreme(row, cells, LEAST),
            greatest=self._extreme(row, cells, GREATEST),
            bounded=(cells[LEAST + 2], cells[GREATEST + 2]),
        )

    def _extreme(self, row: int, cells: list[int], column: int) -> Extreme | None:
        kind, size = cells[KIND], cells[column + 1]
        if kind == TEXT:
            return self._texts.get((row, column))
        if kind == NO_KIND or size < 0:
            return None
        return _float(cells[column], size) if kind == FLOATING else cells[column]


def _float(ordered: int, size: int) -> float:
    """The float whose bits, as a signed magnitude, are this number."""
    negative, bits = ordered < 0, abs(ordered)
    (found,) = struct.unpack("<f" if size == 4 else "<d", bits.to_bytes(size, "little"))
    return -float(found) if negative else float(found)
