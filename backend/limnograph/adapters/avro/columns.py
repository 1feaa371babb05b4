"""Records of an Avro file as columns of numbers and byte offsets: blocks are decoded by the kernel in chunks."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.adapters.avro.codecs import decompressor
from limnograph.adapters.avro.container import MAX_BLOCK_BYTES, Container
from limnograph.adapters.avro.kernel import OK, PRESENT, REASONS, decode, hash_places, scan_blocks
from limnograph.adapters.avro.keyed import KeyedTotals
from limnograph.adapters.avro.plan import Plan
from limnograph.domain.errors import MetadataError

Longs = npt.NDArray[np.int64]

MAX_RECORDS = 4_000_000
"""Maximum records of one file. A manifest of 8 MiB, Iceberg's target size, has some ten thousand."""
_CHUNK_BYTES = 1 << 20
"""Decompressed bytes per call of the kernel: small enough for the processor's cache."""
_BLOCKS_AT_ONCE = 16_384
_STEPS_A_BYTE = 16
_STEPS_FREE = 1_000_000
_SEED = secrets.randbits(62)


class Chunk(NamedTuple):
    """Some records, valid until the next chunk is requested, because their buffer is reused.

    rows      one column per slot of `plan.slots`
    distinct  `(offset, size)` in `body` of each distinct value of the grouped field, whose column holds their numbers
    every     bit per slot: all records have a value in it
    some      bit per slot: at least one record has a value in it
    """

    rows: Longs
    body: npt.NDArray[np.uint8]
    distinct: Longs
    every: int
    some: int

    def has(self, slot: int | None) -> npt.NDArray[np.bool_]:
        """Which records have a value in a slot; none if the writer's schema lacks the field."""
        if slot is None or not self.some >> slot & 1:
            return np.zeros(len(self.rows), np.bool_)
        if self.every >> slot & 1:
            return np.ones(len(self.rows), np.bool_)
        return np.asarray((self.rows[:, PRESENT] >> slot) & 1, np.bool_)

    def numbers(self, slot: int | None, default: int | Longs) -> Longs:
        """The numbers in a slot; `default` for records without a value."""
        if slot is not None and self.every >> slot & 1:
            return self.rows[:, slot]
        if slot is not None and self.some >> slot & 1:
            return np.where(self.has(slot), self.rows[:, slot], default)
        return default if isinstance(default, np.ndarray) else np.full(len(self.rows), default, np.int64)

    def hashes(self, slot: int | None) -> npt.NDArray[np.uint64]:
        """Hashes of the bytes that a slot points at; 0 for records without a value."""
        found = np.zeros(len(self.rows), np.uint64)
        if slot is not None:
            has = self.has(slot)
            places = np.where(has[:, None], self.rows[:, slot : slot + 2], 0)
            hash_places(self.body, np.ascontiguousarray(places), found)
            found[~has] = 0
        return found

    def values(self) -> list[bytes]:
        """Copies of the distinct values, ordered by number."""
        view = self.body.data
        return [view[offset : offset + size].tobytes() for offset, size in self.distinct.tolist()]


def read_chunks(
    container: Container, plan: Plan, wanted_key: int = -1, totals: KeyedTotals | None = None
) -> Iterator[Chunk]:
    """Every record of the file. `totals`: of keys, which grow with every chunk. Raises MetadataError: avro_damaged,
    avro_codec_unknown, avro_too_large.
    """
    totals = totals or KeyedTotals({})
    # One buffer for all blocks: allocating memory for each one costs as much as decoding its content.
    room = np.empty(min(_CHUNK_BYTES, container.max_bytes), np.uint8)
    shared = room.data
    held: list[tuple[int, int, int]] = []
    used = records = 0
    for count, body in _bodies(container, plan):
        records += count
        if records > MAX_RECORDS:
            raise MetadataError("avro_too_large", f"an Avro file of more than {MAX_RECORDS} records")
        size = len(body)
        if used + size > len(room) and held:
            yield _decoded(room[:used], held, plan, wanted_key, totals)
            held, used = [], 0
        if size > len(room):
            yield _decoded(np.frombuffer(body, np.uint8), [(count, 0, size)], plan, wanted_key, totals)
            continue
        shared[used : used + size] = body
        held.append((count, used, size))
        used += size
    if held:
        yield _decoded(room[:used], held, plan, wanted_key, totals)


def _bodies(container: Container, plan: Plan) -> Iterator[tuple[int, Any]]:
    """`(records, decompressed bytes)` of every block, within the limit of the file."""
    decompress = decompressor(container.codec)
    view = memoryview(container.content)
    left = container.max_bytes
    for count, offset, size in _blocks(container):
        body = decompress(view[offset : offset + size], min(left, MAX_BLOCK_BYTES))
        length = len(body)
        left -= length
        if count * max(plan.min_bytes, 1) > length:
            raise MetadataError("avro_damaged", f"a block of {length} bytes with {count} records")
        yield count, body


def _blocks(container: Container) -> Iterator[tuple[int, int, int]]:
    """`(records, offset, size)` of every block."""
    content = np.frombuffer(container.content, np.uint8)
    sync = np.frombuffer(container.sync, np.uint8)
    position, found = container.offset, np.empty((min(_BLOCKS_AT_ONCE, len(content) // 18 + 2), 3), np.int64)
    while position < len(content):
        used = scan_blocks(content, position, sync, found)
        _, position, code = found[0].tolist()
        if code != OK:
            raise MetadataError("avro_damaged", REASONS[code])
        yield from map(tuple, found[1 : used + 1].tolist())


def _decoded(
    body: npt.NDArray[np.uint8], held: list[tuple[int, int, int]], plan: Plan, wanted_key: int, totals: KeyedTotals
) -> Chunk:
    """Records of the blocks in `held`: `(records, offset, size)` in `body`."""
    blocks = np.array(held, np.int64)
    records = int(blocks[:, 0].sum())
    rows = np.empty((records, plan.width), np.int64)
    table = np.full(1 << max(4, (2 * records).bit_length()), -1, np.int64)
    groups = np.empty((max(records, 1), 2), np.int64)
    state = np.array([0, _SEED], np.int64)
    budget = _STEPS_FREE + _STEPS_A_BYTE * len(body)
    code = decode(
        body, blocks, plan.code, plan.targets, wanted_key, budget, rows, table, groups, state,
        np.zeros(plan.depth + 1, np.int64), totals.keys, totals.cells,
    )  # fmt: skip
    if code != OK:
        raise MetadataError("avro_damaged", REASONS[code])
    totals.fold(body)
    present = rows[:, PRESENT]
    every, some = int(np.bitwise_and.reduce(present)), int(np.bitwise_or.reduce(present))
    return Chunk(rows, body, groups[: int(state[0])], every, some)
