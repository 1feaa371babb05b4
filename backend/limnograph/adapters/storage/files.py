"""Port Storage: local files directly, object stores through Arrow with PyIceberg's properties. Read only.

Opens any requested location: `allowed.py` decides which are allowed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from limnograph.adapters.storage.places import Location, PathMap, place_of
from limnograph.domain.errors import MetadataError, SourceError, SourceUnavailable
from limnograph.domain.time import Millis
from limnograph.ports.storage import ListedFile

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem
    from pyiceberg.io.pyarrow import PyArrowFileIO

FILES_LISTED = 500_000
"""Maximum files of a folder: a longer listing alone would fill the memory of a child process."""
_CHUNK = 8 << 20
_WITHOUT_AUTHORITY = {"hdfs"}


class FileStorage:
    """`properties` are those of a catalog (with credentials of its store); `path_map` rewrites location prefixes."""

    def __init__(self, properties: Mapping[str, str] | None = None, path_map: Mapping[str, str] | None = None) -> None:
        self._properties = _regional(properties or {})
        self._io: PyArrowFileIO | None = None
        self._map = PathMap(path_map)

    def resolve(self, location: str) -> str:
        """The actual location: spelling normalised, then the longest mapped prefix replaced."""
        return self._map.resolve(location)

    def read(self, location: str, limit: int) -> bytes:
        return self.read_place(place_of(self.resolve(location)), limit)

    def size(self, location: str) -> int:
        return self.size_place(place_of(self.resolve(location)))

    def read_place(self, place: Location, limit: int) -> bytes:
        """The same as `read`, for a resolved location."""
        try:
            if path := place.local:
                return _read_local(path, limit)
            with self._filesystem(place).open_input_file(_inside(place)) as stream:
                # Check the size first: reading `limit` bytes would allocate them whatever the file's size.
                return b"" if _within(stream.size(), limit, place) == 0 else stream.read(stream.size())
        except Exception as error:
            raise classified(place, error) from error

    def size_place(self, place: Location) -> int:
        """The same as `size`, for a resolved location."""
        try:
            if path := place.local:
                return path.stat().st_size
            with self._filesystem(place).open_input_file(_inside(place)) as stream:
                return int(stream.size())
        except Exception as error:
            raise classified(place, error) from error

    def _remote_files(self, place: Location, *, deep: bool) -> Iterator[ListedFile]:
        from pyarrow.fs import FileSelector

        folder = _inside(place).rstrip("/")
        selector = FileSelector(folder, allow_not_found=True, recursive=deep)
        for info in self._filesystem(place).get_file_info(selector):
            if info.is_file:
                modified = None if info.mtime_ns is None else info.mtime_ns // 1_000_000
                yield ListedFile(info.path[len(folder) + 1 :], info.size or 0, modified)

    def _filesystem(self, place: Location) -> FileSystem:
        """Imported here: a lake on local disk needs no object store clients, which cost a second and 100 MB."""
        from pyiceberg.io.pyarrow import PyArrowFileIO

        if self._io is None:
            self._io = PyArrowFileIO(self._properties)
        return self._io.fs_by_scheme(place.scheme, place.authority or None)

    def list_place(self, place: Location, *, deep: bool) -> Sequence[ListedFile]:
        """The same as `list`, for a resolved location."""
        try:
            files = _local_files(place.local, deep=deep) if place.local else self._remote_files(place, deep=deep)
            found = sorted(islice(files, FILES_LISTED + 1))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except Exception as error:
            raise classified(place, error) from error
        if len(found) > FILES_LISTED:
            raise MetadataError("folder_too_large", f"{place} contains more than {FILES_LISTED} files")
        return found

    def list(self, location: str, *, deep: bool = False) -> list[ListedFile]:
        return [*self.list_place(place_of(self.resolve(location)), deep=deep)]

    def folders(self, place: Location) -> Sequence[str]:
        """Names of the folders in a resolved folder, without links. Raises the same as `read`."""
        try:
            folders = _local_folders(place.local) if place.local else self._prefixes(place)
            found = tuple(islice(folders, FILES_LISTED + 1))
        except Exception as error:
            raise classified(place, error) from error
        if len(found) > FILES_LISTED:
            raise MetadataError("folder_too_large", f"{place} contains more than {FILES_LISTED} folders")
        return found

    def _prefixes(self, place: Location) -> Iterator[str]:
        from pyarrow.fs import FileSelector, FileType

        folder = _inside(place).rstrip("/")
        for info in self._filesystem(place).get_file_info(FileSelector(folder)):
            if info.type == FileType.Directory:
                yield info.base_name


NEVER_A_FILE = (errno.ENAMETOOLONG, errno.ELOOP)
"""System errors for paths that cannot be files."""


def _inside(place: Location) -> str:
    """The path in the form of Arrow's filesystem for that scheme: bucket and key, nothing decoded."""
    if place.family in _WITHOUT_AUTHORITY:
        return place.path
    container = place.authority.partition("@")[0] if place.family == "abfs" else place.authority
    return f"{container}{place.path}"


def _regional(properties: Mapping[str, str]) -> dict[str, str]:
    """A private store has no region; without one, PyIceberg would query Amazon for the bucket's region."""
    found = dict(properties)
    if "s3.endpoint" in found and "client.region" not in found:
        found.setdefault("s3.region", "us-east-1")
    return found


def _read_local(path: Path, limit: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a named pipe would wait for a writer
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise IsADirectoryError(path)
        _within(about.st_size, limit, path)
        # In one piece, because joining parts would double their memory; data appended meanwhile is read in more pieces.
        parts: list[bytes] = []
        while part := stream.read(_CHUNK if parts else about.st_size + 1):
            parts.append(part)
            _within(sum(map(len, parts)), limit, path)
        return parts[0] if len(parts) == 1 else b"".join(parts)


def _within(size: int, limit: int, where: Location | Path) -> int:
    if size > limit:
        raise MetadataError("file_too_large", f"{where} is longer than {limit} bytes")
    return size


def _local_files(folder: Path, *, deep: bool) -> Iterator[ListedFile]:
    """Linked folders are not followed: they may lead anywhere, including in a cycle."""
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        prefix = str(here.relative_to(folder)) + "/" if here != folder else ""
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting += [here / entry.name] if deep else []
                elif entry.is_file():
                    about = entry.stat()
                    yield ListedFile(prefix + entry.name, about.st_size, Millis(about.st_mtime_ns // 1_000_000))


def _local_folders(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        yield from (entry.name for entry in entries if entry.is_dir(follow_symlinks=False))


def classified(where: Location, error: Exception) -> Exception:
    """The meaning of a failure: a path that cannot be a file is damage of the table; anything else is "not now"."""
    if isinstance(error, MetadataError | SourceError):
        return error
    if isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        return MetadataError("file_missing", f"{where} does not exist")
    if isinstance(error, OSError) and error.errno in NEVER_A_FILE:
        return MetadataError("file_missing", f"{str(where)[:200]} is not a valid file name: {error.strerror}")
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return SourceUnavailable("storage", f"{where}: {first}")
