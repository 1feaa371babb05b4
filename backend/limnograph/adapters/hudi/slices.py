"""The latest file slice of every file group, carried forward from instant to instant.

A group's live files are the latest base file and the logs that a reader merges into it: those of its own slice and,
while a compaction is pending, those of the next slice. Knows nothing of storage.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np
import numpy.typing as npt

from limnograph.adapters.hudi.commits import Commit, WriteStat
from limnograph.adapters.hudi.names import parse_name
from limnograph.adapters.hudi.tally import HudiFile, Tally
from limnograph.adapters.hudi.timeline import HudiInstant
from limnograph.domain.facts.meta_tables import HISTOGRAM_EDGES
from limnograph.domain.metadata.manifests import size_bin
from limnograph.domain.time import Micros

GroupId = tuple[str, str]
"""`(partition path, file id)`."""


class Slice(msgspec.Struct):
    """Latest file slice of a group: base file, if any, and logs by name."""

    base: HudiFile | None = None
    logs: dict[str, HudiFile] = msgspec.field(default_factory=dict)


class SliceDelta(msgspec.Struct):
    """Totals that one instant added and removed.

    touched  per partition: data files added and removed
    unclear  a group with unknown contents was removed
    """

    added: Tally = msgspec.field(default_factory=Tally)
    removed: Tally = msgspec.field(default_factory=Tally)
    touched: dict[str, list[int]] = msgspec.field(default_factory=dict)
    unclear: bool = False


class Slices:
    """State of a table. `own_slices`: a log's name carries its slice (table versions below 8). Otherwise a log belongs
    to the latest base file that was requested before the log completed.
    """

    def __init__(self, *, own_slices: bool, small_below: int | None) -> None:
        self.own_slices, self._small_below = own_slices, small_below
        self._groups: dict[GroupId, Slice] = {}
        self._replaced: set[GroupId] = set()
        self._move = SliceDelta()
        self.total = Tally()
        self.histogram = [0] * (len(HISTOGRAM_EDGES) + 1)
        self.partitions: dict[str, Tally] = {}
        self.last_touched: dict[str, Micros | None] = {}
        self.unknown: set[GroupId] = set()
        """Live groups known only from their later replacement."""

    @property
    def groups(self) -> int:
        """File groups with a live file."""
        return len(self._groups)

    def sizes(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Per live base file of known size: number of its partition, and bytes."""
        numbers: dict[str, int] = {}
        live = [
            (numbers.setdefault(partition, len(numbers)), group.base.size)
            for (partition, _), group in self._groups.items()
            if group.base is not None and group.base.size is not None
        ]
        found = np.array(live, np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def start(self, group: GroupId, base: HudiFile | None, logs: Iterable[tuple[str, HudiFile]] = ()) -> None:
        """Set a group's state before the first instant to apply."""
        if base is not None:
            self._put_base(group, base)
        for name, log in logs:
            self._put_log(group, name, log)
        self._move = SliceDelta()

    def apply(self, instant: HudiInstant, commit: Commit, committed_at: Micros | None) -> SliceDelta:
        """Apply one more completed instant and return its changes."""
        self._move = SliceDelta()
        written = {(item.partition, item.file_id) for item in commit.written}
        for group in commit.replaced:
            self._drop(group)
            if group not in written:
                self._replaced.add(group)
        for item in commit.written:
            self._write(instant, item)
        for partition in self._move.touched:
            self.last_touched[partition] = committed_at
        return self._move

    def leave_log(self, partition: str, name: str, size: int | None) -> None:
        """Add a log file that a rollback left in its slice; it counts as no snapshot's change."""
        parsed = parse_name(name)
        if parsed is not None and parsed.is_log and not parsed.cdc and (partition, parsed.file_id) in self._groups:
            self._put_log((partition, parsed.file_id), name, HudiFile(parsed.instant, size))
        self._move = SliceDelta()

    def _write(self, instant: HudiInstant, item: WriteStat) -> None:
        group = (item.partition, item.file_id)
        if group in self._replaced or item.cdc:
            return
        if not item.is_log:
            self._put_base(group, HudiFile(instant.requested, item.size, item.records))
            return
        ended = instant.completed or instant.requested
        self._put_log(group, item.name, HudiFile((item.instant or ended) if self.own_slices else ended, item.size))

    def _put_base(self, group: GroupId, base: HudiFile) -> None:
        """Open a slice with a newer base file: the previous base leaves, and with it the logs merged into it."""
        found = self._groups.get(group)
        if found is None:
            found = self._groups[group] = Slice()
        elif found.base is not None:
            if found.base.order > base.order:
                return
            self._count_base(group, found.base, -1)
        if found.logs:
            for name, log in [(name, log) for name, log in found.logs.items() if log.order < base.order]:
                del found.logs[name]
                self._count_log(group, log, -1)
        found.base = base
        self._count_base(group, base, 1)

    def _put_log(self, group: GroupId, name: str, log: HudiFile) -> None:
        """Add a new log, or update the size of one that was appended to."""
        found = self._groups.setdefault(group, Slice())
        if found.base is not None and log.order < found.base.order:
            return
        before = found.logs.get(name)
        found.logs[name] = log
        if before is None:
            self._count_log(group, log, 1)
            return
        for tally in (self.total, self.partitions[group[0]]):
            tally.log(before, -1)
            tally.log(log, 1)
        self._move.touched.setdefault(group[0], [0, 0])

    def _drop(self, group: GroupId) -> None:
        if group in self.unknown:
            self.unknown.discard(group)
            self._move.unclear = True
        found = self._groups.pop(group, None)
        if found is None:
            return
        if found.base is not None:
            self._count_base(group, found.base, -1)
        for log in found.logs.values():
            self._count_log(group, log, -1)

    def _count_base(self, group: GroupId, file: HudiFile, sign: int) -> None:
        partition = group[0]
        side = self._move.added if sign > 0 else self._move.removed
        side.base(file, 1, None)
        self._move.touched.setdefault(partition, [0, 0])[sign < 0] += 1
        for tally in (self.total, self.partitions.setdefault(partition, Tally())):
            tally.base(file, sign, self._small_below)
        if file.size is not None:
            self.histogram[size_bin(file.size)] += sign
        self._forget_empty(partition)

    def _count_log(self, group: GroupId, file: HudiFile, sign: int) -> None:
        partition = group[0]
        side = self._move.added if sign > 0 else self._move.removed
        side.log(file, 1)
        self._move.touched.setdefault(partition, [0, 0])
        for tally in (self.total, self.partitions.setdefault(partition, Tally())):
            tally.log(file, sign)
        self._forget_empty(partition)

    def _forget_empty(self, partition: str) -> None:
        tally = self.partitions[partition]
        if not tally.files and not tally.logs:
            del self.partitions[partition]
