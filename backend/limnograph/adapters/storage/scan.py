"""Finds tables below a folder by their log or metadata folders, one part of the tree at a time. Reads no file.

Skips the contents of tables, hidden folders (`.x`, `_x`), partitions (`key=value`) and links. A tree may have any size:
the caller continues where the last part ended.
"""

from __future__ import annotations

import time
from collections.abc import Collection

import msgspec

from limnograph.adapters.storage.files import FileStorage
from limnograph.adapters.storage.places import Location
from limnograph.domain.errors import MetadataError, SourceError

DEPTH = 8
"""Maximum levels below the root."""
_LOGS = {"delta": "_delta_log", "hudi": ".hoodie"}
_POINTERS = (".metadata.json", ".metadata.json.gz")

Levels = tuple[str, ...]


class ScannedFolder(msgspec.Struct, frozen=True):
    """One part: tables by their levels below the root with their format, folders still to scan, and one sentence for
    each folder that could not be scanned.
    """

    tables: list[tuple[Levels, str]]
    waiting: list[Levels]
    troubles: list[str] = []


def scan(
    files: FileStorage, root: Location, formats: Collection[str], waiting: list[Levels], seconds: float
) -> ScannedFolder:
    """Scan waiting folders (an empty path is the root) for about `seconds`. Raises SourceError and MetadataError for
    the root only.
    """
    end = time.monotonic() + seconds
    found = ScannedFolder([], list(waiting))
    while found.waiting and time.monotonic() < end:
        levels = found.waiting.pop()
        try:
            _look(files, root, levels, formats, found)
        except (SourceError, MetadataError) as error:
            if not levels:
                raise
            found.troubles.append(str(error))
    return found


def _look(files: FileStorage, root: Location, levels: Levels, formats: Collection[str], found: ScannedFolder) -> None:
    """Scan one folder: a table, or more folders to scan."""
    here = _at(root, levels)
    folders = files.folders(here)
    kind = next((kind for kind, log in _LOGS.items() if log in folders), None)
    if kind is None and "metadata" in folders and _is_iceberg(files, _at(here, ("metadata",))):
        kind = "iceberg"
    if kind is not None:
        # A table of a format that was not requested is still a table: nothing below it is another one.
        if kind in formats:
            found.tables.append((levels, kind))
        return
    below = [(*levels, name) for name in sorted(folders, reverse=True) if _entered(name)]
    if below and len(levels) >= DEPTH:
        found.troubles.append(f"{here} has folders more than {DEPTH} levels down, which are not scanned")
    else:
        found.waiting.extend(below)


def _is_iceberg(files: FileStorage, metadata: Location) -> bool:
    return any(file.name.endswith(_POINTERS) for file in files.list_place(metadata, deep=False))


def _entered(name: str) -> bool:
    return not name.startswith((".", "_")) and "=" not in name


def _at(root: Location, levels: Levels) -> Location:
    return root._replace(path="/".join((root.path.rstrip("/"), *levels)) or "/")
