"""Encodes the arrays of one manifest as bytes for the cache. A value with a wrong digest counts as absent."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

import msgspec
import numpy as np

from limnograph.adapters.iceberg.manifests.entries import KeyColumn
from limnograph.adapters.iceberg.sums.file_columns import FileColumns, ScopedDeletes
from limnograph.adapters.iceberg.sums.sums import DELTA, LIVE, WIDTH, GroupedSums, ManifestSums

VERSION = b"5"
"""Incremented when sums, columns or this encoding change: older rows then have other keys and digests."""
_DIGEST = 16


def key_of(*parts: object) -> bytes:
    """Key for a combination of parts."""
    return hashlib.blake2b(repr((VERSION, *parts)).encode(), digest_size=_DIGEST).digest()


def sealed(key: bytes, parts: list[Any]) -> bytes:
    """Parts (arrays as bytes, texts) encoded so that `opened` accepts them only under the same key."""
    content = zlib.compress(msgspec.msgpack.encode(parts), 1)
    return _digest(key, content) + content


def opened(key: bytes, value: bytes) -> list[Any] | None:
    """Parts of a sealed value; None if it is invalid or belongs to another key."""
    content = value[_DIGEST:]
    if value[:_DIGEST] != _digest(key, content):
        return None
    try:
        found = msgspec.msgpack.decode(zlib.decompress(content))
    except (zlib.error, msgspec.DecodeError):
        return None
    return found if isinstance(found, list) else None


def _digest(key: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST, key=key).digest()


def pack_sums(sums: ManifestSums) -> list[Any]:
    """Parts of a manifest's sums."""
    groups = [array.tobytes() for group in (sums.live, sums.deltas) for array in group]
    return [sums.totals.tobytes(), *groups, sums.partitions, sums.spec_id]


def unpack_sums(parts: list[Any]) -> ManifestSums:
    """The sums from the parts of `pack_sums`."""
    totals, live_p, live_w, live_n, delta_p, delta_w, delta_n, partitions, spec_id = parts
    return ManifestSums(
        totals=_longs(totals).reshape(WIDTH),
        live=GroupedSums(_longs(live_p), _longs(live_w), _longs(live_n).reshape(len(LIVE), -1)),
        deltas=GroupedSums(_longs(delta_p), _longs(delta_w), _longs(delta_n).reshape(len(DELTA), -1)),
        partitions=partitions,
        spec_id=spec_id,
    )


def _longs(raw: bytes) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.frombuffer(raw, np.int64)


def pack_files(columns: FileColumns | ScopedDeletes) -> list[Any]:
    """Parts of a manifest's file columns, or of a delete manifest's scoped deletes."""
    if isinstance(columns, ScopedDeletes):
        return [column.tobytes() for column in columns]
    lengths = [[np.diff(keys.offsets).astype(np.int32).tobytes(), keys.data] for keys in (columns.lower, columns.upper)]
    return [*(column.tobytes() for column in columns[:5]), *lengths]


def unpack_files(parts: list[Any]) -> FileColumns | ScopedDeletes:
    """The columns from the parts of `pack_files`."""
    if len(parts) == len(ScopedDeletes._fields):
        target, deleted, is_dv = parts
        return ScopedDeletes(np.frombuffer(target, np.uint64), _longs(deleted), np.frombuffer(is_dv, np.bool_))
    partition, size, records, path, bounds, lower, upper = parts
    bounded = np.frombuffer(bounds, np.bool_)
    return FileColumns(
        partition=np.frombuffer(partition, np.int32),
        size=_longs(size),
        records=_longs(records),
        path=np.frombuffer(path, np.uint64),
        bounded=bounded,
        lower=_keys(lower, bounded),
        upper=_keys(upper, bounded),
    )


def _keys(parts: list[bytes], bounded: np.ndarray[Any, np.dtype[np.bool_]]) -> KeyColumn:
    lengths, data = parts
    return KeyColumn(np.concatenate([[0], np.cumsum(np.frombuffer(lengths, np.int32))]).astype(np.int64), data, bounded)
