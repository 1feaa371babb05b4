"""The compiled kernel: finds block boundaries of an Avro file, decodes records to columns by a plan. Knows no schema.

Every byte, count and jump is checked; work is bounded by the size of the input and a budget. numba compiles the kernel
once per machine and caches it (in NUMBA_CACHE_DIR, else next to this file, else in the user's cache folder). It detects
changes by this file's size and time only, so everything the kernel uses, including the operations, is in this file.
"""

# numba types these functions by their signature. An interpreter is one long switch with many exits.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"
# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0911, PLR0912, PLR0915, PLR0917

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.caching import FunctionCache
from numba.core.event import Event, Listener, register

from limnograph.adapters.avro.turns import COMPILING, enter, turn

END, VARINTS, FIXED, BYTES, BRANCH, OPTIONAL, JUMP, ENTER, NEXT = range(9)
PAIRS, NUMBERS, KEEP_VARINT, KEEP_BYTES, KEEP_TAG, MARK, GROUP, FIND, KEY, VALUE, MATCH = range(9, 20)
ADD, EXTREME = range(20, 22)
"""The operations that `kernel.decode` executes:

END            end of the record
VARINTS a      skip a numbers                    NEXT a b         next item of a loop, of b bytes or more, else to a
FIXED a        skip a bytes                      PAIRS            skip an array of (number, bytes)
BYTES          skip bytes or text                NUMBERS a        skip an array of a numbers each
BRANCH a b     one of a branches: targets[b + it]  KEEP_x a       keep a number, the offset of bytes, a short word
OPTIONAL a b   null if branch a: go on at b      MARK a, GROUP a  the bytes between them are one of few values
JUMP a         go on at a                        KEY, VALUE       a key, and the offset of its bytes
ENTER          a loop begins                     MATCH a          keep that offset if the key is the wanted one
                                                 FIND a           the same for an array of (key, bytes) at once
ADD a b        add an array of (key, number) to measure a of its keys, if slot b holds COUNTED; otherwise skip it
EXTREME a b    FIND a, and the same for the least (b even) or greatest (b odd) value of keys; slot b // 2
"""
COUNTED = 1
"""Value of the gate's slot in records that ADD and EXTREME count. In Iceberg: the status of an added file."""
COUNTS, COUNTS_FILES = 0, 3
"""`keyed`, one row per wanted key: sums of three measures, then for each the records that have it."""
ALL_OF_FIRST, FIRST_ROW, FIRST = 6, 7, 8
"""Records whose second measure equals the first; the record of `FIRST`, its first measure."""
KIND, LEAST, GREATEST = 9, 10, 13
"""Kind of the key's values; extreme value or its offset, its size, records that have it."""
KEYED_WIDTH = 16
NO_KIND, INTEGER, FLOATING, TEXT, DECIMAL = range(5)
"""How bytes of a key are compared: little-endian integers, floats, byte by byte, big-endian integers of 8 bytes."""
PRESENT = 0
"""Output column whose bit `s` is set if slot `s` was written."""
OK, CUT, BAD_NUMBER, BAD_BRANCH, BAD_LENGTH, BAD_COUNT, TOO_MUCH_WORK, NOT_CONSUMED, NO_SYNC = range(9)
REASONS = (
    "",
    "a value ends after its block",
    "a number is too long",
    "a branch that is not in its union",
    "an impossible length",
    "an impossible count",
    "more work than its size justifies",
    "a block is longer than its records",
    "a block ends early or without its sync marker",
)
MOST_COUNTED = 1 << 40
"""Largest number that ADD takes from one record: sums of all records of a file fit 64 bits."""
TAG_BYTES = 7
"""Maximum letters of a short word in a tag, whose highest byte holds the length."""
_SYNC = 16
_HIGH_BITS = np.uint64(0x8080_8080_8080_8080)
_ONES = np.uint64(0x0101_0101_0101_0101)
_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)

