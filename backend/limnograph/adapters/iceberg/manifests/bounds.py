"""Bounds of a column as keys whose byte order is the order of the values (Iceberg spec, single-value serialisation).

Knows how a manifest encodes bounds, not which column to read.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from limnograph.adapters.iceberg.manifests.entries import KeyColumn

Key = Callable[[bytes], bytes | None]

_SIGN = 1 << 63
_ALL = (1 << 64) - 1
_LONG = 8
_DECIMAL_BYTES = 16
"""Enough for the 38 digits of the largest decimal."""


def bound_key(kind: str | None) -> Key | None:
    """Conversion of a bound to a key, for a column of this Iceberg type; None for types whose bounds have no order."""
    if kind is None:
        return None
    return _KEYS.get(kind.partition("(")[0].partition("[")[0].strip())


def column_type(schema: Any, field_id: int) -> str | None:
    """Type of a column, including columns inside structs, as in the table schema; None if it is absent or nested."""
    waiting: list[Any] = [schema]
    while waiting:
        fields = waiting.pop().get("fields")
        for field in fields if isinstance(fields, list) else []:
            kind = field.get("type") if isinstance(field, dict) else None
            if isinstance(field, dict) and field.get("id") == field_id:
                return kind if isinstance(kind, str) else None
            if isinstance(kind, dict):
                waiting.append(kind)
    return None


def bound_keys(
    kind: str | None, body: npt.NDArray[np.uint8], places: npt.NDArray[np.int64], has: npt.NDArray[np.bool_]
) -> KeyColumn:
    """Keys of the bounds at `places` (`offset, size`) in `body`, for the records that have them."""
    key = bound_key(kind)
    if key is None:
        return KeyColumn.of([None] * len(places))
    if key is _integer and (places[has, 1] == _LONG).all():
        return _integers(body, places[:, 0], has)
    raw = body.tobytes()
    listed = zip(places.tolist(), has.tolist(), strict=True)
    return KeyColumn.of([key(raw[offset : offset + size]) if known else None for (offset, size), known in listed])


def _integers(body: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], has: npt.NDArray[np.bool_]) -> KeyColumn:
    """Vectorised `_integer` for longs."""
    little = body[offsets[has][:, None] + np.arange(_LONG)].view("<u8")
    ends = np.concatenate([[0], np.cumsum(has.astype(np.int64) * _LONG)])
    return KeyColumn(ends, (little ^ np.uint64(_SIGN)).astype(">u8").tobytes(), has)


def _integer(raw: bytes) -> bytes | None:
    """Little-endian integer. A long has four bytes if its column was an int when the file was written."""
    if len(raw) not in {4, 8}:
        return None
    return ((int.from_bytes(raw, "little", signed=True) + _SIGN) & _ALL).to_bytes(8, "big")


def _floating(raw: bytes) -> bytes | None:
    """IEEE 754 order: negative numbers with all bits flipped, others with the sign bit flipped. NaN is not a bound."""
    if len(raw) not in {4, 8}:
        return None
    (value,) = struct.unpack("<f" if len(raw) == 4 else "<d", raw)
    if math.isnan(value):
        return None
    (bits,) = struct.unpack(">Q", struct.pack(">d", value))
    return (bits ^ (_ALL if bits & _SIGN else _SIGN)).to_bytes(8, "big")  # type: ignore[no-any-return]


def _decimal(raw: bytes) -> bytes | None:
    """Big-endian two's complement of any length, extended to a fixed length and made unsigned."""
    if not 1 <= len(raw) <= _DECIMAL_BYTES:
        return None
    wide = 8 * _DECIMAL_BYTES
    return (int.from_bytes(raw, "big", signed=True) + (1 << (wide - 1))).to_bytes(_DECIMAL_BYTES, "big")


def _boolean(raw: bytes) -> bytes | None:
    return (b"\x01" if raw[0] else b"\x00") if len(raw) == 1 else None


def _as_it_is(raw: bytes) -> bytes | None:
    return raw


INTEGERS = frozenset({"int", "long", "date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})
"""Types whose bounds are little-endian integers."""
_KEYS: dict[str, Key] = {
    **dict.fromkeys(INTEGERS, _integer),
    **dict.fromkeys(("float", "double"), _floating),
    **dict.fromkeys(("string", "binary", "fixed", "uuid"), _as_it_is),
    "decimal": _decimal,
    "boolean": _boolean,
}
