"""A table's state at each of its retained instants, one after another."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.adapters.hudi.commits import Commit
from limnograph.adapters.hudi.folder import data_files, looks_back, start_from_folder
from limnograph.adapters.hudi.slices import Move, Slices
from limnograph.adapters.hudi.table import HudiTable
from limnograph.adapters.hudi.timeline import Instant, Timeline
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata import Snapshot
from limnograph.ports.storage import Storage


class Beginning(NamedTuple):
    """Timeline and commits that a replay runs over: the archived ones too where they can be read."""

    timeline: Timeline
    commits: dict[str, Commit]
    complete: bool


class Replay:
    """Carries the slices forward over the instants of one table."""

    def __init__(self, table: HudiTable, storage: Storage, small_below: int | None) -> None:
        self.table = table
        self._beginning = _beginning(table)
        self.slices = Slices(own_slices=table.own_slices, small_below=small_below)
        self._lost = False
        self.problem: str | None = None
        self._listed = False
        if not self._beginning.complete:
            self._start_from_folder(storage)
        self._rollbacks = [(r, logs) for r, logs in sorted(table.rollbacks.items()) if logs]
        self._next = 0

    @property
    def counted(self) -> bool:
        """Whether the totals are known: not where the state before the first instant cannot be found, nor after an
        instant whose body is damaged.
        """
        return not self._lost and not self.slices.unknown

    @property
    def archived(self) -> bool:
        """Whether the first state was taken from the folder, because older commits are archived."""
        return self._listed

    def passed(self, instant: Instant) -> bool:
        """Whether the state already includes the instant."""
        done = self._beginning.timeline.snapshots[: self._next]
        return bool(done) and instant.order <= done[-1].order

    def forward_to(self, snapshot: Snapshot) -> Move | None:
        """Apply everything up to the snapshot. None: its own body is damaged, or it is not of this timeline."""
        wanted = str(snapshot.snapshot_id)
        move: Move | None = None
        snapshots = self._beginning.timeline.snapshots
        while self._next < len(snapshots):
            instant = snapshots[self._next]
            self._next += 1
            move = self._apply(instant)
            if instant.requested.lstrip("0") == wanted.lstrip("0"):
                return move
        return None

    def _apply(self, instant: Instant) -> Move | None:
        while self._rollbacks and self._rollbacks[0][0] < instant.requested:
            for partition, name, size in self._rollbacks.pop(0)[1]:
                self.slices.leave_log(partition, name, size)
        commit = self._beginning.commits.get(instant.requested)
        if commit is None:
            self._lost = True
            self.problem = "history_damaged"
            return None
        at = instant.timestamp_ms
        return self.slices.apply(instant, commit, None if at is None else at * 1000)

    def _start_from_folder(self, storage: Storage) -> None:
        self._listed = True
        timeline, commits, _ = self._beginning
        try:
            files = data_files(storage.list(self.table.root, deep=True))
        except MetadataError:
            self._lost = True
            return
        copy_on_write = self.table.properties.get("hoodie.table.type", "COPY_ON_WRITE") == "COPY_ON_WRITE"
        start_from_folder(self.slices, timeline, commits, files, only_bases=copy_on_write)


def _beginning(table: HudiTable) -> Beginning:
    """The archive in front of the active timeline, if both together reach back to the first commit."""
    if table.archive is None or not table.archive.commits:
        complete = table.archive is None and not looks_back(table.timeline, table.commits)
        return Beginning(table.timeline, table.commits, complete)
    active = {instant.requested for instant in table.timeline.snapshots}
    older = [(i, c) for i, c in table.archive.commits if i.requested not in active]
    timeline = table.timeline._replace(
        snapshots=tuple(sorted((*(i for i, _ in older), *table.timeline.snapshots), key=lambda i: i.order))
    )
    commits = {i.requested: c for i, c in older} | table.commits
    return Beginning(timeline, commits, table.archive.readable and not looks_back(timeline, commits))
