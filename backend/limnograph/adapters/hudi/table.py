"""One table from its timeline at one pointer: instants, their commits, and the readable archive."""

from __future__ import annotations

import msgspec

from limnograph.adapters.hudi.archive import Archive, read_archive
from limnograph.adapters.hudi.commits import MAX_COMMIT_BYTES, Commit, LeftLogs, parse_commit, parse_rollback
from limnograph.adapters.hudi.kept import WeightedCache
from limnograph.adapters.hudi.locate import HudiLayout, layout_of, read_properties, read_timeline, table_root
from limnograph.adapters.hudi.timeline import HudiInstant, HudiTimeline, parse_instant
from limnograph.domain.errors import MetadataError
from limnograph.ports.storage import Storage

SNAPSHOTS_READ = 10_000
"""Maximum instants of a timeline to read, the latest ones; older ones count as archived."""
STATS_READ = 1_000_000
"""Maximum write stats of all of them together, about half a gigabyte; later instants report `too_many_actions`."""


class HudiTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table at one pointer.

    commits    by requested instant
    damaged    code and detail of unreadable commits, by requested instant
    rollbacks  logs that stay in their slices, by requested instant of the rollback
    archive    None: nothing was archived
    """

    root: str
    pointer: str
    properties: dict[str, str]
    size_bytes: int
    layout: HudiLayout
    timeline: HudiTimeline
    commits: dict[str, Commit]
    damaged: dict[str, tuple[str, str]]
    rollbacks: dict[str, LeftLogs]
    archive: Archive | None

    @property
    def own_slices(self) -> bool:
        """Whether a log's name carries the instant of its slice (below table version 8)."""
        return self.layout.layout == 1


def load_table(pointer: str, storage: Storage, kept: WeightedCache) -> HudiTable:
    """The table at a pointer; later instants are ignored. Raises MetadataError, SourceError."""
    table = _look(pointer, storage, kept)
    # Archiving or a rollback may remove an instant between listing and reading: retry once.
    return (
        _look(pointer, storage, kept) if any(code == "commit_missing" for code, _ in table.damaged.values()) else table
    )


def _look(pointer: str, storage: Storage, kept: WeightedCache) -> HudiTable:
    root = table_root(pointer)
    properties, size = read_properties(root, storage)
    layout = layout_of(root, properties, storage)
    newest = parse_instant(pointer.rpartition("/")[2], layout.layout)
    timeline = read_timeline(layout, storage).until(newest)
    cut = len(timeline.snapshots) > SNAPSHOTS_READ
    timeline = timeline._replace(snapshots=timeline.snapshots[-SNAPSHOTS_READ:])
    archive = Archive(readable=False) if cut else read_archive(storage, layout, kept)
    commits: dict[str, Commit] = {}
    damaged: dict[str, tuple[str, str]] = {}
    stats = 0
    for instant in timeline.snapshots:
        if stats > STATS_READ:
            damaged[instant.requested] = "too_many_actions", f"more than {STATS_READ} write stats before {instant.name}"
            continue
        try:
            commits[instant.requested] = commit = _commit(instant, timeline, storage, kept)
            stats += commit.weight
        except MetadataError as error:
            code = "commit_missing" if error.code == "file_missing" else "commit_unreadable"
            damaged[instant.requested] = code, f"{timeline.folder}/{instant.name}: {error.detail}"
    return HudiTable(
        root=root,
        pointer=pointer,
        properties=properties,
        size_bytes=next((i.size for i in (*timeline.snapshots, *timeline.others) if pointer.endswith(i.name)), size),
        layout=layout,
        timeline=timeline,
        commits=commits,
        damaged=damaged,
        rollbacks=(archive.rollbacks if archive else {}) | _rollbacks(timeline, storage, kept),
        archive=archive,
    )


def _commit(instant: HudiInstant, timeline: HudiTimeline, storage: Storage, kept: WeightedCache) -> Commit:
    location = f"{timeline.folder}/{instant.name}"

    def make() -> Commit:
        return parse_commit(storage.read(location, MAX_COMMIT_BYTES))

    return kept.get((location, instant.size), make, lambda commit: commit.weight)


def _rollbacks(timeline: HudiTimeline, storage: Storage, kept: WeightedCache) -> dict[str, LeftLogs]:
    """Only in layout 1: later versions delete the log files that they roll back. Damaged rollbacks are ignored."""
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
