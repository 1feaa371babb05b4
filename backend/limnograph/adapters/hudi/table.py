"""One table as its timeline says it at one pointer: instants, their commits, and what the archive still tells."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

import msgspec

from limnograph.adapters.hudi.commits import MAX_COMMIT_BYTES, Commit, parse_commit, parse_rollback
from limnograph.adapters.hudi.history import Archive, read_archive
from limnograph.adapters.hudi.locate import Layout, layout_of, read_properties, read_timeline, table_root
from limnograph.adapters.hudi.timeline import Instant, Timeline, parse_instant
from limnograph.domain.errors import MetadataError
from limnograph.ports.storage import Storage

SNAPSHOTS_READ = 10_000
"""At most this many instants of a timeline are read, the newest; older ones count as archived."""
STATS_KEPT = 1_000_000
_V = TypeVar("_V")

LeftLogs = list[tuple[str, str, int | None]]


class Kept:
    """Parsed bodies by location and size for the life of the process: an instant never changes once completed."""

    def __init__(self, budget: int = STATS_KEPT) -> None:
        self._budget, self._weight = budget, 0
        self._values: OrderedDict[tuple[str, int], tuple[object, int]] = OrderedDict()

    def get(self, key: tuple[str, int], make: Callable[[], _V], weigh: Callable[[_V], int]) -> _V:
        """The kept value, else a new one; errors are not kept."""
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key][0]  # type: ignore[return-value]
        value = make()
        self._values[key] = (value, weight := 1 + weigh(value))
        self._weight += weight
        while self._weight > self._budget and len(self._values) > 1:
            self._weight -= self._values.popitem(last=False)[1][1]
        return value


class HudiTable(msgspec.Struct, frozen=True, kw_only=True):
    """`commits` by requested instant, `damaged` the codes of those that cannot be read. `rollbacks`: logs that stay in
    their slices, by requested instant of the rollback. `archive` None: nothing was archived.
    """

    root: str
    pointer: str
    properties: dict[str, str]
    size_bytes: int
    layout: Layout
    timeline: Timeline
    commits: dict[str, Commit]
    damaged: dict[str, str]
    rollbacks: dict[str, LeftLogs]
    archive: Archive | None

    @property
    def own_slices(self) -> bool:
        """Whether a log's name carries the instant of its slice (below table version 8)."""
        return self.layout.layout == 1


def load_table(pointer: str, storage: Storage, kept: Kept) -> HudiTable:
    """The table at a pointer: what completed later is left out. Raises MetadataError, SourceError."""
    root = table_root(pointer)
    properties, size = read_properties(root, storage)
    layout = layout_of(root, properties)
    newest = parse_instant(pointer.rpartition("/")[2], layout.layout)
    timeline = read_timeline(layout, storage).until(newest)
    cut = len(timeline.snapshots) > SNAPSHOTS_READ
    timeline = timeline._replace(snapshots=timeline.snapshots[-SNAPSHOTS_READ:])
    commits: dict[str, Commit] = {}
    damaged: dict[str, str] = {}
    for instant in timeline.snapshots:
        try:
            commits[instant.requested] = _commit(instant, timeline, storage, kept)
        except MetadataError as error:
            damaged[instant.requested] = "commit_missing" if error.code == "file_missing" else "commit_unreadable"
    return HudiTable(
        root=root,
        pointer=pointer,
        properties=properties,
        size_bytes=next((i.size for i in (*timeline.snapshots, *timeline.others) if pointer.endswith(i.name)), size),
        layout=layout,
        timeline=timeline,
        commits=commits,
        damaged=damaged,
        rollbacks=_rollbacks(timeline, storage, kept),
        archive=Archive(readable=False) if cut else _archive(layout, storage),
    )


def _commit(instant: Instant, timeline: Timeline, storage: Storage, kept: Kept) -> Commit:
    location = f"{timeline.folder}/{instant.name}"

    def make() -> Commit:
        return parse_commit(storage.read(location, MAX_COMMIT_BYTES))

    return kept.get((location, instant.size), make, lambda commit: len(commit.written) + len(commit.replaced))


def _rollbacks(timeline: Timeline, storage: Storage, kept: Kept) -> dict[str, LeftLogs]:
    """Only in layout 1: later versions delete the log files of what they roll back. A damaged one tells nothing."""
    found: dict[str, LeftLogs] = {}
    for instant in timeline.others if timeline.layout == 1 else ():
        if instant.action in {"rollback", "restore"}:
            location = f"{timeline.folder}/{instant.name}"

            def make(place: str = location) -> LeftLogs:
                return parse_rollback(storage.read(place, MAX_COMMIT_BYTES))

            try:
                found[instant.requested] = kept.get((location, instant.size), make, len)
            except MetadataError:
                continue
    return found


def _archive(layout: Layout, storage: Storage) -> Archive | None:
    if layout.layout == 2:
        return read_archive(storage, layout.archive)
    try:
        return Archive(readable=False) if storage.list(layout.archive) else None
    except MetadataError:
        return Archive(readable=False)
