"""What a table stores: its bytes, and the files of one snapshot. Wire structs, as `domain/answers/tables.py`."""

from __future__ import annotations

from typing import Literal

from limnograph.domain.advice.document import TableBytes
from limnograph.domain.answers.structure import PageHead
from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis

FileContent = Literal["data", "position_deletes", "equality_deletes", "deletion_vector"]


class StoredFile(View, frozen=True, kw_only=True):
    """A data or delete file. `bytes`: of a deletion vector, its blob. `path`: only the file's name if the table is
    partitioned by a private column.
    """

    path: str
    content: FileContent
    bytes: int
    records: int


class StoredManifest(View, frozen=True, kw_only=True):
    """A manifest and its live files. `added_by`: the snapshot that wrote it. `largest`: its five largest files, largest
    first.
    """

    path: str
    content: Literal["data", "deletes"]
    spec_id: int
    added_by: str | None
    bytes: int
    files: int
    file_bytes: int
    largest: list[StoredFile]


class StorageTree(View, frozen=True, kw_only=True):
    """Files of one snapshot: metadata file, manifest list, manifests, live files.

    list_path, list_bytes  null for a snapshot without a manifest list (format v1)
    manifests              those whose files have the most bytes, at most 100 of `manifest_count`
    largest                the 20 largest files, largest first
    """

    snapshot_id: str
    metadata_path: str
    metadata_bytes: int
    list_path: str | None
    list_bytes: int | None
    manifest_count: int
    manifest_bytes: int
    files: int
    file_bytes: int
    manifests: list[StoredManifest]
    largest: list[StoredFile]


class StorageReading(View, frozen=True, kw_only=True):
    """What was read of a table's storage. Null with the reason as a phrase: `bytes` in `bytes_missing`, `tree` in
    `tree_missing`.
    """

    bytes: TableBytes | None
    bytes_missing: str | None
    tree: StorageTree | None
    tree_missing: str | None


class StoragePage(PageHead, frozen=True, kw_only=True):
    """Bytes of a table, and the files of one of its snapshots. `read_at`: when storage was read. `bytes` and `tree` are
    null, with the reason as a phrase in `bytes_missing` and `tree_missing`, if a file that they need cannot be read.
    """

    read_at: Millis
    bytes: TableBytes | None
    bytes_missing: str | None
    tree: StorageTree | None
    tree_missing: str | None
