"""Finds the latest metadata file of a table folder: by version hint, else by the highest version number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from limnograph.domain.errors import InvalidInput, MetadataError
from limnograph.ports.storage import ListedFile, Storage

_HINT_LIMIT = 4096
_NAMED = re.compile(r"^(?:v?(\d{1,20})(?:-[^/]*?)?|[^/]+?)(?:\.gz)?\.metadata\.json(?:\.gz)?$")
"""`v3.metadata.json`, `00003-<uuid>.metadata.json`, `v1704068112338000000.metadata.json` (Snowflake), or without a
version; gzip is marked before or after the extension.
"""
_ENDING = re.compile(r"(?:\.gz)?\.metadata\.json(?:\.gz)?$")
_NO_VERSION = -1


class _NamedFile(NamedTuple):
    """A metadata file by its name. Files of one version are ordered by modification time."""

    version: int
    modified_ms: int
    name: str


def newest_metadata(location: str, storage: Storage) -> str:
    """`location` itself if it is a metadata file, else the latest one in that table folder (or in its `metadata`).

    Raises InvalidInput if there is no table, SourceError if storage does not respond.
    """
    if location.endswith((".json", ".json.gz")):
        return location
    table = location.rstrip("/")
    for folder in (f"{table}/metadata", *([table] if table.endswith("/metadata") else [])):
        if names := _names(storage.list(folder)):
            return f"{folder}/{_hinted(folder, storage, names) or max(names).name}"
    raise InvalidInput("LOCATION", f"{location} is not an Iceberg table: it has no metadata/*.metadata.json")


def _hinted(folder: str, storage: Storage, names: list[_NamedFile]) -> str | None:
    """The file that version-hint.text names: by number, or by a file name with or without extension. A hint may be
    outdated, so a higher version wins.
    """
    try:
        hint = storage.read(f"{folder}/version-hint.text", _HINT_LIMIT).decode("utf-8", "replace").strip()
    except MetadataError:
        return None
    stem = _ENDING.sub("", hint.rpartition("/")[2])
    meant = [found for found in names if _ENDING.sub("", found.name) in {stem, f"v{stem}"}]
    if not meant or max(names).version > max(meant).version != _NO_VERSION:
        return None
    return max(meant).name


def _names(files: Iterable[ListedFile]) -> list[_NamedFile]:
    return [
        _NamedFile(int(match[1] or _NO_VERSION), file.modified_ms or 0, file.name)
        for file in files
        if (match := _NAMED.match(file.name))
    ]
