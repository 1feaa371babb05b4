"""Converts Avro schemas of commits to Iceberg's form, so that versions and their differences can be shown.

Avro has no field ids: a column's id is a hash of its dotted name, and a schema's id a hash of its text. Both stay the
same when older commits are archived. A renamed column appears as one removed and one added.
"""

from __future__ import annotations

import zlib
from typing import Any

import msgspec

MAX_SCHEMA_CHARS = 4 * 2**20
_MAX_DEPTH = 50
_META_FIELDS = "_hoodie_"
_LOGICAL = {
    "date": "date",
    "timestamp-millis": "timestamptz",
    "timestamp-micros": "timestamptz",
    "timestamp-nanos": "timestamptz_ns",
    "local-timestamp-millis": "timestamp",
    "local-timestamp-micros": "timestamp",
    "time-millis": "time",
    "time-micros": "time",
    "uuid": "uuid",
}


def schema_id(text: str) -> int:
    """CRC-32 of the schema's text in 31 bits."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) & 0x7FFF_FFFF


def iceberg_schema(text: str) -> dict[str, Any] | None:
    """The schema in Iceberg's form; None if the text is not an Avro record."""
    if len(text) > MAX_SCHEMA_CHARS:
        return None
    try:
        document = msgspec.json.decode(text)
        if not isinstance(document, dict) or document.get("type") != "record":
            return None
        return {"schema-id": schema_id(text), "type": "struct", "fields": _fields(document, "", 0)}
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _fields(record: dict[str, Any], prefix: str, depth: int) -> list[dict[str, Any]]:
    items = record.get("fields")
    found: list[dict[str, Any]] = []
    for item in items if isinstance(items, list) and depth < _MAX_DEPTH else ():
        if isinstance(item, dict) and not str(item.get("name", "")).startswith(_META_FIELDS):
            path = f"{prefix}{item.get('name', '')}"
            kind, required = _plain(item.get("type"))
            shown = _type(kind, path, depth)
            found.append(
                {"id": schema_id(path), "name": str(item.get("name", "")), "required": required, "type": shown}
            )
    return found


def _plain(kind: Any) -> tuple[Any, bool]:
    """The type without its null branch, and whether it is required."""
    if not isinstance(kind, list):
        return kind, True
    others = [branch for branch in kind if branch != "null"]
    return (others[0] if len(others) == 1 else others), len(others) == len(kind)


def _type(kind: Any, path: str, depth: int) -> Any:
    if not isinstance(kind, dict):
        return str(kind) if isinstance(kind, str) else "union"
    logical, name = kind.get("logicalType"), kind.get("type")
    if logical == "decimal":
        return f"decimal({kind.get('precision')}, {kind.get('scale', 0)})"
    if isinstance(logical, str) and logical in _LOGICAL:
        return _LOGICAL[logical]
    if name == "record":
        return {"type": "struct", "fields": _fields(kind, f"{path}.", depth + 1)}
    if name in ("array", "map") and depth < _MAX_DEPTH:
        part = "element" if name == "array" else "value"
        inner, required = _plain(kind.get("items" if name == "array" else "values"))
        shown = {f"{part}-id": schema_id(f"{path}.{part}"), part: _type(inner, f"{path}.{part}", depth + 1)}
        return {"type": "list" if name == "array" else "map", **shown, f"{part}-required": required}
    return _type(name, path, depth + 1) if isinstance(name, (dict, list)) and depth < _MAX_DEPTH else str(name)
