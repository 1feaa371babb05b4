"""Builds `inspect`: one table from storage, without catalog, settings or Spark, parsed in a killable child."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from limnograph.adapters.sandbox.messages import Inspect, StorageAccess
from limnograph.adapters.sandbox.pool import Pool
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.metadata.content import Reading, Want
from limnograph.domain.metadata.inspection import InspectionReport
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.services.extraction.inspect import inspect
from limnograph.wiring.locations.no_table import unavailable

DEADLINE_SECONDS = 600.0
"""Deadline for reading the table. It is long because all snapshots are read, and the user waits for this table only."""


def inspect_location(location: str, table_format: str | None, path_map: Mapping[str, str]) -> InspectionReport:
    """Inspect the table at a folder or metadata file. The document's status is `unreadable` if there is no table, or if
    storage is unavailable. Raises InvalidInput if `--format` is not the table's format.
    """
    pool = Pool()
    try:
        access = StorageAccess({}, dict(path_map))
        (body,) = pool.ask(access, Inspect(table_format, spelled_out(location)), DEADLINE_SECONDS)
        return msgspec.json.decode(bytes(body), type=InspectionReport)
    except MetadataError as error:
        return inspect(location, _EndedReader(error), table_format)
    except SourceError as error:
        return inspect(location, _EndedReader(unavailable(location, error)), table_format)
    finally:
        pool.close()


def spelled_out(location: str) -> str:
    """A local path as an absolute one, because the table's name must not depend on the working directory."""
    path = Path(location)
    return os.path.abspath(path) if not path.is_absolute() and os.path.lexists(path) else location  # noqa: PTH100 - `..`


class _EndedReader:
    """Reader of a table that the parser could not find, or that ended the parser."""

    def __init__(self, error: MetadataError) -> None:
        self._error = error

    def metadata(self, _location: str) -> TableMetadata:
        raise self._error

    def read(self, _metadata: TableMetadata, _snapshot: Snapshot, _want: Want) -> Reading:
        raise self._error
