"""Archived instants of layout 2: an LSM tree of Parquet files with the Avro bodies of commits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from limnograph.adapters.hudi.commits import Commit, parse_commit
from limnograph.adapters.hudi.timeline import SNAPSHOT_ACTIONS, HudiInstant
from limnograph.domain.errors import MetadataError
from limnograph.ports.storage import ListedFile, Storage

_MAX_DECODED_BYTES = 64 * 2**20
_MAX_ROWS = 1_000_000
_MAX_MANIFEST_BYTES = 8 * 2**20
_COLUMNS = ["instantTime", "completionTime", "action", "metadata"]
_TIME = re.compile(r"\d{17}|\d{14}", re.ASCII)
_MANIFEST = re.compile(r"manifest_(\d{1,18})", re.ASCII)


class _Entry(msgspec.Struct, rename="camel"):
    file_name: str


class _Manifest(msgspec.Struct):
    files: list[_Entry]


def live_files(storage: Storage, folder: str, files: Iterable[ListedFile]) -> set[str] | None:
    """Files of the latest manifest; files that archive compaction merged may remain in the folder. None: unknown."""
    versions = [int(match[1]) for file in files if (match := _MANIFEST.fullmatch(file.name))]
    if not versions:
        return None
    try:
        content = storage.read(f"{folder}/manifest_{max(versions)}", _MAX_MANIFEST_BYTES)
        return {item.file_name for item in msgspec.json.decode(content, type=_Manifest).files}
    except (MetadataError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def parse_history(content: bytes) -> list[tuple[HudiInstant, Commit]]:
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


def _row(row: dict[str, Any]) -> tuple[HudiInstant, Commit] | None:
    """The commit of a row; None if it is not a snapshot."""
    requested, completed, action, body = (row.get(column) for column in _COLUMNS)
    if action not in SNAPSHOT_ACTIONS or not isinstance(requested, str) or not _TIME.fullmatch(requested):
        return None
    if not isinstance(completed, str) or not _TIME.fullmatch(completed) or not isinstance(body, bytes):
        raise MetadataError("archive_unreadable", f"archived instant {requested} has no body")
    return HudiInstant(requested, completed, str(action), "", 0), parse_commit(body)