_bytes = types.Array(types.uint8, 1, "C", readonly=True)
_longs = types.Array(types.int64, 1, "C")
_plan = types.Array(types.int64, 2, "C")


class _Compiles(Listener):
    """Reports that this process compiles, because the cache has no code for this machine."""

    def on_start(self, _event: Event) -> None:
        enter(COMPILING)

    def on_end(self, _event: Event) -> None:
        """Does nothing: the next function follows."""


register("numba:compile", _Compiles())


def _compiled(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`numba.njit`, cached on disk where possible. A damaged cache entry is deleted and compiled again. Of several
    processes, one compiles and the others load its result.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        folder = ""
        with suppress(Exception):
            folder = FunctionCache(function).cache_path
        with turn(folder):
            return loaded(function)

    def loaded(function: Callable[..., Any]) -> Callable[..., Any]:
        kept = numba.njit(signature, cache=True, nogil=True, **options)
        # numba raises RuntimeError, OSError or any error from unpickling a damaged file.
        with suppress(Exception):
            return kept(function)  # type: ignore[no-any-return]
        with suppress(Exception):
            FunctionCache(function).flush()
            return kept(function)  # type: ignore[no-any-return]
        return numba.njit(signature, nogil=True, **options)(function)  # type: ignore[no-any-return]

    return decorate


@numba.njit(nogil=True)
def _number(data, position, end):
    """`(value, position after it)`; the position is negative on error."""
    if position >= end:
        return 0, -CUT
    byte = data[position]
    position += 1
    value = np.uint64(byte & 0x7F)
    shift = 7
    while byte >= 0x80:
        if position >= end:
            return 0, -CUT
        byte = data[position]
        position += 1
        if shift == 63 and byte > 1:
            return 0, -BAD_NUMBER
        value |= np.uint64(byte & 0x7F) << np.uint64(shift)
        shift += 7
    return np.int64(value >> np.uint64(1)) ^ -np.int64(value & np.uint64(1)), position


@numba.njit(nogil=True)
def _behind(data, position, end, count):
    """Position after `count` numbers, negative on error. Skipped numbers may be longer than necessary.

    A byte below 0x80 ends a number. Eight bytes are counted at once while all of their numbers are to be skipped.
    """
    while count >= 8 and position + 8 <= end:
        word = np.uint64(0)
        for index in range(8):
            word |= np.uint64(data[np.uint64(position) + np.uint64(index)]) << np.uint64(8 * index)
        ends = ((~word & _HIGH_BITS) >> np.uint64(7)) * _ONES >> np.uint64(56)
        count -= np.int64(ends)
        position += 8
    while count > 0:
        if position >= end:
            return -CUT
        count -= data[position] < 0x80
        position += 1
    return position


@numba.njit(nogil=True)
def _length(data, position, end):
    """Length of bytes that begin at the returned position and end within the block."""
    size, position = _number(data, position, end)
    if position >= 0 and (size < 0 or size > end - position):
        return 0, -BAD_LENGTH
    return size, position


@numba.njit(nogil=True)
def _items(data, position, end, least):
    """Number of items in the next block of an array or map, each of `least` bytes or more; 0 after the last block."""
    count, position = _number(data, position, end)
    if position >= 0 and count < 0:
        # A negative count is followed by the size of its block.
        count = -count
        position = _behind(data, position, end, 1)
        if position >= 0 and count < 0:
            return 0, -BAD_COUNT
    if position >= 0 and least > 0 and count > (end - position) // least:
        return 0, -BAD_COUNT
    return count, position


@numba.njit(nogil=True)
def _behind_pairs(data, position, end):
    """Position after an array of (number, bytes): most of a manifest consists of these."""
    while True:
        count, position = _items(data, position, end, 2)
        if position < 0 or count == 0:
            return position
        while count > 0:
            if position + 2 <= end and (data[position] | data[position + 1]) < 0x80:
                # Key and length of one byte each: the lowest bit of a negative length is set.
                size = np.int64(data[position + 1])
                position += 2
                if size & 1 or size >> 1 > end - position:
                    return -BAD_LENGTH
                position += size >> 1
                count -= 1
                continue
            position = _behind(data, position, end, 1)
            if position < 0:
                return position
            size, position = _length(data, position, end)
            if position < 0:
                return position
            position += size
            count -= 1


@numba.njit(nogil=True)
def _behind_numbers(data, position, end, width):
    """Position after an array of items of `width` numbers."""
    while True:
        count, position = _items(data, position, end, width)
        if position < 0 or count == 0:
            return position
        position = _behind(data, position, end, count * width)
        if position < 0:
            return position


@numba.njit(nogil=True)
def _find(data, position, end, wanted, row, slot):
    """Position after an array of (key, bytes). Writes offset and size of the first value of the wanted key to `slot` of
    the row; the size is negative if there is none.
    """
    row[slot + 1] = -1
    while True:
        count, position = _items(data, position, end, 2)
        if position < 0 or count == 0:
            return position
        while count > 0:
            key, position = _number(data, position, end)
            if position < 0:
                return position
            size, position = _length(data, position, end)
            if position < 0:
                return position
            if key == wanted and row[slot + 1] < 0:
                row[slot], row[slot + 1] = position, size
            position += size
            count -= 1


@numba.njit(nogil=True)
def _add(data, position, end, measure, row, keys, keyed):
    """Position after an array of (key, number), whose numbers are added to a measure of their keys."""
    while True:
        count, position = _items(data, position, end, 2)
        if position < 0 or count == 0:
            return position
        while count > 0:
            count -= 1
            if position + 4 <= end and data[position] < 0x80:
                # A key of one byte and a number of up to three; the lowest bit of a negative one is set.
                key = np.int64(data[position])
                word = np.uint64(data[position + 1])
                position += 2
                if word >= 0x80:
                    byte = np.uint64(data[position])
                    word = (word & np.uint64(0x7F)) | (byte & np.uint64(0x7F)) << np.uint64(7)
                    position += 1
                    if byte >= 0x80:
                        byte = np.uint64(data[position])
                        word |= byte << np.uint64(14)
                        position += 1
                        if byte >= 0x80:
                            position -= 3
                            number, position = _number(data, position, end)
                            if position < 0:
                                return position
                            word = np.uint64(number << 1) if number >= 0 else np.uint64(1)
                if (np.uint64(key) | word) & np.uint64(1):
                    continue
                key >>= 1
                number = np.int64(word >> np.uint64(1))
            else:
                key, position = _number(data, position, end)
                if position < 0:
                    return position
                number, position = _number(data, position, end)
                if position < 0:
                    return position
            if key < 0 or key >= len(keys) or number < 0 or number > MOST_COUNTED:
                continue
            at = keys[np.uint64(key)]
            if at < 0:
                continue
            at = np.uint64(at)
            keyed[at, COUNTS + measure] += number
            keyed[at, COUNTS_FILES + measure] += 1
            if measure == 0:
                keyed[at, FIRST_ROW], keyed[at, FIRST] = row, number
            elif measure == 1 and keyed[at, FIRST_ROW] == row and keyed[at, FIRST] == number:
                keyed[at, ALL_OF_FIRST] += 1


@numba.njit(nogil=True)
def _ordered(data, position, size, kind):
    """`(number in the order of the values, whether there is one)`. A float is as its bits, NaN is no bound."""
    if kind == DECIMAL:
        if size < 1 or size > 8:
            return np.int64(0), False
        value = np.int64(np.int8(data[position]))
        for index in range(1, size):
            value = (value << 8) | np.int64(data[position + index])
        return value, True
    word = np.uint64(0)
    if size == 8:
        for index in range(8):
            word |= np.uint64(data[np.uint64(position) + np.uint64(index)]) << np.uint64(8 * index)
    elif size == 4:
        for index in range(4):
            word |= np.uint64(data[np.uint64(position) + np.uint64(index)]) << np.uint64(8 * index)
    else:
        return np.int64(0), False
    if kind == INTEGER:
        return (np.int64(np.int32(word)) if size == 4 else np.int64(word)), True
    if size == 4:
        exponent, rest = np.uint64(0x7F80_0000), word & np.uint64(0x7FFF_FFFF)
    else:
        exponent, rest = np.uint64(0x7FF0_0000_0000_0000), word & np.uint64(0x7FFF_FFFF_FFFF_FFFF)
    if rest > exponent:
        return np.int64(0), False
    magnitude = np.int64(rest)
    return np.int64(magnitude if rest == word else -magnitude), True


@numba.njit(nogil=True)
def _before(data, position, size, other, other_size):
    """Whether bytes sort before others."""
    for index in range(min(size, other_size)):
        if data[position + index] != data[other + index]:
            return data[position + index] < data[other + index]
    return size < other_size


@numba.njit(nogil=True)
def _extreme(data, position, end, wanted, cells, slot, greatest, keys, keyed):
    """As `_find`; also keeps the least or greatest value of each key."""
    cells[slot + 1] = -1
    column = GREATEST if greatest else LEAST
    while True:
        count, position = _items(data, position, end, 2)
        if position < 0 or count == 0:
            return position
        while count > 0:
            count -= 1
            if position + 2 <= end and (data[position] | data[position + 1]) < 0x80:
                # As in `_behind_pairs`; no wanted key is negative.
                key, size = np.int64(data[position]), np.int64(data[position + 1])
                position += 2
                if size & 1 or size >> 1 > end - position:
                    return -BAD_LENGTH
                size >>= 1
                key = np.int64(-1) if key & 1 else key >> 1
            else:
                key, position = _number(data, position, end)
                if position < 0:
                    return position
                size, position = _length(data, position, end)
                if position < 0:
                    return position
            start = position
            position += size
            if key < 0:
                continue
            if key == wanted and cells[slot + 1] < 0:
                cells[slot], cells[slot + 1] = start, size
            if key >= len(keys) or keys[np.uint64(key)] < 0:
                continue
            at = np.uint64(keys[np.uint64(key)])
            kind = keyed[at, KIND]
            if kind == NO_KIND:
                continue
            seen = keyed[at, column + 1] >= 0
            if kind == TEXT:
                keyed[at, column + 2] += 1
                best, best_size = keyed[at, column], keyed[at, column + 1]
                if seen and _before(data, start, size, best, best_size) == greatest:
                    continue
                keyed[at, column], keyed[at, column + 1] = start, size
                continue
            value, known = _ordered(data, start, size, kind)
            if not known:
                continue
            keyed[at, column + 2] += 1
            if not seen or (value > keyed[at, column] if greatest else value < keyed[at, column]):
                keyed[at, column] = value
            if seen and kind == FLOATING and keyed[at, column + 1] != size:
                # Floats of four and of eight bytes are not compared: the extreme of such keys is unknown.
                keyed[at, column + 2] = -MOST_COUNTED
            keyed[at, column + 1] = size


@numba.njit(nogil=True)
def _tag(data, position, size):
    """A short word in capital letters, encoded as a number."""
    tag = min(size, 127)
    for index in range(TAG_BYTES):
        letter = np.int64(data[position + index]) if index < size else 0
        if 97 <= letter <= 122:
            letter -= 32
        tag = (tag << 8) | letter
    return tag


@_compiled(types.int64(_bytes, types.int64, _bytes, _plan))
def scan_blocks(content, position, sync, blocks):
    """Fill `blocks` with `(records, offset, size)`. Afterwards, row 0 holds rows used, next position and error code.

    Returns the number of blocks found.
    """
    found = 1
    end = len(content)
    code = OK
    while position < end and found < len(blocks):
        count, position = _number(content, position, end)
        if position < 0:
            code = -position
            break
        size, position = _number(content, position, end)
        if position < 0:
            code = -position
            break
        if count < 0 or size < 0 or size > end - position - _SYNC:
            code = NO_SYNC
            break
        behind = position + size
        for index in range(_SYNC):
            if content[behind + index] != sync[index]:
                code = NO_SYNC
        if code != OK:
            break
        blocks[found, 0], blocks[found, 1], blocks[found, 2] = count, position, size
        found += 1
        position = behind + _SYNC
    blocks[0, 0], blocks[0, 1], blocks[0, 2] = found - 1, position, code
    return found - 1


@numba.njit(nogil=True)
def _group(data, begin, end, table, groups, state):
    """Number of a value among the distinct ones: FNV-1a, open addressing, compared byte by byte."""
    mixed = np.uint64(14695981039346656037) ^ np.uint64(state[1])
    for index in range(begin, end):
        mixed = (mixed ^ np.uint64(data[index])) * np.uint64(1099511628211)
    mixed ^= mixed >> np.uint64(29)
    mask = len(table) - 1
    place = np.int64(mixed & np.uint64(mask))
    size = end - begin
    while True:
        number = table[place]
        if number < 0:
            number = state[0]
            table[place] = number
            groups[number, 0], groups[number, 1] = begin, size
            state[0] += 1
            return number
        if groups[number, 1] == size:
            start = groups[number, 0]
            same = True
            for index in range(size):
                if data[start + index] != data[begin + index]:
                    same = False
                    break
            if same:
                return number
        place = (place + 1) & mask


@_compiled(
    types.int64(
        _bytes, _plan, _plan, _longs, types.int64, types.int64, _plan, _longs, _plan, _longs, _longs, _longs, _plan
    ),
    boundscheck=False,
)
def decode(
    data,
    blocks,
    code,
    targets,
    wanted_key,
    budget,
    rows,
    table,
    groups,
    state,
    loops,
    keys,
    keyed,
):
    """Decode `blocks` (`(records, offset, size)` in `data`) into `rows`, one row per record.

    table   hash table: a power of two of -1, at least twice the number of records
    groups  `(offset, size)` of each distinct value of the grouped field
    state   `state[0]` counts the distinct values, `state[1]` seeds their hash
    loops   one entry per nesting level of loops
    keys    row of `keyed` by key; negative: not wanted

    Returns an error code.
    """
    row = 0
    for block in range(len(blocks)):
        position = blocks[block, 1]
        end = position + blocks[block, 2]
        for _ in range(blocks[block, 0]):
            at = 0
            depth = 0
            present = 0
            begin = position
            key = 0
            value_at = 0
            value_size = 0
            while True:
                operation = code[at, 0]
                budget -= 1
                if budget < 0:
                    return TOO_MUCH_WORK
                if operation == OPTIONAL:
                    number, position = _number(data, position, end)
                    if position < 0:
                        return -position
                    if number < 0 or number > 1:
                        return BAD_BRANCH
                    at = code[at, 2] if number == code[at, 1] else at + 1
                elif operation == NEXT:
                    if loops[depth] == 0:
                        number, position = _items(data, position, end, code[at, 2])
                        if position < 0:
                            return -position
                        if number == 0:
                            depth -= 1
                            at = code[at, 1]
                            continue
                        loops[depth] = number
                    loops[depth] -= 1
                    at += 1
                elif operation == JUMP:
                    at = code[at, 1]
                elif operation == VARINTS:
                    position = _behind(data, position, end, code[at, 1])
                    if position < 0:
                        return -position
                    at += 1
                elif operation == BYTES:
                    number, position = _length(data, position, end)
                    if position < 0:
                        return -position
                    position += number
                    at += 1
                elif operation == PAIRS:
                    position = _behind_pairs(data, position, end)
                    if position < 0:
                        return -position
                    at += 1
                elif operation == NUMBERS:
                    position = _behind_numbers(data, position, end, code[at, 1])
                    if position < 0:
                        return -position
                    at += 1
                elif operation == KEEP_VARINT:
                    number, position = _number(data, position, end)
                    if position < 0:
                        return -position
                    rows[row, code[at, 1]] = number
                    present |= 1 << code[at, 1]
                    at += 1
                elif operation == KEEP_BYTES:
                    number, position = _length(data, position, end)
                    if position < 0:
                        return -position
                    rows[row, code[at, 1]] = position
                    rows[row, code[at, 1] + 1] = number
                    present |= 1 << code[at, 1]
                    position += number
                    at += 1
                elif operation == ENTER:
                    depth += 1
                    loops[depth] = 0
                    at += 1
                elif operation == END:
                    break
                elif operation == MARK:
                    begin = position
                    at += 1
                elif operation == GROUP:
                    rows[row, code[at, 1]] = _group(data, begin, position, table, groups, state)
                    present |= 1 << code[at, 1]
                    at += 1
                elif operation == KEEP_TAG:
                    number, position = _length(data, position, end)
                    if position < 0:
                        return -position
                    rows[row, code[at, 1]] = _tag(data, position, number)
                    present |= 1 << code[at, 1]
                    position += number
                    at += 1
                elif operation == FIND:
                    position = _find(data, position, end, wanted_key, rows[row], code[at, 1])
                    if position < 0:
                        return -position
                    if rows[row, code[at, 1] + 1] >= 0:
                        present |= 1 << code[at, 1]
                    at += 1
                elif operation == ADD:
                    slot = code[at, 2]
                    if (present >> slot) & 1 and rows[row, slot] == COUNTED:
                        position = _add(data, position, end, code[at, 1], row, keys, keyed)
                    else:
                        position = _behind_numbers(data, position, end, 2)
                    if position < 0:
                        return -position
                    at += 1
                elif operation == EXTREME:
                    slot = code[at, 2] >> 1
                    if (present >> slot) & 1 and rows[row, slot] == COUNTED:
                        greatest = code[at, 2] & 1 == 1
                        position = _extreme(
                            data, position, end, wanted_key, rows[row], code[at, 1], greatest, keys, keyed
                        )
                    else:
                        position = _find(data, position, end, wanted_key, rows[row], code[at, 1])
                    if position < 0:
                        return -position
                    if rows[row, code[at, 1] + 1] >= 0:
                        present |= 1 << code[at, 1]
                    at += 1
                elif operation == KEY:
                    key, position = _number(data, position, end)
                    if position < 0:
                        return -position
                    at += 1
                elif operation == VALUE:
                    value_size, position = _length(data, position, end)
                    if position < 0:
                        return -position
                    value_at = position
                    position += value_size
                    at += 1
                elif operation == MATCH:
                    slot = code[at, 1]
                    if key == wanted_key and not (present >> slot) & 1:
                        rows[row, slot] = value_at
                        rows[row, slot + 1] = value_size
                        present |= 1 << slot
                    at += 1
                elif operation == FIXED:
                    if code[at, 1] > end - position:
                        return CUT
                    position += code[at, 1]
                    at += 1
                else:  # BRANCH
                    number, position = _number(data, position, end)
                    if position < 0:
                        return -position
                    if number < 0 or number >= code[at, 1]:
                        return BAD_BRANCH
                    at = targets[code[at, 2] + number]
            rows[row, PRESENT] = present
            row += 1
        if position != end:
            return NOT_CONSUMED
    return OK


@_compiled(types.void(_bytes, _plan, types.Array(types.uint64, 1, "C")))
def hash_places(data, places, found):
    """A 64-bit hash of the bytes at each `(offset, size)`, the same in every process; distinguishes paths."""
    for row in range(len(places)):
        position, left = places[row, 0], places[row, 1]
        mixed = np.uint64(left) * _MIX
        while left > 0:
            word = np.uint64(0)
            for index in range(min(left, 8)):
                word |= np.uint64(data[position + index]) << np.uint64(8 * index)
            mixed = (mixed ^ word) * _MIX
            mixed ^= mixed >> np.uint64(47)
            position += 8
            left -= 8
        found[row] = mixed
