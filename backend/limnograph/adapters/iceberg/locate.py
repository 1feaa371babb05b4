"""The newest metadata file of a table folder: version hint, else the highest version number."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pyarrow.fs as pafs

from limnograph.adapters.iceberg.storage import IcebergStorage, local_path
from limnograph.domain.errors import InvalidInput, MetadataError, SourceUnavailable

_HINT_LIMIT = 4096
_NAMED = re.compile(r"^v?(\d+)(?:-[^/]*?)?(?:\.gz)?\.metadata\.json(?:\.gz)?$")


def newest_metadata(location: str, storage: IcebergStorage) -> str:
    """`location` itself when it is a metadata file, else the newest one of that table folder.

    Raises InvalidInput when there is no table, SourceError when storage does not answer.
    """
    if location.endswith((".json", ".json.gz")):
        return location
    folder = f"{location.rstrip('/')}/metadata"
    names = _names(storage.resolve(folder))
    if not names:
        raise InvalidInput("LOCATION", f"{location} is no Iceberg table: it has no metadata/*.metadata.json")
    hinted = _hinted(folder, storage, names)
    return f"{folder}/{hinted or max(names)[2]}"


def _hinted(folder: str, storage: IcebergStorage, names: list[tuple[int, float, str]]) -> str | None:
    """What version-hint.text means; a hint may lag behind, so a higher numbered `v<n>` file wins."""
    try:
        hint = storage.read(f"{folder}/version-hint.text", _HINT_LIMIT).decode("utf-8", "replace").strip()
    except MetadataError:
        return None
    match = re.match(r"^v?(\d+)", hint)
    version = int(match[1]) if match else None
    if version is not None and max(names)[0] > version:
        return None
    exact = [name for _, _, name in names if name.startswith((f"{hint}.", f"v{hint}."))]
    return exact[0] if exact else None


def _names(folder: str) -> list[tuple[int, float, str]]:
    """`(version, modified, name)` of every metadata file."""
    try:
        if path := local_path(folder):
            return _parsed((item.name, item.stat().st_mtime) for item in path.iterdir()) if path.is_dir() else []
        filesystem, inner = pafs.FileSystem.from_uri(folder)
        infos = filesystem.get_file_info(pafs.FileSelector(inner, allow_not_found=True))
        return _parsed((info.base_name, (info.mtime_ns or 0) / 1e9) for info in infos)
    except (OSError, ValueError) as error:
        raise SourceUnavailable("storage", f"{folder}: {error}") from error


def _parsed(files: Iterable[tuple[str, float]]) -> list[tuple[int, float, str]]:
    return [(int(match[1]), modified, name) for name, modified in files if (match := _NAMED.match(name))]
