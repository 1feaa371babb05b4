"""The archived timeline of layout 2: an LSM tree of Parquet files with the bodies of commits that left the active one.

Their snapshots count as expired; their write stats still say what the files that live on hold. The logs of layout 1
(`.hoodie/archived`) are not read: there the folder's files tell what is left.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from limnograph.adapters.hudi.commits import Commit, parse_commit
from limnograph.adapters.hudi.timeline import SNAPSHOT_ACTIONS, Instant
from limnograph.domain.errors import MetadataError
from limnograph.ports.storage import Listed, Storage

MAX_HISTORY_BYTES = 32 * 2**20
"""Above this many bytes of archive the folder's listing is the shorter way to what lives now."""
_MAX_DECODED_BYTES = 512 * 2**20
_MAX_ROWS = 1_000_000
_NAME = re.compile(r"(?P<first>\d{14,17})_(?P<last>\d{14,17})_(?P<level>\d+)\.parquet", re.ASCII)
_COLUMNS = ["instantTime", "completionTime", "action", "metadata"]
_TIME = re.compile(r"\d{17}|\d{14}", re.ASCII)
_MANIFEST = re.compile(r"manifest_(\d+)", re.ASCII)


class Archive(msgspec.Struct, frozen=True):
    """Archived commits in order. `readable` False: there is an archive, too large or too damaged to be read."""

    commits: tuple[tuple[Instant, Commit], ...] = ()
    readable: bool = True

    @property
    def newest(self) -> Instant | None:
        """The newest archived snapshot."""
        return self.commits[-1][0] if self.commits else None


def read_archive(storage: Storage, folder: str) -> Archive | None:
    """None where nothing was archived. Raises SourceError."""
    try:
        files = storage.list(folder)
        named = [file for file in files if _NAME.fullmatch(file.name)]
        if not named:
            return None
        live = _live(storage, folder, files)
        chosen = [file for file in named if live is None or file.name in live]
        if sum(file.size for file in chosen) > MAX_HISTORY_BYTES:
            return Archive(readable=False)
        found: dict[str, tuple[Instant, Commit]] = {}
        for file in chosen:
            for instant, commit in _read(storage.read(f"{folder}/{file.name}", MAX_HISTORY_BYTES)):
                found[instant.requested] = (instant, commit)
    except MetadataError:
        return Archive(readable=False)
    return Archive(tuple(sorted(found.values(), key=lambda item: item[0].order)))


class _Entry(msgspec.Struct, rename="camel"):
    file_name: str


class _Manifest(msgspec.Struct):
    files: list[_Entry]


def _live(storage: Storage, folder: str, files: list[Listed]) -> set[str] | None:
    """Files of the newest manifest: those that compaction of the archive merged may still lie there. None: unknown."""
    versions = [int(match[1]) for file in files if (match := _MANIFEST.fullmatch(file.name))]
    if not versions:
        return None
    try:
        content = storage.read(f"{folder}/manifest_{max(versions)}", MAX_HISTORY_BYTES)
        return {item.file_name for item in msgspec.json.decode(content, type=_Manifest).files}
    except (MetadataError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _read(content: bytes) -> list[tuple[Instant, Commit]]:
    """Commits of one file. Raises MetadataError."""
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        groups = (file.metadata.row_group(index) for index in range(file.metadata.num_row_groups))
        if file.metadata.num_rows > _MAX_ROWS or sum(group.total_byte_size for group in groups) > _MAX_DECODED_BYTES:
            raise MetadataError("file_too_large", "an archive file is too large")
        rows = file.read(columns=_COLUMNS).to_pylist()
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise MetadataError("archive_unreadable", f"an archive file is damaged: {error}") from error
    return [found for row in rows if (found := _row(row)) is not None]


def _row(row: dict[str, Any]) -> tuple[Instant, Commit] | None:
    """None for what is no snapshot."""
    requested, completed, action, body = (row.get(column) for column in _COLUMNS)
    if action not in SNAPSHOT_ACTIONS or not isinstance(requested, str) or not _TIME.fullmatch(requested):
        return None
    if not isinstance(completed, str) or not _TIME.fullmatch(completed) or not isinstance(body, bytes):
        raise MetadataError("archive_unreadable", f"archived instant {requested} has no body")
    return Instant(requested, completed, str(action), "", 0), parse_commit(body)
