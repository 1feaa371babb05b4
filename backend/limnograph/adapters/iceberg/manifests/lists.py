"""Parses a manifest list."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from limnograph.adapters.avro.columns import Chunk, read_chunks
from limnograph.adapters.avro.container import open_container, parse_schema
from limnograph.adapters.avro.plan import Plan, WantedField, compile_plan
from limnograph.adapters.iceberg.manifests.damage import as_damage
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.manifests import ManifestFile

MAX_LENGTH = 2**50
MAX_COUNT = 2**50
"""Maximum files or rows that one line may claim; sums of these still fit 64 bits."""
_MAX_SPEC_ID = 2**31 - 1
_PATH, _LENGTH, _SPEC_ID, _CONTENT, _ADDED_BY = 500, 501, 502, 517, 503
_COUNTS = (504, 505, 506, 512, 513, 514)
_UNKNOWN = -1

# Field ids of the Iceberg spec; names for writers that left the ids out, and v1's older names.
_WANTED = (
    WantedField(_PATH, ("manifest_path",), "bytes"),
    WantedField(_LENGTH, ("manifest_length",)),
    WantedField(_SPEC_ID, ("partition_spec_id",)),
    WantedField(_CONTENT, ("content",)),
    WantedField(_ADDED_BY, ("added_snapshot_id",)),
    WantedField(504, ("added_files_count", "added_data_files_count")),
    WantedField(505, ("existing_files_count", "existing_data_files_count")),
    WantedField(506, ("deleted_files_count", "deleted_data_files_count")),
    WantedField(512, ("added_rows_count",)),
    WantedField(513, ("existing_rows_count",)),
    WantedField(514, ("deleted_rows_count",)),
)


@as_damage
def parse_manifest_list(content: bytes) -> list[ManifestFile]:
    """Lines of a manifest list. Raises MetadataError: manifest_list_implausible, avro_…"""
    container = open_container(content)
    plan = _plan(container.schema_text)
    return [line for chunk in read_chunks(container, plan) for line in _lines(chunk, plan)]


@lru_cache(maxsize=8)
def _plan(schema_text: bytes) -> Plan:
    return compile_plan(parse_schema(schema_text), _WANTED)


def _lines(chunk: Chunk, plan: Plan) -> list[ManifestFile]:
    slot = plan.slots.get
    spec_ids = chunk.numbers(slot(_SPEC_ID), 0)
    if not chunk.has(slot(_PATH)).all():
        raise MetadataError("manifest_list_implausible", "an entry without a path")
    if len(spec_ids) and not 0 <= spec_ids.min() <= spec_ids.max() <= _MAX_SPEC_ID:
        raise MetadataError("manifest_list_implausible", f"an entry with partition spec {spec_ids.max()}")
    lengths = chunk.numbers(slot(_LENGTH), _UNKNOWN)
    columns = (
        _paths(chunk, plan.slots[_PATH]) if len(spec_ids) else [],
        _known(np.where(lengths <= MAX_LENGTH, lengths, _UNKNOWN) >= 0, lengths),
        spec_ids.tolist(),
        (chunk.numbers(slot(_CONTENT), 0) == 1).tolist(),
        _known(chunk.has(slot(_ADDED_BY)), chunk.numbers(slot(_ADDED_BY), 0)),
        *(_counts(chunk, slot(field_id)) for field_id in _COUNTS),
    )
    return [
        ManifestFile(
            path=path,
            length=length,
            spec_id=spec_id,
            deletes=deletes,
            added_snapshot_id=added_by,
            added_files=added,
            existing_files=existing,
            deleted_files=deleted,
            added_rows=added_rows,
            existing_rows=existing_rows,
            deleted_rows=deleted_rows,
        )
        for (
            path,
            length,
            spec_id,
            deletes,
            added_by,
            added,
            existing,
            deleted,
            added_rows,
            existing_rows,
            deleted_rows,
        ) in zip(*columns, strict=True)
    ]


def _paths(chunk: Chunk, slot: int) -> list[str]:
    body = chunk.body.tobytes()
    places = chunk.rows[:, slot : slot + 2].tolist()
    return [body[offset : offset + size].decode() for offset, size in places]


def _counts(chunk: Chunk, slot: int | None) -> list[int | None]:
    """One count of every line; None if the writer left it out."""
    has, found = chunk.has(slot), chunk.numbers(slot, 0)
    if len(found) and not 0 <= found.min() <= found.max() <= MAX_COUNT:
        raise MetadataError("manifest_list_implausible", f"an entry with an impossible count: {found.max()}")
    return _known(has, found)


def _known(has: Any, numbers: Any) -> list[int | None]:
    if has.all():
        return numbers.tolist()  # type: ignore[no-any-return]
    return [number if known else None for number, known in zip(numbers.tolist(), has.tolist(), strict=True)]
