"""Port Storage: observed files on local disk directly, on object stores through PyIceberg's FileIO. Read only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pyiceberg.io import FileIO, load_file_io

from limnograph.domain.errors import MetadataError, SourceError, SourceUnavailable
from limnograph.domain.ids import normalise_location


class IcebergStorage:
    """`properties` are a catalog's (credentials of its store); `path_map` rewrites location prefixes."""

    def __init__(self, properties: Mapping[str, str] | None = None, path_map: Mapping[str, str] | None = None) -> None:
        self._properties = dict(properties or {})
        self._path_map = {_plain(old): new for old, new in (path_map or {}).items()}
        self._io: FileIO | None = None

    def read(self, location: str, limit: int) -> bytes:
        place = self.resolve(location)
        try:
            if path := local_path(place):
                content = _read_local(path, limit)
            else:
                with self._file_io(place).new_input(place).open() as stream:
                    content = stream.read(limit + 1)
        except Exception as error:
            raise _classified(location, error) from error
        if len(content) > limit:
            raise MetadataError("file_too_large", f"{location} is longer than {limit} bytes")
        return content

    def size(self, location: str) -> int:
        place = self.resolve(location)
        try:
            if path := local_path(place):
                return path.stat().st_size
            return len(self._file_io(place).new_input(place))
        except Exception as error:
            raise _classified(location, error) from error

    def resolve(self, location: str) -> str:
        """Where a location really lies: spelling normalised, then the longest mapped prefix replaced."""
        place = _plain(location)
        for old in sorted(self._path_map, key=len, reverse=True):
            if place == old or place.startswith(old.rstrip("/") + "/"):
                return normalise_location(_absolute(self._path_map[old].rstrip("/") + place[len(old.rstrip("/")) :]))
        return place if "://" in place else normalise_location(_absolute(place))

    def _file_io(self, location: str) -> FileIO:
        if self._io is None:
            self._io = load_file_io(self._properties, location)
        return self._io


def local_path(location: str) -> Path | None:
    """Path of a `file:` location (never percent-decoded: Iceberg does not encode), else None."""
    place = normalise_location(location)
    return Path(place.removeprefix("file://")) if place.startswith("file://") else None


def _plain(location: str) -> str:
    return normalise_location(location).removeprefix("./")


def _absolute(location: str) -> str:
    return location if "://" in location or location.startswith(("/", "file:")) else str(Path(location).absolute())


def _read_local(path: Path, limit: int) -> bytes:
    with path.open("rb") as stream:
        return stream.read(limit + 1)


def _classified(location: str, error: Exception) -> Exception:
    if isinstance(error, MetadataError | SourceError):
        return error
    if isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        return MetadataError("file_missing", f"{location} does not exist")
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return SourceUnavailable("storage", f"{location}: {first}")
