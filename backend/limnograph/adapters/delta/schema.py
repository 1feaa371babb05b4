"""A `metaData` action in Iceberg's terms: schema with field ids, partition spec, and logical names of columns.

Delta numbers neither schemas nor specs. Ids are hashes of their content, so that they do not change when older commits
leave the log. Field ids come from column mapping, else from the column's name, which is then its identity.
"""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import msgspec

from limnograph.adapters.delta.actions import Values
from limnograph.domain.metadata.manifests import PartitionKey
from limnograph.domain.metadata.partition_text import NULL, shortened, string_text

_MAPPED_ID = "delta.columnMapping.id"
_MAPPED_NAME = "delta.columnMapping.physicalName"
_INT31 = 2**31 - 1
_DEPTH = 50


class ColumnNames(NamedTuple):
    """Partition columns in order, as physical names, and logical names of all top-level columns by physical name."""

    partition_columns: tuple[str, ...] = ()
    logical: tuple[tuple[str, str], ...] = ()


class DeltaTable(NamedTuple):
    """The content of one `metaData` action. `uuid` and `schema` None: missing. `damaged`: its schema is invalid."""

    uuid: str | None
    schema_id: int | None
    schema: dict[str, Any] | None
    damaged: bool
    spec_id: int
    spec: dict[str, Any]
    configuration: dict[str, str]
    naming: ColumnNames


def table_of(action: dict[str, Any]) -> DeltaTable:
    """Lenient: values that are missing or of a wrong type are unknown."""
    text = action.get("schemaString")
    schema = _schema(text) if isinstance(text, str) else None
    listed = action.get("partitionColumns")
    columns = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    fields = schema["fields"] if schema else []
    physical = {field["name"]: field["physical-name"] for field in fields}
    ids = {field["name"]: field["id"] for field in fields}
    uuid = action.get("id")
    spec = {
        "spec-id": spec_id(columns),
        "fields": [{"name": name, "transform": "identity", "source-id": ids.get(name)} for name in columns],
    }
    return DeltaTable(
        uuid=uuid if isinstance(uuid, str) and uuid else None,
        schema_id=_hash(text) if schema and isinstance(text, str) else None,
        schema=schema,
        damaged=schema is None and text not in (None, ""),
        spec_id=spec_id(columns),
        spec=spec,
        configuration=_strings(action.get("configuration")),
        naming=ColumnNames(
            tuple(physical.get(name, name) for name in columns),
            tuple(sorted((field["physical-name"], field["name"]) for field in fields)),
        ),
    )


def partition_key(values: Values, naming: ColumnNames) -> PartitionKey:
    """Spec and text of a partition, `day=2026-11-20/region=eu`: logical names in the table's order of columns."""
    if not values:
        return 0, ""
    by_column = dict(values)
    logical = dict(naming.logical)
    current = len(naming.partition_columns) == len(by_column) and set(naming.partition_columns) == set(by_column)
    columns = naming.partition_columns if current else tuple(by_column)
    names = [logical.get(column, column) for column in columns]
    shown = ((name, by_column[column]) for name, column in zip(names, columns, strict=True))
    texts = (f"{name}={NULL if value is None else shortened(string_text(value))}" for name, value in shown)
    return spec_id(names), "/".join(texts)


def spec_id(columns: list[str]) -> int:
    """Id of a partitioning by its column names; 0: not partitioned."""
    return _hash(*columns) if columns else 0


def _schema(text: str) -> dict[str, Any] | None:
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    fields = _fields(document.get("fields"), "", _DEPTH)
    return {"type": "struct", "schema-id": _hash(text), "fields": fields}


def _fields(items: Any, prefix: str, depth: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for item in items if isinstance(items, list) and depth else ():
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str):
            continue
        metadata = item.get("metadata") if isinstance(item.get("metadata"), dict) else {}
        mapped, physical = metadata.get(_MAPPED_ID), metadata.get(_MAPPED_NAME)
        path = f"{prefix}{name}"
        found.append(
            {
                "id": mapped if isinstance(mapped, int) and 0 < mapped <= _INT31 else _hash(path),
                "name": name,
                "required": item.get("nullable") is False,
                "type": _type(item.get("type"), path + ".", depth - 1),
                "physical-name": physical if isinstance(physical, str) else name,
            }
        )
    return found


def _type(kind: Any, prefix: str, depth: int) -> Any:
    """Nested types in Iceberg's form; primitive types keep Delta's names."""
    if not isinstance(kind, dict) or not depth:
        return kind if isinstance(kind, str) else "unknown"
    if kind.get("type") == "struct":
        return {"type": "struct", "fields": _fields(kind.get("fields"), prefix, depth)}
    parts = {"array": {"element": "elementType"}, "map": {"key": "keyType", "value": "valueType"}}.get(
        str(kind.get("type"))
    )
    if parts is None:
        return str(kind.get("type"))
    found: dict[str, Any] = {"type": "list" if "element" in parts else "map"}
    for part, key in parts.items():
        optional = kind.get("containsNull" if part == "element" else "valueContainsNull") is not False
        found |= {
            f"{part}-id": _hash(prefix + part),
            part: _type(kind.get(key), f"{prefix}{part}.", depth - 1),
            f"{part}-required": part == "key" or not optional,
        }
    return found


def _strings(found: Any) -> dict[str, str]:
    if not isinstance(found, dict):
        return {}
    return {
        str(k): v if isinstance(v, str) else msgspec.json.encode(v).decode() for k, v in found.items() if v is not None
    }


def _hash(*parts: str) -> int:
    """A 31-bit hash of the content, never 0."""
    return zlib.crc32("\0".join(parts).encode("utf-8", "surrogatepass")) & _INT31 or 1
