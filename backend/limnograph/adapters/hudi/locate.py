"""Location of a Hudi table's timeline, and its latest file: the pointer of the table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from limnograph.adapters.hudi.properties import MAX_PROPERTIES_BYTES, parse_properties
from limnograph.adapters.hudi.timeline import HudiTimeline, parse_timeline
from limnograph.domain.errors import InvalidInput, MetadataError
from limnograph.ports.storage import Storage

META = ".hoodie"
PROPERTIES = "hoodie.properties"
NEWEST_VERSION = 10
_FOLDER = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)
_POINTER = re.compile(r"(?P<root>.*)/\.hoodie(?:/[A-Za-z0-9_-]+)?/(?:hoodie\.properties|\d{14}[^/]*)", re.DOTALL)
_LAYOUT_2_SINCE = 8


class HudiLayout(NamedTuple):
    """Folders as locations, and versions.

    version  of the table; None if its properties omit it
    layout   of its timeline
    archive  folder of the instants that left the active timeline
    """

    version: int | None
    layout: int
    timeline: str
    archive: str


def table_root(location: str) -> str:
    """Root of the table that a pointer belongs to. Any other location is a root itself, even below another table's
    `.hoodie` (a metadata table is a table).
    """
    match = _POINTER.fullmatch(location)
    return match["root"] if match else location.rstrip("/").removesuffix(f"/{META}")


def read_properties(root: str, storage: Storage) -> tuple[dict[str, str], int]:
    """The table's properties and their size in bytes; from the backup if an update was interrupted, as in Hudi.

    Raises MetadataError, SourceError.
    """
    missing: MetadataError | None = None
    for name in (PROPERTIES, f"{PROPERTIES}.backup"):
        try:
            content = storage.read(f"{root}/{META}/{name}", MAX_PROPERTIES_BYTES)
        except MetadataError as error:
            missing = missing or error
            continue
        if found := parse_properties(content):
            return found, len(content)
    raise missing or MetadataError("metadata_unreadable", f"{root} has an empty {PROPERTIES}")


def layout_of(root: str, properties: Mapping[str, str], storage: Storage) -> HudiLayout:
    """Layout of a table. Raises MetadataError (`format_version_unsupported`), SourceError."""
    version = _number(properties.get("hoodie.table.version"))
    layout = _number(properties.get("hoodie.timeline.layout.version"))
    if layout is None and version is None:
        # Incomplete properties: the existence of the folder of layout 2 decides.
        layout = 2 if storage.list(f"{root}/{META}/timeline") else 1
    elif layout is None:
        layout = 2 if (version or 0) >= _LAYOUT_2_SINCE else 1
    if layout not in {0, 1, 2} or (version is not None and version > NEWEST_VERSION):
        raise MetadataError("format_version_unsupported", f"table version {version} with timeline layout {layout}")
    if layout < 2:
        archive = _folder(properties, "hoodie.archivelog.folder", "archived")
        return HudiLayout(version, 1, f"{root}/{META}", f"{root}/{META}/{archive}")
    timeline = f"{root}/{META}/{_folder(properties, 'hoodie.timeline.path', 'timeline')}"
    return HudiLayout(
        version, 2, timeline, f"{timeline}/{_folder(properties, 'hoodie.timeline.history.path', 'history')}"
    )


def read_timeline(layout: HudiLayout, storage: Storage) -> HudiTimeline:
    """The active timeline as it is now. Raises MetadataError, SourceError."""
    return parse_timeline(storage.list(layout.timeline), layout.layout, layout.timeline)


def newest_instant(location: str, storage: Storage) -> str:
    """Location of the latest completed instant of any action: cleans, rollbacks and savepoints move the pointer too.

    For a table without instants, the location of its properties. Raises InvalidInput if there is no table,
    MetadataError, SourceError.
    """
    root = table_root(location)
    try:
        properties, _ = read_properties(root, storage)
    except MetadataError as error:
        if error.code != "file_missing" or any(
            storage.list(f"{root}/{folder}") for folder in (META, f"{META}/timeline")
        ):
            raise
        raise InvalidInput("LOCATION", f"{location} is not a Hudi table: it has no {META}/{PROPERTIES}") from error
    layout = layout_of(root, properties, storage)
    newest = read_timeline(layout, storage).newest
    return f"{layout.timeline}/{newest.name}" if newest else f"{root}/{META}/{PROPERTIES}"


def _number(text: str | None) -> int | None:
    plain = (text or "").strip()
    return int(plain) if plain.isascii() and plain.isdecimal() and len(plain) < 5 else None


def _folder(properties: Mapping[str, str], key: str, default: str) -> str:
    """A folder named by a property: restricted to one path segment, because the value is untrusted."""
    found = properties.get(key, default)
    return found if _FOLDER.fullmatch(found) else default
