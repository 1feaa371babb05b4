"""Port TableReader for Delta Lake: the history from the heads of commits, the state of each version by replay."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.adapters.delta.actions import FileAction
from limnograph.adapters.delta.content import content_of, partitions_of
from limnograph.adapters.delta.files import LogFiles
from limnograph.adapters.delta.log import Log, open_log
from limnograph.adapters.delta.metadata import HeadHistory, checksum_of, read_history, table_metadata
from limnograph.adapters.delta.replay import Moves, replay
from limnograph.adapters.delta.state import DeltaLiveFiles
from limnograph.adapters.delta.states import StateCache, moved
from limnograph.analysis.shape import packed_shape, wrote_much
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.content import Partitions, Reading, Want
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.domain.time import Micros
from limnograph.ports.storage import Storage

MAX_CHECKSUM_BYTES = 2**20
"""Larger checksum files repeat all live files and are not worth reading."""


_OWN = {"file_missing": "commit_missing", "file_too_large": "too_many_actions", "too_many_actions": "too_many_actions"}


class SharedCaches:
    """Shared by the tables of one process: files of their logs and the states of their last versions."""

    def __init__(self) -> None:
        self.files = LogFiles()
        self.states = StateCache(self.files)


SHARED = SharedCaches()
"""For the life of the process: parsers stay warm and Spark reuses its Python workers, so passes share the caches."""


class _VersionRead(NamedTuple):
    """A version as far as it could be read.

    live      state after the version
    moves     changes of its own commit
    problems  codes, with the damaged file and its damage
    """

    live: DeltaLiveFiles | None
    moves: Moves | None
    problems: dict[str, str]


class DeltaReader:
    """Reads one storage. Not thread-safe: states are updated in place."""

    def __init__(self, storage: Storage, shared: SharedCaches = SHARED) -> None:
        self._storage, self._files, self._states = storage, shared.files, shared.states
        self._opened: tuple[str, Log, HeadHistory] | None = None

    def metadata(self, location: str) -> TableMetadata:
        log, history = self._open(location)
        return table_metadata(location, log, history)

    def read(self, metadata: TableMetadata, snapshot: Snapshot, want: Want) -> Reading:
        log, history = self._at(metadata)
        version = snapshot.snapshot_id
        targets = metadata.targets
        small_below = targets.small_below if targets else None
        found = self._version(log, version)
        if found.live is None and found.moves is None:
            return Reading(tier="summary", problems=tuple(found.problems), details=found.problems)
        shape = None
        if found.live is not None:
            found.live.aim(small_below)
            moved_files = found.moves.data_files if found.moves else 0
            if wrote_much(moved_files, len(found.live)) if want.shape is None else want.shape:
                held = found.live.held(history.naming(version))
                shape = packed_shape(*found.live.sizes(), held, targets, snapshot.committed_at)
            self._states.keep(log, version, found.live)
        partitions = self._partitions(metadata, version, found, changed_only=want.changed_only, small_below=small_below)
        return Reading(
            tier="entries",
            problems=tuple(found.problems),
            details=found.problems,
            notes=self._notes(log, version, found.live),
            content=content_of(found.live, found.moves, partitions, shape, small_below=small_below),
        )

    def _at(self, metadata: TableMetadata) -> tuple[Log, HeadHistory]:
        """The log as it was when the metadata was read."""
        if self._opened is not None and self._opened[0] == metadata.metadata_location:
            return self._opened[1:]
        return self._open(metadata.metadata_location)

    def _open(self, location: str) -> tuple[Log, HeadHistory]:
        log = open_log(location, self._storage)
        history = read_history(log, self._files, self._storage)
        self._opened = (location, log, history)
        return log, history

    def _version(self, log: Log, version: int) -> _VersionRead:
        """The version's commit applied to the state before it; else the commit alone, and its checkpoint."""
        problems: dict[str, str] = {}
        actions: list[FileAction] | None = None
        try:
            if version in log.commits:
                actions = self._states.actions(log, version, self._storage)
                before = self._states.at(log, version - 1, self._storage)
                return _VersionRead(before, moved(before, version, replay(actions, before)), {})
        except MetadataError as error:
            problems[_code(error, own=actions is None)] = error.detail
        try:
            live = self._states.checkpoint(log, version, self._storage)
        except MetadataError as error:
            live = None
            problems = problems or {error.code: error.detail}
        else:
            for healed in ("history_truncated", "history_damaged"):
                problems.pop(healed, None)
        moves = None if actions is None else replay(actions, None)
        if live is not None and moves is not None:
            moved(live, version, moves)
        return _VersionRead(live, moves, problems)

    def _partitions(
        self, metadata: TableMetadata, version: int, found: _VersionRead, *, changed_only: bool, small_below: int | None
    ) -> Partitions | None:
        if found.live is None:
            return None
        log, history = self._at(metadata)
        live, moves = found.live, found.moves or Moves(placed=False)
        # Renamed columns change the keys of all partitions: a difference from the previous row cannot express that.
        changed_only = changed_only and not history.renamed(version)
        if not (changed_only and moves.placed):
            self._states.seed(log, live, version, self._storage)

        def committed_at(number: int) -> Micros | None:
            own = live.values[number] in moves.touched
            touched = metadata.snapshots.get(version if own else live.touched.get(number, -1))
            return touched.committed_at if touched else None

        return partitions_of(
            live,
            moves,
            history.naming(version),
            small_below,
            changed_only=changed_only,
            committed_at=committed_at,
        )

    def _notes(self, log: Log, version: int, live: DeltaLiveFiles | None) -> tuple[str, ...]:
        """`checksum_mismatch`: the writer's own checksum file has other counts. It is compared, never trusted."""
        file = log.checksums.get(version)
        if live is None or file is None or file.size > MAX_CHECKSUM_BYTES:
            return ()
        try:
            content = self._storage.read(log.location(file.name), MAX_CHECKSUM_BYTES)
        except MetadataError:
            return ()
        counted = (live.total.files, live.total.bytes)
        claims = checksum_of(content)
        differs = any(claim not in {None, count} for claim, count in zip(claims, counted, strict=True))
        return ("checksum_mismatch",) if differs else ()


def _code(error: MetadataError, *, own: bool) -> str:
    """Problem code of a row. Any damage of the version's own commit has the same code."""
    return _OWN.get(error.code, "commit_unreadable") if own else error.code
