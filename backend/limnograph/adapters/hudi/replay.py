"""A table's state at each of its retained instants, one after another."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from limnograph.adapters.hudi.commits import Commit, LeftLogs
from limnograph.adapters.hudi.folder import data_files, looks_back, start_from_folder
from limnograph.adapters.hudi.slices import SliceDelta, Slices
from limnograph.adapters.hudi.table import HudiTable
from limnograph.adapters.hudi.timeline import HudiInstant, HudiTimeline
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.table import Snapshot
from limnograph.domain.time import to_micros
from limnograph.ports.storage import Storage

GROUPS_CARRIED = 300_000


class ReplayStart(NamedTuple):
    """Timeline and commits of a replay, including the archived ones if they are readable."""

    timeline: HudiTimeline
    commits: dict[str, Commit]
    complete: bool


class Replay:
    """Carries the slices of one table forward from instant to instant."""

    def __init__(self, table: HudiTable, storage: Storage, small_below: int | None) -> None:
        self.table = table
        self._beginning = _beginning(table)
        self.slices = Slices(own_slices=table.own_slices, small_below=small_below)
        self._lost = False
        self.problem: str | None = None
        self._listed = False
        self._small_below = small_below
        if not self._beginning.complete:
            self._start_from_folder(storage)
        self._rollbacks = _left_logs(table)
        self._applied = 0
        self._next = 0

    @property
    def counted(self) -> bool:
        """Whether the totals are known: not if the state before the first instant is unknown, nor after an instant with
        a damaged body.
        """
        return not self._lost and not self.slices.unknown

    @property
    def archived(self) -> bool:
        """Whether the initial state came from the folder, because older commits are archived."""
        return self._listed

    def goes_on_with(self, table: HudiTable, small_below: int | None) -> bool:
        """Whether the state is also valid for a newer reading of the table, which then takes it over. A state that came
        from the folder, or was lost, is always computed again.
        """
        beginning, rollbacks = _beginning(table), _left_logs(table)
        same = (
            not self._listed
            and not self._lost
            and beginning.complete
            and (small_below, table.own_slices) == (self._small_below, self.table.own_slices)
            and rollbacks[: self._applied] == self._rollbacks[: self._applied]
            and list(map(_key, beginning.timeline.snapshots[: self._next]))
            == list(map(_key, self._beginning.timeline.snapshots[: self._next]))
        )
        if same:
            self.table, self._beginning, self._rollbacks = table, beginning, rollbacks
        return same

    def passed(self, instant: HudiInstant) -> bool:
        """Whether the state already includes the instant."""
        done = self._beginning.timeline.snapshots[: self._next]
        return bool(done) and instant.order <= done[-1].order

    def forward_to(self, snapshot: Snapshot) -> SliceDelta | None:
        """Apply everything up to the snapshot. None: its body is damaged, or it is not in this timeline."""
        wanted = str(snapshot.snapshot_id)
        move: SliceDelta | None = None
        snapshots = self._beginning.timeline.snapshots
        while self._next < len(snapshots):
            instant = snapshots[self._next]
            self._next += 1
            move = self._apply(instant)
            if instant.requested.lstrip("0") == wanted.lstrip("0"):
                return move
        return None

    def _apply(self, instant: HudiInstant) -> SliceDelta | None:
        while self._applied < len(self._rollbacks) and self._rollbacks[self._applied][0] < instant.requested:
            for partition, name, size in self._rollbacks[self._applied][1]:
                self.slices.leave_log(partition, name, size)
            self._applied += 1
        commit = self._beginning.commits.get(instant.requested)
        if commit is None:
            self._lost = True
            self.problem = "history_damaged"
            return None
        at = instant.timestamp_ms
        return self.slices.apply(instant, commit, to_micros(at))

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


class CarriedStates:
    """States of recently read tables, so that a new commit costs only its own body. At most `budget` file groups.

    A state is reused only if the timeline before it is unchanged: rows never depend on the cache.
    """

    def __init__(self, budget: int = GROUPS_CARRIED) -> None:
        self._budget = budget
        self._replays: OrderedDict[str, Replay] = OrderedDict()

    def replay(self, table: HudiTable, storage: Storage, small_below: int | None, instant: HudiInstant) -> Replay:
        """A state from before the instant. Raises SourceError."""
        found = self._replays.pop(table.root, None)
        if found is not None and (found.passed(instant) or not found.goes_on_with(table, small_below)):
            found = None  # released before the next one is built: each may take half of a child's memory
        found = found or Replay(table, storage, small_below)
        self._replays[table.root] = found
        while len(self._replays) > 1 and sum(r.slices.groups for r in self._replays.values()) > self._budget:
            self._replays.popitem(last=False)
        return found


def _left_logs(table: HudiTable) -> list[tuple[str, LeftLogs]]:
    return [(instant, logs) for instant, logs in sorted(table.rollbacks.items()) if logs]


def _key(instant: HudiInstant) -> tuple[str, str | None, str]:
    """Identity of an instant, the same in the archive and in the active timeline."""
    return instant.requested, instant.completed, instant.action


def _beginning(table: HudiTable) -> ReplayStart:
    """The archive followed by the active timeline, if together they reach back to the first commit."""
    if table.archive is None or not table.archive.commits:
        # An archive may contain only cleans and rollbacks.
        readable = table.archive is None or table.archive.readable
        return ReplayStart(table.timeline, table.commits, readable and not looks_back(table.timeline, table.commits))
    active = {instant.requested for instant in table.timeline.snapshots}
    older = [(i, c) for i, c in table.archive.commits if i.requested not in active]
    timeline = table.timeline._replace(
        snapshots=tuple(sorted((*(i for i, _ in older), *table.timeline.snapshots), key=lambda i: i.order))
    )
    commits = {i.requested: c for i, c in older} | table.commits
    return ReplayStart(timeline, commits, table.archive.readable and not looks_back(timeline, commits))
