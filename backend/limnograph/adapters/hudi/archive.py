"""The archived timeline: commits that left the active one. Their snapshots count as expired.

Their write stats still describe files that remain live, so that a state can be replayed from a table's first commit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from limnograph.adapters.hudi.archived_log import parse_archived_log
from limnograph.adapters.hudi.commits import Commit, LeftLogs
from limnograph.adapters.hudi.history import live_files, parse_history
from limnograph.adapters.hudi.kept import WeightedCache
from limnograph.adapters.hudi.locate import HudiLayout
from limnograph.adapters.hudi.timeline import HudiInstant
from limnograph.domain.errors import MetadataError
from limnograph.ports.storage import ListedFile, Storage

MAX_ARCHIVE_BYTES = 16 * 2**20
"""With a larger archive, listing the table's folder is cheaper than replaying the archive."""
_HISTORY = re.compile(r"\d{14,17}_\d{14,17}_\d+\.parquet", re.ASCII)
_LOG = re.compile(r"\.commits_\.archive\.\d+(?:_[^_.]+)?", re.ASCII)

Archived = Sequence[tuple[HudiInstant, Commit | LeftLogs]]


class Archive(msgspec.Struct, frozen=True):
    """Archived commits in order, and logs that rollbacks left, by instant.

    `readable` False: the archive exists, but is too large or too damaged to read.
    """

    commits: tuple[tuple[HudiInstant, Commit], ...] = ()
    rollbacks: dict[str, LeftLogs] = msgspec.field(default_factory=dict)
    readable: bool = True

    @property
    def newest(self) -> HudiInstant | None:
        """The newest archived snapshot."""
        return self.commits[-1][0] if self.commits else None


def read_archive(storage: Storage, layout: HudiLayout, kept: WeightedCache) -> Archive | None:
    """The archive; None if nothing was archived. Raises SourceError."""
    try:
        listed = storage.list(layout.archive)
        named = _HISTORY if layout.layout == 2 else _LOG
        files = [file for file in listed if named.fullmatch(file.name)]
        if not files:
            return None
        if layout.layout == 2:
            live = live_files(storage, layout.archive, listed)
            files = [file for file in files if live is None or file.name in live]
        if sum(file.size for file in files) > MAX_ARCHIVE_BYTES:
            return Archive(readable=False)
        parse = parse_history if layout.layout == 2 else parse_archived_log
        found = dict(_all(storage, layout.archive, files, parse, kept))
    except MetadataError:
        return Archive(readable=False)
    commits = sorted(((i, c) for i, c in found.items() if isinstance(c, Commit)), key=lambda item: item[0].order)
    return Archive(tuple(commits), {i.requested: logs for i, logs in found.items() if isinstance(logs, list)})


def _all(
    storage: Storage, folder: str, files: Iterable[ListedFile], parse: Callable[[bytes], Archived], kept: WeightedCache
) -> Iterable[tuple[HudiInstant, Commit | LeftLogs]]:
    for file in files:
        location = f"{folder}/{file.name}"

        def make(place: str = location) -> Archived:
            return parse(storage.read(place, MAX_ARCHIVE_BYTES))

        yield from kept.get((location, file.size), make, _weight)


def _weight(rows: Archived) -> int:
    return sum(1 + (body.weight if isinstance(body, Commit) else len(body)) for _, body in rows)
