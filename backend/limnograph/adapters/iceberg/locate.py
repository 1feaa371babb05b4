"""The newest metadata file of a table folder: version hint, else the highest version number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from limnograph.domain.errors import InvalidInput, MetadataError
from limnograph.ports.storage import Listed, Storage

_HINT_LIMIT = 4096
_NAMED = re.compile(r"^v?(\d{1,18})(?:-[^/]*?)?(?:\.gz)?\.metadata\.json(?:\.gz)?$")


class _Named(NamedTuple):
    """A metadata file by its name. Files of one version are told apart by when they were written."""

    version: int
    modified_ms: int
    name: str


def newest_metadata(location: str, storage: Storage) -> str:
    """`location` itself when it is a metadata file, else the newest one of that table folder.

    Raises InvalidInput when there is no table, SourceError when storage does not answer.
    """
    if location.endswith((".json", ".json.gz")):
        return location
    folder = f"{location.rstrip('/')}/metadata"
    names = _names(storage.list(folder))
    if not names:
        raise InvalidInput("LOCATION", f"{location} is no Iceberg table: it has no metadata/*.metadata.json")
    hinted = _hinted(folder, storage, names)
    return f"{folder}/{hinted or max(names).name}"


def _hinted(folder: str, storage: Storage, names: list[_Named]) -> str | None:
    """What version-hint.text means; a hint may lag behind, so a higher numbered `v<n>` file wins."""
    try:
        hint = storage.read(f"{folder}/version-hint.text", _HINT_LIMIT).decode("utf-8", "replace").strip()
    except MetadataError:
        return None
    match = re.match(r"^v?(\d{1,18})", hint)
    if match and max(names).version > int(match[1]):
        return None
    exact = [found.name for found in names if found.name.startswith((f"{hint}.", f"v{hint}."))]
    return exact[0] if exact else None


def _names(files: Iterable[Listed]) -> list[_Named]:
    return [
        _Named(int(match[1]), file.modified_ms or 0, file.name) for file in files if (match := _NAMED.match(file.name))
    ]
