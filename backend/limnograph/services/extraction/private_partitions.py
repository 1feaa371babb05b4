"""Names of partitions by private columns: their values are left out before a row is made, and partitions that then have
the same name are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from limnograph.analysis.column_names import is_private, leaves, private_patterns
from limnograph.domain.metadata.content import Content, Partitions, PartitionState
from limnograph.domain.metadata.manifests import PartitionKey
from limnograph.domain.metadata.table import TableMetadata

HIDDEN = "(private)"
"""Stands for the value of a private column."""


class PrivatePartitions:
    """Partition fields of a table whose source is private. `patterns`: those of the settings. Immutable after
    construction.
    """

    def __init__(self, metadata: TableMetadata, patterns: Sequence[str]) -> None:
        known = private_patterns(metadata.properties, patterns)
        columns = {column for schema in metadata.schemas.values() for column in leaves(schema)} if known else set()
        private = {column.field_id for column in columns if is_private(column, known)}
        fields = {number: _fields(spec) for number, spec in metadata.specs.items()}
        self._fields = {number: found for number, found in fields.items() if private & {of for _, of in found}}
        self._private = private

    def __bool__(self) -> bool:
        return bool(self._fields)

    def hidden(self, content: Content) -> Content:
        """The content without values of private columns."""
        shape, partitions = content.shape, content.partitions
        if shape is not None and shape.hot_partition is not None:
            spec = next((number for number in self._fields), None)
            shape = replace(shape, hot_partition=self._text((spec, shape.hot_partition)))
        if partitions is not None:
            partitions = self._merged(partitions)
        return replace(content, shape=shape, partitions=partitions)

    def _merged(self, partitions: Partitions) -> Partitions:
        found: dict[PartitionKey, PartitionState] = {}
        for key, state in partitions.states.items():
            name = (key[0], self._text(key))
            found[name] = state if name not in found else _sum(found[name], state)
        return replace(partitions, states=found)

    def _text(self, key: tuple[int | None, str]) -> str:
        """A partition's name. A value may contain the separator: then no part of the name is certain."""
        fields = self._fields.get(key[0] or 0) if key[0] is not None else None
        if fields is None:
            return key[1]
        parts = key[1].split("/")
        if len(parts) != len(fields) or any(
            not part.startswith(f"{name}=") for part, (name, _) in zip(parts, fields, strict=True)
        ):
            return HIDDEN
        shown = zip(parts, fields, strict=True)
        return "/".join(f"{name}={HIDDEN}" if of in self._private else part for part, (name, of) in shown)


def _fields(spec: Mapping[str, Any]) -> list[tuple[str, int | None]]:
    """Names and sources of the fields of a partition spec."""
    listed = spec.get("fields")
    fields = [field for field in listed if isinstance(field, Mapping)] if isinstance(listed, list) else []
    return [(str(field.get("name", "")), _number(field.get("source-id"))) for field in fields]


def _number(told: object) -> int | None:
    """A field id; None for anything else that a damaged file may have in its place."""
    return told if isinstance(told, int) else None


def _sum(one: PartitionState, other: PartitionState) -> PartitionState:
    times = [at for at in (one.last_committed_at, other.last_committed_at) if at is not None]
    deleted = [state.oldest_delete_at for state in (one, other) if state.delete_files]
    return PartitionState(
        data_files=one.data_files + other.data_files,
        delete_files=one.delete_files + other.delete_files,
        small_files=_both(one.small_files, other.small_files),
        records=_both(one.records, other.records),
        bytes=_both(one.bytes, other.bytes),
        delete_bytes=_both(one.delete_bytes, other.delete_bytes),
        added_data_files=one.added_data_files + other.added_data_files,
        removed_data_files=one.removed_data_files + other.removed_data_files,
        last_committed_at=max(times, default=None),
        oldest_delete_at=None if None in deleted else min((at for at in deleted if at is not None), default=None),
    )


def _both(one: int | None, other: int | None) -> int | None:
    """A sum; unknown if a part is."""
    return None if one is None or other is None else one + other
