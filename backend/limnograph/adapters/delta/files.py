"""Files of Delta logs, cached for the life of the process: a log file never changes once it is written.

Short commits are kept as bytes, because the history and the replay both read them. Heads of commits and checkpoints
are kept decoded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from limnograph.adapters.delta.actions import MAX_COMMIT_BYTES, Head, read_head
from limnograph.adapters.delta.checkpoints import CheckpointHead, checkpoint_head
from limnograph.adapters.delta.log import Checkpoint, Log
from limnograph.adapters.delta.summary import settle
from limnograph.domain.errors import MetadataError
from limnograph.ports.storage import ListedFile, Storage

KEPT_BYTES = 16 * 2**20
KEPT_HEADS = 10_000
READ_AT_ONCE = 8
_SHORT = 256 * 2**10
_BATCH_BYTES = 64 * 2**20


class LogFiles:
    """Shared by all tables of a process. A file is identified by its log, name, size and time."""

    def __init__(self) -> None:
        self._bytes: OrderedDict[Any, bytes] = OrderedDict()
        self._heads: OrderedDict[Any, Head | CheckpointHead] = OrderedDict()
        self._weight = 0

    def commit(self, log: Log, version: int, storage: Storage) -> bytes:
        """Content of a commit. Raises MetadataError, SourceError."""
        file = log.commits[version]
        key = (log.root, file)
        found = self._bytes.get(key)
        if found is not None:
            self._bytes.move_to_end(key)
            return found
        content = storage.read(log.location(file.name), MAX_COMMIT_BYTES)
        self._keep(key, content)
        return content

    def heads(self, log: Log, versions: Iterable[int], storage: Storage) -> dict[int, Head]:
        """Heads of commits. Missing ones are read a few at a time, because reading is mostly waiting for storage.

        A commit that is missing or too long becomes a damaged head. Raises SourceError.
        """
        found: dict[int, Head] = {}
        missing: list[int] = []
        for version in versions:
            head = self._heads.get((log.root, log.commits[version]))
            if isinstance(head, Head):
                found[version] = head
            else:
                missing.append(version)
        if len(missing) == 1:
            found[missing[0]] = self._read(log, missing[0], storage)
        elif missing:
            with ThreadPoolExecutor(READ_AT_ONCE) as pool:
                for batch in _batches(missing, log.commits):
                    heads = pool.map(lambda version: self._fetch(log, version, storage), batch)
                    found.update((v, self._take(log, v, content)) for v, content in zip(batch, heads, strict=True))
        return found

    def checkpoint(self, log: Log, checkpoint: Checkpoint, storage: Storage) -> CheckpointHead:
        """Head of a checkpoint. Raises MetadataError, SourceError."""
        key = (log.root, checkpoint.files)
        found = self._heads.get(key)
        if not isinstance(found, CheckpointHead):
            found = checkpoint_head(log, checkpoint, storage)
            self._remember(key, found)
        return found

    def _read(self, log: Log, version: int, storage: Storage) -> Head:
        return self._take(log, version, self._fetch(log, version, storage))

    @staticmethod
    def _fetch(log: Log, version: int, storage: Storage) -> bytes | MetadataError:
        try:
            return storage.read(log.location(log.commits[version].name), MAX_COMMIT_BYTES)
        except MetadataError as error:
            return error

    def _take(self, log: Log, version: int, content: bytes | MetadataError) -> Head:
        key = (log.root, log.commits[version])
        if isinstance(content, MetadataError):
            return Head(damage=str(content))
        self._keep(key, content)
        head = settle(read_head(content))
        self._remember(key, head)
        return head

    def _keep(self, key: Any, content: bytes) -> None:
        if len(content) > _SHORT or key in self._bytes:
            return
        self._bytes[key] = content
        self._weight += len(content)
        while self._weight > KEPT_BYTES:
            self._weight -= len(self._bytes.popitem(last=False)[1])

    def _remember(self, key: Any, head: Head | CheckpointHead) -> None:
        self._heads[key] = head
        while len(self._heads) > KEPT_HEADS:
            self._heads.popitem(last=False)


def _batches(versions: list[int], commits: dict[int, ListedFile]) -> Iterable[list[int]]:
    """Batches whose contents fit in memory together."""
    part: list[int] = []
    size = 0
    for version in versions:
        if part and (size + commits[version].size > _BATCH_BYTES or len(part) >= 512):
            yield part
            part, size = [], 0
        part.append(version)
        size += commits[version].size
    if part:
        yield part
