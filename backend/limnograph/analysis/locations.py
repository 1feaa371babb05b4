"""Whether two locations of files are, or may be, the same place, or one below the other.

Engines spell one place in several ways: `s3a://` for `s3://`, `file:/x` for `file:///x`, an escaped blank, a `..` or a
symbolic link. Two questions therefore have different answers in doubt: *may* be below (to protect the files of another
table) and is *surely* below (to delete a file). Names of buckets differ if their case does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

RealPath = Callable[[str], str]
"""Resolves symbolic links of a local path."""
_LOCATION = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(.*)", re.DOTALL)
_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfss": "abfs", "wasb": "abfs", "wasbs": "abfs", "gcs": "gs", "viewfs": "hdfs"}
_ANY_AUTHORITY = frozenset({"hdfs"})
"""Schemes whose authority may be left out, for the configured one."""


class FilePlace(NamedTuple):
    """A place as it is spelled, except for scheme and authority, which are canonical."""

    scheme: str
    authority: str
    path: tuple[str, ...]

    @property
    def text(self) -> str:
        """The path with slashes."""
        return "/" + "/".join(self.path)


def parsed(location: str) -> FilePlace:
    """The parts of a location. A path without a scheme is local."""
    text = location.strip()
    found = _LOCATION.fullmatch(text)
    scheme, authority, path = found.groups(default="") if found else ("file", "", text)
    scheme = _SCHEMES.get(scheme.lower(), scheme.lower())
    return FilePlace(scheme, _authority(scheme, authority), tuple(part for part in path.split("/") if part))


def may_be_below(inner: str, outer: str, real_path: RealPath | None = None) -> bool:
    """Whether a location may be that of `outer`, or below it, in any reading of the two."""
    one, other = parsed(inner), parsed(outer)
    if not _may_share(one, other):
        return False
    outers = list(_readings(other, real_path))
    return any(path[: len(root)] == root for path in _readings(one, real_path) for root in outers)


def may_be_same(one: str, other: str, real_path: RealPath | None = None) -> bool:
    """Whether two locations may be the same place."""
    return may_be_below(one, other, real_path) and may_be_below(other, one, real_path)


def is_surely_below(inner: str, folder: str, real_path: RealPath | None = None) -> bool:
    """Whether a location is below a folder in every reading, and spelled with its scheme and authority. A local one
    needs `real_path`.
    """
    if _spelling(inner) != _spelling(folder):
        return False
    one, root = parsed(inner), parsed(folder)
    paths = [(one.path, root.path), (_decoded(one.path), _decoded(root.path))]
    if any({".", ".."} & set(path) for pair in paths for path in pair):
        return False
    if one.scheme == "file":
        if real_path is None:
            return False
        paths.append((_real(one, real_path), _real(root, real_path)))
    return all(len(path) > len(start) and path[: len(start)] == start for path, start in paths)


def _may_share(one: FilePlace, other: FilePlace) -> bool:
    if one.scheme != other.scheme:
        return False
    open_ended = one.scheme in _ANY_AUTHORITY and "" in {one.authority, other.authority}
    return one.authority == other.authority or open_ended


def _authority(scheme: str, authority: str) -> str:
    """Container and account of Azure without the host's domain, name nodes without their port; `localhost` is none."""
    if scheme == "file":
        return "" if authority.lower() == "localhost" else authority
    if scheme == "abfs" and "@" in authority:
        container, _, host = authority.partition("@")
        return f"{container}@{host.partition('.')[0].lower()}"
    return authority.partition(":")[0].lower() if scheme == "hdfs" else authority


def _readings(place: FilePlace, real_path: RealPath | None) -> Iterator[tuple[str, ...]]:
    """Paths that engines may take a spelling for."""
    for path in {place.path, _decoded(place.path)}:
        yield path
        yield _resolved(path)
    if place.scheme == "file" and real_path is not None:
        yield _real(place, real_path)
        yield _real(place._replace(path=_decoded(place.path)), real_path)


def _resolved(path: tuple[str, ...]) -> tuple[str, ...]:
    found: list[str] = []
    for part in path:
        if part == "..":
            del found[-1:]
        elif part != ".":
            found.append(part)
    return tuple(found)


def _decoded(path: tuple[str, ...]) -> tuple[str, ...]:
    """Without percent-encoding; an encoded slash separates too."""
    if not any("%" in part for part in path):
        return path
    return tuple(part for part in unquote("/".join(path)).split("/") if part)


def _real(place: FilePlace, real_path: RealPath) -> tuple[str, ...]:
    return tuple(part for part in real_path(place.text).split("/") if part)


def _spelling(location: str) -> tuple[str, str]:
    """Scheme and authority as written; the two local spellings are one."""
    found = _LOCATION.fullmatch(location.strip())
    if found is None:
        return "file", ""
    return found[1], "" if found[1] == "file" and found[2] is None else found[2] or ""
