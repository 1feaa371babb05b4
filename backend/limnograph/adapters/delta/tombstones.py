"""`remove` actions as a vacuum needs them: which file, how large, and since when it is no part of the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from limnograph.adapters.delta.actions import MAX_NUMBER, lines
from limnograph.adapters.delta.paths import path_key
from limnograph.domain.errors import MetadataError
from limnograph.domain.time import Millis

_DAMAGE = (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError)


class Tombstone(NamedTuple):
    """A removed file. `path`: key of its path; `size`: bytes, None: unknown; `removed_at`: None counts as long ago."""

    path: bytes
    size: int | None
    removed_at: Millis | None


class RemoveAction(msgspec.Struct):
    """Fields of a `remove`."""

    path: str
    size: int | None = None
    deletionTimestamp: int | None = None  # noqa: N815 - the protocol's own names


class _RemoveLine(msgspec.Struct):
    remove: RemoveAction | None = None


_LINES = msgspec.json.Decoder(_RemoveLine)


def read_tombstones(content: bytes) -> Iterator[Tombstone]:
    """Tombstones of a commit, or of a checkpoint in JSON. Raises MetadataError (`commit_unreadable`)."""
    try:
        for line in lines(content, _LINES):
            if line.remove is not None:
                yield tombstone_of(line.remove.path, line.remove.size, line.remove.deletionTimestamp)
    except _DAMAGE as error:
        raise MetadataError("commit_unreadable", (str(error) or type(error).__name__).splitlines()[0]) from error


def tombstone_of(path: str, size: int | None, removed_at: int | None) -> Tombstone:
    """A size that no file can have is unknown."""
    known = size if size is not None and 0 <= size <= MAX_NUMBER else None
    return Tombstone(path_key(path), known, None if removed_at is None else Millis(removed_at))
