"""`inspect` put together: one table from storage, no catalog, no settings, no Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from limnograph.adapters.iceberg.locate import newest_metadata
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.storage.files import FileStorage
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.errors import InvalidInput
from limnograph.services.inspect import Inspection, inspect


def inspect_location(location: str, table_format: str | None, path_map: Mapping[str, str]) -> Inspection:
    """Document of the table at a folder or metadata file. Raises InvalidInput, SourceError."""
    kind = table_format or _format_of(location)
    if kind != "iceberg":
        raise InvalidInput("--format", f"tables of format {kind} are not read yet; iceberg is")
    storage = FileStorage({}, path_map)
    return inspect(newest_metadata(location, storage), IcebergReader(storage), SystemClock())


def _format_of(location: str) -> str:
    """Format of a local folder by its log folder; Iceberg where nothing speaks against it."""
    folder = Path(location.removeprefix("file://"))
    if (folder / "_delta_log").is_dir():
        return "delta"
    return "hudi" if (folder / ".hoodie").is_dir() else "iceberg"
