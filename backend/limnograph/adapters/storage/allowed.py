"""Decides which locations a table may name. Its metadata is untrusted: anyone who can write the table writes it.

A location is allowed under a configured root, under the table's own folder, or, on an object store, under a prefix that
its metadata claims (`location`, `write.data.path`, …) on the same kind of store. On the local disk, a claim allows
nothing, and links are resolved before the check. The pointer from the catalog determines a table's own folder;
`pointers.py` decides which pointers are trusted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from limnograph.adapters.storage.files import FileStorage, classified
from limnograph.adapters.storage.places import Location, PathMap, place_of
from limnograph.domain.errors import MetadataError
from limnograph.domain.ids import normalise_location
from limnograph.domain.metadata.table import PLACES
from limnograph.ports.storage import ListedFile

STORES = {"file", "s3", "gs", "abfs", "hdfs", "oss"}
"""Kinds of store that a pointer may use."""
_BUCKETS = {"s3", "gs", "oss"}
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,220}[A-Za-z0-9]")
_ADDRESS = re.compile(r"(0x[0-9a-fA-F]+|[\d.]+|localhost)", re.IGNORECASE)
_STRANGE = re.compile(r"[\x00-\x1f\x7f\\]|^\s*//|^\s*file://[^/]|^\s*(?!file:/)[a-z][a-z0-9+.-]*:(?!//)", re.IGNORECASE)
"""Control characters, backslashes, hosts instead of a path (`//host/share`, `file://host/x`), `s3:/x`, `data:x`."""
_PLACES = ("/", "./", "file:")
_LOG_FOLDERS = ("_delta_log", ".hoodie")


class Roots:
    """Locations that the settings allow for every table of a catalog: roots, and the targets of the path map."""

    def __init__(self, configured: Iterable[str] = (), path_map: PathMap | None = None) -> None:
        self.path_map = path_map or PathMap()
        given = [self.path_map.resolve(root) for root in configured if "://" in root or root.startswith(_PLACES)]
        self.places = tuple(self.settled(place_of(root)) for root in (*given, *self.path_map.targets()))

    @staticmethod
    def settled(place: Location) -> Location:
        """A location with links resolved, without a trailing slash."""
        if place.local:
            place = place._replace(path=os.path.realpath(place.local))
        return place._replace(path=place.path.rstrip("/"))


class TableStorage:
    """Port Storage for the one table whose folder is `home`, according to a catalog or a user."""

    def __init__(self, files: FileStorage, roots: Roots, home: str) -> None:
        self._files, self._roots = files, roots
        self._folders: dict[Path, Path] = {}
        self._home = place_of(roots.path_map.resolve(home))
        if _STRANGE.search(home) or self._home.family not in STORES:
            raise MetadataError("location_refused", f"{shown(home)} is on an unsupported store")
        self._allowed = [*roots.places, roots.settled(self._home)]

    def claim(self, location: str, properties: dict[str, str]) -> None:
        """Allow the locations that the table's own metadata names, as far as claims are trusted on an object store."""
        for named in (location, *(properties[key] for key in PLACES if key in properties)):
            place = place_of(self._roots.path_map.resolve(named))
            if not _STRANGE.search(named) and self._believable(place):
                self._allowed.append(place)

    def read(self, location: str, limit: int) -> bytes:
        return self._files.read_place(self.place(location), limit)

    def size(self, location: str) -> int:
        return self._files.size_place(self.place(location))

    def list(self, location: str, *, deep: bool = False) -> list[ListedFile]:
        return [*self._files.list_place(self.place(location), deep=deep)]

    def place(self, location: str) -> Location:
        """The resolved form of an allowed location. Raises MetadataError: location_refused."""
        mapped = self._roots.path_map.mapped(location)
        if "\x00" in location or (mapped is None and _STRANGE.search(location)):
            raise _refused(location)
        place = place_of(mapped or self._roots.path_map.resolve(location))
        if place.local:
            try:
                place = place._replace(path=str(self._real(place.local)))
            except OSError as error:
                raise classified(place, error) from error
        elif ".." in place.path.split("/"):
            raise _refused(location)
        if not any(under(place, root) for root in self._allowed):
            raise _refused(location)
        return place

    def _real(self, path: Path) -> Path:
        """The path with links resolved; folders are resolved once."""
        if path.name in {"", "..", "."} or path.is_symlink():
            return Path(os.path.realpath(path))
        folder = path.parent
        if folder not in self._folders:
            self._folders[folder] = Path(os.path.realpath(folder))
        return self._folders[folder] / path.name

    def _believable(self, place: Location) -> bool:
        if place.family != self._home.family or place.local or ".." in place.path.split("/"):
            return False
        if place.authority == self._home.authority:
            return True
        plain = _BUCKET.fullmatch(place.authority) and not _ADDRESS.fullmatch(place.authority)
        return place.family in _BUCKETS and bool(plain)


def table_folder(pointer: str) -> str:
    """Folder of the table whose metadata is at `pointer`: above its log folder, else the pointer's own."""
    parts = normalise_location(pointer).split("/")
    for name in _LOG_FOLDERS:
        if name in parts[1:-1]:
            return "/".join(parts[: parts.index(name, 1)])
    above = "/".join(parts[:-2])
    named = len(parts) > 2 and parts[-2] == "metadata" and above not in {"", "file://"}
    return above if named else "/".join(parts[:-1])


def strange(location: str) -> bool:
    """Whether a location has a spelling that no table location has."""
    return bool(_STRANGE.search(location))


def under(place: Location, root: Location) -> bool:
    """Whether a settled location is a settled root or below it."""
    if (place.family, place.authority) != (root.family, root.authority):
        return False
    path = root.path.rstrip("/")
    return place.path == path or place.path.startswith(path + "/")


def _refused(location: str) -> MetadataError:
    return MetadataError("location_refused", f"{shown(location)} is outside of the locations allowed for this table")


def shown(location: str) -> str:
    """A location for messages: shortened, on one line."""
    return location[:200].encode("unicode_escape").decode()
