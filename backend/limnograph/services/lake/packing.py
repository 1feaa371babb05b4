"""Integers in as few bytes as they need: a matrix of 64-bit numbers as one immutable buffer, read back by column.

A column is stored as a base and the distance of every number from it in 1, 2, 4 or 8 bytes. Times in whole milliseconds
are stored as milliseconds; a column with one value takes no space. The greatest distance of a width means "unknown".
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from limnograph.services.lake.columns import NULL, Ints

_MILLIS = 1_000
_SCALED = 5
"""Code of a column whose distances are milliseconds in four bytes. The other codes are widths in bytes."""
_TYPES: dict[int, Any] = {8: np.int64, 4: np.uint32, 2: np.uint16, 1: np.uint8}
_GAP = {4: 2**32 - 1, 2: 2**16 - 1, 1: 2**8 - 1}
"""The distance that means "unknown" in each width."""
_READ: dict[int, Callable[..., tuple[int]]] = {
    width: Struct(kind).unpack_from for width, kind in ((8, "=q"), (4, "=I"), (2, "=H"), (1, "=B"))
}
_LEAST, _MOST = np.int64(NULL), np.int64(2**63 - 1)
_SEPARATOR = "\0"
OVERHEAD = 600
"""Bytes of a block besides its buffer: two array objects and the tuple, measured with sys.getsizeof."""


class Block(NamedTuple):
    """`height` rows. `codes`: one byte per column. `words`: the texts of the rows, joined; equal texts share one
    object.
    """

    height: int
    codes: bytes
    bases: Ints
    data: NDArray[np.uint8]
    words: str

    @property
    def nbytes(self) -> int:
        """Bytes in memory, including the texts if there are many."""
        return self.data.nbytes + self.bases.nbytes + OVERHEAD + (len(self.words) if len(self.words) > 200 else 0)

    def column(self, index: int) -> Ints:
        """Numbers of one column. O(rows of the block)."""
        code, base = self.codes[index], self.bases[index]
        if not code:
            return np.full(self.height, base, np.int64)
        width = 4 if code == _SCALED else code
        first = _offset(self.codes, index) * self.height
        stored = self.data[first : first + width * self.height].view(_TYPES[width])
        return _restored(stored, code, base)

    def numbers(self, at: slice | list[int] = slice(None)) -> Ints:
        """All columns of all rows or some. One step per width, whatever the number of columns."""
        count = len(range(self.height)[at]) if isinstance(at, slice) else len(at)
        found = np.repeat(self.bases[:, None], count, axis=1)
        for width, columns, scale, first in _layout(self.codes):
            raw = self.data[first * self.height : (first + width * len(columns)) * self.height]
            stored = raw.view(_TYPES[width]).reshape(len(columns), self.height)[:, at]
            if width == 8:
                found[columns] = stored
                continue
            distance = stored.astype(np.int64)
            if scale is not None:
                distance *= scale
            distance += self.bases[columns, None]
            missing = stored == _GAP[width]
            if missing.any():
                distance[missing] = NULL
            found[columns] = distance
        return found

    def cells(self, row: int, columns: tuple[int, ...]) -> list[int]:
        """Some columns of one row. Faster than array steps where single rows of many blocks are shown."""
        bytes_of, height = self.data.data, self.height
        found: list[int] = []
        for index, width, scale, first in _cells(self.codes, columns):
            if width == 8:
                found += _READ[8](bytes_of, first * height + 8 * row)
                continue
            base = self.bases.item(index)
            if width:
                (stored,) = _READ[width](bytes_of, first * height + width * row)
                base = NULL if stored == _GAP[width] else base + stored * scale
            found.append(base)
        return found

    def texts(self) -> list[str]:
        """The words that the text columns index."""
        return self.words.split(_SEPARATOR)


def _restored(stored: NDArray[Any], code: int, base: np.int64) -> Ints:
    if code == 8:
        return stored
    numbers: Ints = stored.astype(np.int64)
    missing = stored == _GAP[stored.dtype.itemsize]
    if code == _SCALED:
        numbers *= _MILLIS
    numbers += base
    if missing.any():
        numbers[missing] = NULL
    return numbers


_Group = tuple[int, NDArray[np.int64], Ints | None, int]


@lru_cache(maxsize=16_384)
def _layout(codes: bytes) -> tuple[_Group, ...]:
    """The columns of each width: width, their indexes, their scales if any is scaled, bytes per row before them."""
    found: list[_Group] = []
    first = 0
    for width in (8, 4, 2, 1):
        columns = [i for i, code in enumerate(codes) if code == width or (code == _SCALED and width == 4)]
        if columns:
            scales = np.array([[_MILLIS if codes[i] == _SCALED else 1] for i in columns], np.int64)
            found.append((width, np.array(columns), scales if scales.max() > 1 else None, first))
            first += width * len(columns)
    return tuple(found)


@lru_cache(maxsize=65_536)
def _offset(codes: bytes, index: int) -> int:
    """Bytes per row before a column. Wide columns come first, so that all are aligned."""
    for width, columns, _, first in _layout(codes):
        place = np.flatnonzero(columns == index)
        if len(place):
            return first + width * int(place[0])
    raise IndexError(index)


@lru_cache(maxsize=65_536)
def _cells(codes: bytes, columns: tuple[int, ...]) -> tuple[tuple[int, int, int, int], ...]:
    """For some columns: index, width (0: all rows have the base), scale and bytes per row before it."""
    found = []
    for index in columns:
        code = codes[index]
        width = 4 if code == _SCALED else code
        found.append((index, width, _MILLIS if code == _SCALED else 1, _offset(codes, index) if code else 0))
    return tuple(found)


def pack(numbers: Ints, words: list[str] = [], texts: tuple[int, ...] = (), times: tuple[int, ...] = ()) -> Block:  # noqa: B006
    """A block of `numbers[column, row]`. `texts`: columns that are indexes of `words`; `times`: microseconds."""
    count = numbers.shape[1]
    unknown = numbers == NULL
    gaps = unknown.any(axis=1)
    highest = numbers.max(axis=1)
    lowest = np.where(unknown, _MOST, numbers).min(axis=1) if gaps.any() else numbers.min(axis=1)
    used = ""
    if texts:
        numbers, used = _own_words(numbers, words, texts, lowest, highest)
    nothing = highest == _LEAST
    span = highest.astype(np.uint64) - lowest.astype(np.uint64)
    codes = np.full(len(span), 8, np.uint8)
    for width in (4, 2, 1):
        codes[span < _GAP[width]] = width
    codes[nothing | ((span == 0) & ~gaps)] = 0
    for time in times:
        if codes[time] == 8 and span[time] // _MILLIS < _GAP[4]:
            distance = numbers[time] - lowest[time]
            if not (distance[~unknown[time]] % _MILLIS).any():
                codes[time] = _SCALED
    bases = np.where(codes == 8, 0, lowest)
    bases[nothing] = _LEAST
    text = codes.tobytes()
    data = b"".join(_stored(numbers, unknown, bases, group) for group in _layout(text))
    return Block(count, _same(text), bases, np.frombuffer(data, np.uint8), used)


def _stored(numbers: Ints, unknown: NDArray[np.bool_], bases: Ints, group: _Group) -> bytes:
    """Columns of one width, one after the other."""
    width, chosen, scale, _ = group
    if width == 8:
        return numbers[chosen].tobytes()
    distance = numbers[chosen] - bases[chosen, None]
    if scale is not None:
        distance //= scale
    stored: NDArray[Any] = distance.astype(_TYPES[width])
    stored[unknown[chosen]] = _GAP[width]
    return stored.tobytes()


_layouts: dict[bytes, bytes] = {}


def _same(codes: bytes) -> bytes:
    """One shared object for equal layouts; there are few."""
    return _layouts.setdefault(codes, codes) if len(_layouts) < 65_536 else codes


def _own_words(
    numbers: Ints, words: list[str], texts: tuple[int, ...], lowest: Ints, highest: Ints
) -> tuple[Ints, str]:
    """Text columns as indexes of only the words that these rows use; `lowest` and `highest` are updated."""
    numbers, own = numbers.copy(), dict[int, int]()
    for row in texts:
        low, high = int(lowest[row]), int(highest[row])
        if high == NULL:
            continue
        if low == high:
            code = own.setdefault(low, len(own))
            numbers[row, numbers[row] != NULL] = code
            lowest[row] = highest[row] = code
            continue
        # Codes are indexes, so counting them is less work than sorting them; the last one is "unknown".
        places = np.where(numbers[row] == NULL, high + 1, numbers[row]) - low
        codes = np.full(high + 2 - low, NULL, np.int64)
        used = np.flatnonzero(np.bincount(places)[: high + 1 - low])
        codes[used] = [own.setdefault(code, len(own)) for code in (used + low).tolist()]
        numbers[row] = codes[places]
        lowest[row], highest[row] = codes[used].min(), codes[used].max()
    text = _SEPARATOR.join(words[code].replace(_SEPARATOR, "\ufffd") for code in own)
    return numbers, sys.intern(text) if len(text) <= 200 else text
