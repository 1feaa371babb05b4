"""Parses schemas and partition specs in the details of `changes`, and compares two schemas by field id."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from limnograph.domain.answers.tables import Field, PartitionField


def fields(detail: str | None) -> list[Field]:
    """Columns of a schema's JSON, nested ones with dotted names; empty if it cannot be parsed."""
    document = _parsed(detail)
    return list(_walk(document.get("fields"), "")) if document else []


def partition_fields(detail: str | None) -> list[PartitionField]:
    """Fields of a partition spec's JSON."""
    document = _parsed(detail)
    items = document.get("fields") if document else None
    return [
        PartitionField(
            name=str(item.get("name", "")),
            transform=str(item.get("transform", "")),
            source_id=item.get("source-id") if isinstance(item.get("source-id"), int) else None,
        )
        for item in items or ()
        if isinstance(item, dict)
    ]


def difference(before: str | None, after: str | None) -> str | None:
    """`added note; removed tmp; renamed uid to user_id` by field id; None if unknown or equal."""
    old = {field.id: field for field in fields(before)}
    new = {field.id: field for field in fields(after)}
    if not old or not new:
        return None
    parts = [f"added {new[i].name} {new[i].type}" for i in new if i not in old]
    parts += [f"removed {old[i].name}" for i in old if i not in new]
    for i in (i for i in new if i in old):
        if old[i].name != new[i].name:
            parts.append(f"renamed {old[i].name} to {new[i].name}")
        if old[i].type != new[i].type and new[i].type not in {"struct", "list", "map"}:
            parts.append(f"{new[i].name}: {old[i].type} to {new[i].type}")
        if old[i].required != new[i].required:
            parts.append(f"{new[i].name} is now {'required' if new[i].required else 'optional'}")
    return "; ".join(parts) or None


def spec_difference(before: str | None, after: str | None) -> str | None:
    """`partitioned by day(ts), region`; None if the spec is unknown or unchanged."""
    if after is None or before == after:
        return None
    parts = [f.name if f.transform == "identity" else f"{f.transform} as {f.name}" for f in partition_fields(after)]
    return f"partitioned by {', '.join(parts)}" if parts else "not partitioned"


def _parsed(detail: str | None) -> dict[str, Any] | None:
    try:
        document = json.loads(detail) if detail else None
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _walk(items: Any, prefix: str) -> Iterator[Field]:
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict) or not isinstance(item.get("id"), int):
            continue
        name = prefix + str(item.get("name", ""))
        kind = item.get("type")
        label = kind if isinstance(kind, str) else str(kind.get("type", "")) if isinstance(kind, dict) else ""
        yield Field(id=item["id"], name=name, type=label, required=bool(item.get("required", False)))
        yield from _nested(kind, name + ".")


def _nested(kind: Any, prefix: str) -> Iterator[Field]:
    """Children of a struct, a list's element, a map's key and value."""
    if not isinstance(kind, dict):
        return
    if kind.get("type") == "struct":
        yield from _walk(kind.get("fields"), prefix)
        return
    for part in ("element", "key", "value"):
        if isinstance(kind.get(f"{part}-id"), int):
            required = kind.get(f"{part}-required", part == "key")
            child = {"id": kind[f"{part}-id"], "name": part, "type": kind.get(part), "required": required}
            yield from _walk([child], prefix)
