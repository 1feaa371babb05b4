"""Live files and tombstones of a log in the order of readers that go through it backwards: the newest commit first.

deltalake packs files in this order (`optimize.compact`), and vacuums the tombstones that it finds on the way.
"""

from __future__ import annotations

from typing import NamedTuple

from limnograph.adapters.delta.actions import DeltaFile, read_files
from limnograph.adapters.delta.checkpoints import checkpoint_files, checkpoint_tombstones
from limnograph.adapters.delta.files import LogFiles
from limnograph.adapters.delta.log import Checkpoint, Log
from limnograph.adapters.delta.tombstones import Tombstone, read_tombstones
from limnograph.domain.errors import MetadataError
from limnograph.ports.storage import Storage

MOST_FILES = 500_000
"""Live files and tombstones of a table: about 300 bytes of memory each."""
_TRIES = 10


class PlacedFile(NamedTuple):
    """A live file. `version`: of the commit that added it; None: it is from a checkpoint."""

    file: DeltaFile
    version: int | None


class LogContent(NamedTuple):
    """Live files, newest first; tombstones of files that are no longer live; and the last version that touched each
    partition, as far as commits say.
    """

    files: list[PlacedFile]
    tombstones: list[Tombstone]
    touched: dict[object, int]


class LogReader:
    """Reads the commits of one log."""

    def __init__(self, log: Log, files: LogFiles, storage: Storage) -> None:
        self._log, self._files, self._storage = log, files, storage

    def content(self) -> LogContent:
        """The latest version. Raises MetadataError: nothing readable leads to it, or too many files; SourceError."""
        problem = MetadataError("history_truncated", f"nothing in the log leads to version {self._log.version}")
        bases = list(self._log.bases(self._log.version))
        for base in [*bases[:_TRIES], *(each for each in bases[_TRIES:] if each is None)]:
            try:
                return self._content(base)
            except MetadataError as error:
                if error.code == "too_many_files":
                    raise
                problem = error
        raise problem

    def removed(self) -> list[Tombstone]:
        """All files that commits of the log removed, and that are not live. Raises MetadataError, SourceError."""
        found: dict[bytes, Tombstone] = {}
        for version in self._log.told:
            content = self._files.commit(self._log, version, self._storage)
            for tombstone in read_tombstones(content):
                found[tombstone.path] = tombstone
            for action in read_files(content):
                if action.adds:
                    found.pop(action.file.path, None)
            _check(len(found))
        return list(found.values())

    def _content(self, base: Checkpoint | None) -> LogContent:
        found = _BackwardReplay()
        for version in range(self._log.version, -1 if base is None else base.version, -1):
            found.commit(self._files.commit(self._log, version, self._storage), version)
        if base is not None:
            for file in checkpoint_files(self._log, base, self._storage):
                found.kept(file)
            for tombstone in checkpoint_tombstones(self._log, base, self._storage):
                found.dead.setdefault(tombstone.path, tombstone)
        return found.content()


class _BackwardReplay:
    """What is known after some of the newest commits: the first word about a file is the last one."""

    def __init__(self) -> None:
        self.live, self.dead = dict[bytes, PlacedFile](), dict[bytes, Tombstone]()
        self._seen, self._touched = set[bytes](), dict[object, int]()

    def commit(self, content: bytes, version: int) -> None:
        """The commit before those that were given so far."""
        last = {action.file.key: action for action in read_files(content)}
        for key, action in last.items():
            if action.file.values is not None:
                self._touched.setdefault(action.file.values, version)
            if key not in self._seen and action.adds:
                self.live[key] = PlacedFile(action.file, version)
        self._seen |= last.keys()
        for tombstone in read_tombstones(content):
            self.dead.setdefault(tombstone.path, tombstone)
        _check(len(self.live) + len(self.dead))

    def kept(self, file: DeltaFile) -> None:
        """A file of the checkpoint before the commits."""
        if file.key not in self._seen and file.key not in self.live:
            self.live[file.key] = PlacedFile(file, None)
            _check(len(self.live) + len(self.dead))

    def content(self) -> LogContent:
        """All of it; a file whose vector was exchanged is live, although it was removed with the old one."""
        for placed in self.live.values():
            self.dead.pop(placed.file.path, None)
        return LogContent(list(self.live.values()), list(self.dead.values()), self._touched)


def _check(count: int) -> None:
    if count > MOST_FILES:
        raise MetadataError("too_many_files", f"more than {MOST_FILES:,} files")
