"""Files of a table's folder that are older than its active timeline: the state before the first retained instant.

For tables whose history is archived. A file's name carries its group and instant, so a listing provides counts and
bytes, but not rows. Files that cleaning removed are known only if later write stats refer to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from limnograph.adapters.hudi.commits import Commit
from limnograph.adapters.hudi.names import FileName, parse_name
from limnograph.adapters.hudi.slices import GroupId, Slices
from limnograph.adapters.hudi.tally import HudiFile
from limnograph.adapters.hudi.timeline import HudiTimeline
from limnograph.ports.storage import ListedFile

_JUNK = frozenset((".hoodie", "__MACOSX"))
Placed = tuple[GroupId, str, FileName, int]
"""A data file of the listing: its group, its name, the parsed name, its bytes."""


def data_files(listing: Iterable[ListedFile]) -> list[Placed]:
    """Base and log files of a recursive listing of the table's folder."""
    found: list[Placed] = []
    for file in listing:
        partition, _, name = file.name.rpartition("/")
        parsed = parse_name(name)
        if parsed is not None and not parsed.cdc and _JUNK.isdisjoint(partition.split("/")):
            found.append(((partition, parsed.file_id), name, parsed, file.size))
    return found


def start_from_folder(
    slices: Slices, timeline: HudiTimeline, commits: Mapping[str, Commit], files: Iterable[Placed], *, only_bases: bool
) -> None:
    """Initialise `slices` with the files older than the timeline, and with what later commits record about older files.

    `only_bases`: the table is copy-on-write, so that a group without remaining files had one base file.
    """
    bases: dict[GroupId, HudiFile] = {}
    logs: dict[GroupId, list[tuple[str, HudiFile]]] = {}
    written = {(stat.partition, stat.name) for commit in commits.values() for stat in commit.written}
    for group, name, parsed, size in files:
        # A log of a pending compaction's slice carries that instant in its name, and is complete nevertheless.
        unfinished = parsed.instant in timeline.pending and not (parsed.is_log and slices.own_slices)
        if (group[0], name) in written or parsed.instant >= timeline.starts or unfinished:
            continue
        if parsed.is_log:
            logs.setdefault(group, []).append((name, HudiFile(parsed.instant, size)))
        elif group not in bases or bases[group].order < parsed.instant:
            bases[group] = HudiFile(parsed.instant, size)
    back = looks_back(timeline, commits)
    for group, order in back.bases.items():
        if group not in bases or bases[group].order < order:
            bases[group] = HudiFile(order, None)
    gone = back.replaced - bases.keys() - logs.keys()
    for group in gone if only_bases else ():
        bases[group] = HudiFile("", None)
    for group in bases.keys() | logs.keys():
        slices.start(group, bases.get(group), logs.get(group, ()))
    slices.unknown.update(gone if not only_bases else ())


class LookBack(NamedTuple):
    """Records of retained commits about groups older than the timeline.

    bases     instant of the base file that a group's first stat continues
    replaced  groups that are replaced before any retained commit writes them
    updated   groups whose rows change before any retained commit writes them
    """

    bases: dict[GroupId, str]
    replaced: set[GroupId]
    updated: set[GroupId]

    def __bool__(self) -> bool:
        return bool(self.bases or self.replaced or self.updated)


def looks_back(timeline: HudiTimeline, commits: Mapping[str, Commit]) -> LookBack:
    """Whether the timeline starts after the table's first commit."""
    found = LookBack({}, set(), set())
    seen: set[GroupId] = set()
    based: set[GroupId] = set()
    for instant in timeline.snapshots:
        commit = commits.get(instant.requested, Commit())
        found.replaced.update(group for group in commit.replaced if group not in seen)
        for stat in commit.written:
            group = (stat.partition, stat.file_id)
            if group not in based and stat.prev is not None and stat.prev < timeline.starts:
                found.bases.setdefault(group, stat.prev)
            elif group not in seen and stat.updates:
                found.updated.add(group)
            seen.add(group)
            if not stat.is_log:
                based.add(group)
        seen.update(commit.replaced)
    return found
