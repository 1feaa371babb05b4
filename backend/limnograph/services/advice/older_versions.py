"""Dates a table's current schema and partition spec by its older metadata files, where these still exist."""

from __future__ import annotations

from collections.abc import Callable

from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.time import Micros, to_micros

State = Callable[[TableMetadata], int | None]


def older_versions(
    metadata: TableMetadata, read: Callable[[str], TableMetadata]
) -> tuple[tuple[Micros, TableMetadata], ...]:
    """Versions of the table with their instants, oldest first, among them those before and after each state became what
    it is. A file that is damaged or was deleted dates nothing. O(log of the metadata log) files.
    """
    log, files = metadata.metadata_log, dict[int, TableMetadata | None]()

    def version(place: int) -> TableMetadata | None:
        if place not in files:
            try:
                files[place] = read(log[place].value)
            except (MetadataError, SourceError):
                files[place] = None
        return files[place]

    for state, known in ((_spec, metadata.specs), (_schema, metadata.schemas)):
        if len(known) > 1:
            _find_change(state, metadata, len(log), version)
    return tuple((to_micros(log[place].timestamp_ms), found) for place, found in sorted(files.items()) if found)


def _find_change(
    state: State, metadata: TableMetadata, count: int, version: Callable[[int], TableMetadata | None]
) -> None:
    """Read versions by halving until one has another state and the next one has the current one."""
    before, after = -1, count
    while after - before > 1:
        place = (before + after) // 2
        found = version(place)
        if found is not None and state(found) == state(metadata):
            after = place
        else:
            before = place


def _spec(metadata: TableMetadata) -> int | None:
    return metadata.default_spec_id


def _schema(metadata: TableMetadata) -> int | None:
    return metadata.current_schema_id
