"""Resolves locations: one canonical spelling, prefixes mapped, split into scheme, authority and path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from limnograph.domain.ids import normalise_location

_FAMILIES = {
    "s3a": "s3",
    "s3n": "s3",
    "gcs": "gs",
    "abfss": "abfs",
    "wasb": "abfs",
    "wasbs": "abfs",
    "viewfs": "hdfs",
}


class Location(NamedTuple):
    """A location in parts. `path` starts with `/` or is empty; nothing in it is decoded (Iceberg does not encode)."""

    scheme: str
    authority: str
    path: str

    @property
    def family(self) -> str:
        """The scheme that represents all spellings of one kind of store."""
        return _FAMILIES.get(self.scheme, self.scheme)

    @property
    def local(self) -> Path | None:
        """Path on the local disk; None on an object store."""
        return Path(self.path or "/") if self.scheme == "file" else None

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def place_of(location: str) -> Location:
    """Parts of a normalised, absolute location."""
    scheme, _, rest = location.partition("://")
    authority, slash, path = rest.partition("/")
    return Location(scheme.lower(), authority, slash + path)


class PathMap:
    """`--path-map FROM=TO`: the longest matching prefix is replaced, regardless of the order of the options."""

    def __init__(self, prefixes: Mapping[str, str] | None = None) -> None:
        plain = ((_plain(old), new) for old, new in (prefixes or {}).items())
        self._prefixes = sorted(((old.rstrip("/"), new.rstrip("/")) for old, new in plain), key=lambda p: -len(p[0]))

    def targets(self) -> list[str]:
        """Targets of the mapping: normalised, absolute."""
        return [normalise_location(_absolute(new or "/")) for _, new in self._prefixes]

    def mapped(self, location: str) -> str | None:
        """The location under its target; None if no prefix matches."""
        place = _plain(location)
        for old, new in self._prefixes:
            if place == old or place.startswith(old + "/"):
                return normalise_location(_absolute(new + place[len(old) :]))
        return None

    def resolve(self, location: str) -> str:
        """The actual location: mapped, else unchanged; relative ones are below the working directory."""
        return self.mapped(location) or normalise_location(_absolute(_plain(location)))


def _plain(location: str) -> str:
    return normalise_location(location).removeprefix("./")


def _absolute(location: str) -> str:
    return location if "://" in location or location.startswith(("/", "file:")) else str(Path(location).absolute())
