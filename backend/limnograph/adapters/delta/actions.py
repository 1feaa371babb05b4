"""Parses the actions of one commit file line by line: a short view for the history, a full view for the files.

Unknown actions and fields are ignored, as the protocol requires. A line of invalid JSON, or a file action without a
required field, makes the rest of the commit unreadable.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

import msgspec

from limnograph.adapters.delta.paths import file_key, path_key
from limnograph.domain.errors import MetadataError
from limnograph.domain.time import Millis

MAX_COMMIT_BYTES = 256 * 2**20
MAX_ACTIONS = 500_000
"""Maximum actions of one commit: 300,000 adds take 310 MB of a child process that has 512 MB."""
MAX_NUMBER = 2**50
"""Larger sizes and counts are implausible: a pebibyte in one file, or more rows than any file has."""
_BOM = b"\xef\xbb\xbf"
_T = TypeVar("_T")
Values = tuple[tuple[str, str | None], ...]
"""Partition values as written: `(physical column, text)`, sorted by column."""


class DeltaFile(NamedTuple):
    """A logical file.

    path          key of its data file
    size          bytes; None: unknown, only of a removed file
    records       rows; None: unknown
    vector_bytes  bytes of the deletion vector
    vector_rows   None: no deletion vector

    The partition values of a removed file may also be unknown.
    """

    key: bytes
    path: bytes
    size: int | None
    records: int | None
    values: Values | None
    vector_rows: int | None = None
    vector_bytes: int = 0


class FileAction(NamedTuple):
    """An `add` or a `remove`."""

    adds: bool
    file: DeltaFile


class Head(msgspec.Struct):
    """Actions of a commit about the table and the commit itself, and the kinds of its file actions.

    `damage`: why the rest could not be read. `summary.py` derives `summary` and `timestamp_ms` from `info`.
    """

    info: dict[str, Any] | None = None
    protocol: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    adds: int = 0
    removes: int = 0
    changes_data: bool = False
    damage: str | None = None
    summary: dict[str, str] | None = None
    timestamp_ms: Millis | None = None


class _Flag(msgspec.Struct):
    dataChange: Any = True  # noqa: N815 - the protocol's own names


class _HeadLine(msgspec.Struct):
    commitInfo: Any = None  # noqa: N815
    protocol: Any = None
    metaData: Any = None  # noqa: N815
    add: _Flag | None = None
    remove: _Flag | None = None


class Vector(msgspec.Struct):
    """Descriptor of a deletion vector."""

    storageType: str  # noqa: N815
    pathOrInlineDv: str  # noqa: N815
    sizeInBytes: int  # noqa: N815
    cardinality: int
    offset: int | None = None


class Action(msgspec.Struct):
    """Fields that `add` and `remove` share. A remove may omit `partitionValues` and `size`."""

    path: str
    size: int | None = None
    partitionValues: dict[str, Any] | None = None  # noqa: N815
    stats: Any = None
    deletionVector: Vector | None = None  # noqa: N815


class _FileLine(msgspec.Struct):
    add: Action | None = None
    remove: Action | None = None


class _Stats(msgspec.Struct):
    numRecords: Any = None  # noqa: N815


_HEADS = msgspec.json.Decoder(_HeadLine)
_FILES = msgspec.json.Decoder(_FileLine)
_STATS = msgspec.json.Decoder(_Stats)
_DAMAGE = (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError, MetadataError)


def read_head(content: bytes) -> Head:
    """The short view; actions before a damaged line are kept."""
    head = Head()
    try:
        for line in lines(content, _HEADS):
            head.info = line.commitInfo if isinstance(line.commitInfo, dict) and head.info is None else head.info
            head.protocol = line.protocol if isinstance(line.protocol, dict) else head.protocol
            head.metadata = line.metaData if isinstance(line.metaData, dict) else head.metadata
            head.adds += line.add is not None
            head.removes += line.remove is not None
            if any(flag is not None and flag.dataChange is not False for flag in (line.add, line.remove)):
                head.changes_data = True
    except _DAMAGE as error:
        head.damage = (str(error) or type(error).__name__).splitlines()[0]
    return head


def read_files(content: bytes) -> Iterator[FileAction]:
    """Adds and removes in log order. Raises MetadataError (`commit_unreadable`, `too_many_actions`)."""
    try:
        for line in lines(content, _FILES):
            if line.remove is not None:
                yield FileAction(False, file_of(line.remove, whole=False))
            if line.add is not None:
                yield FileAction(True, file_of(line.add, whole=True))
    except MetadataError:
        raise
    except _DAMAGE as error:
        raise MetadataError("commit_unreadable", (str(error) or type(error).__name__).splitlines()[0]) from error


def lines(content: bytes, decoder: msgspec.json.Decoder[_T]) -> Iterator[_T]:
    """Decoded lines of newline-delimited JSON; blank ones are skipped."""
    start, count = len(_BOM) if content.startswith(_BOM) else 0, 0
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        line = content[start:end]
        start = end + 1
        if not line.strip():
            continue
        count += 1
        if count > MAX_ACTIONS:
            raise MetadataError("too_many_actions", f"a commit with more than {MAX_ACTIONS} actions")
        yield decoder.decode(line)


def file_of(action: Action, *, whole: bool) -> DeltaFile:
    """The logical file of an action. `whole`: an `add`, whose size is required. Raises MetadataError."""
    values = action.partitionValues
    return logical_file(
        action.path,
        action.size,
        values_of(values) if values else (() if whole or values is not None else None),
        None if action.stats is None else records_of(action.stats),
        action.deletionVector,
        whole=whole,
    )


def logical_file(
    path: str, size: int | None, values: Values | None, records: int | None, vector: Vector | None, *, whole: bool
) -> DeltaFile:
    """A logical file from checked parts. Raises MetadataError for numbers that no file can have."""
    if size is None or not 0 <= size <= MAX_NUMBER:
        size = _checked(size, "size", required=whole)
    key = path_key(path)
    if vector is None:
        return DeltaFile(key, key, size, records, values)
    rows = _checked(vector.cardinality, "cardinality", required=True)
    vector_bytes = _checked(vector.sizeInBytes, "sizeInBytes", required=True) or 0
    return DeltaFile(file_key(key, vector_id(vector)), key, size, records, values, rows, vector_bytes)


def vector_id(vector: Vector) -> str:
    """Unique id of a deletion vector (PROTOCOL, "Deletion Vector Descriptor Schema")."""
    place = "" if vector.offset is None else f"@{vector.offset}"
    return f"{vector.storageType}{vector.pathOrInlineDv}{place}"


def values_of(values: dict[str, Any]) -> Values:
    """Partition values in a canonical order. An empty text is null (PROTOCOL, "Partition Value Serialization"); any
    other JSON value is kept as JSON text.
    """
    if not values:
        return ()
    return tuple(sorted((key, _text(value)) for key, value in values.items()))


def records_of(stats: Any) -> int | None:
    """`numRecords` of an action's statistics; None if they lack it."""
    try:
        found = _STATS.decode(stats).numRecords if isinstance(stats, str) and stats else None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return count_of(found)


def count_of(found: Any) -> int | None:
    """A plausible number of rows, else None."""
    whole = isinstance(found, int) and not isinstance(found, bool)
    return found if whole and 0 <= found <= MAX_NUMBER else None


def _checked(number: int | None, name: str, *, required: bool) -> int | None:
    if number is None and not required:
        return None
    if number is None or not 0 <= number <= MAX_NUMBER:
        raise MetadataError("commit_unreadable", f"a file action has {name} {number}")
    return number


def _text(value: Any) -> str | None:
    return value or None if value is None or isinstance(value, str) else msgspec.json.encode(value).decode()
