"""Distinct values of columns from `statistics` of metadata.json: property `ndv` of the blobs that are listed there. The
Puffin files themselves are not read.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from limnograph.domain.metadata.table import TableStatistics

_SKETCH = "apache-datasketches-theta-v1"
_DIGITS = 18


def read_statistics(part: Raw | None) -> tuple[TableStatistics, ...]:
    """One entry for each statistics file that states a number; what is damaged is left out."""
    try:
        listed = msgspec.json.decode(part) if part is not None else []
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()
    files = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    found = ((item.get("snapshot-id"), _distinct(item.get("blob-metadata"))) for item in files)
    return tuple(TableStatistics(of, distinct) for of, distinct in found if type(of) is int and distinct)


def _distinct(blobs: Any) -> dict[int, int]:
    found: dict[int, int] = {}
    for blob in blobs if isinstance(blobs, list) else ():
        fields = blob.get("fields") if isinstance(blob, dict) and blob.get("type") == _SKETCH else None
        properties = blob.get("properties") if fields else None
        said = properties.get("ndv") if isinstance(properties, dict) else None
        number = _number(said)
        if isinstance(fields, list) and len(fields) == 1 and type(fields[0]) is int and number is not None:
            found[fields[0]] = number
    return found


def _number(text: Any) -> int | None:
    is_number = isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= _DIGITS
    return int(text) if is_number else None
