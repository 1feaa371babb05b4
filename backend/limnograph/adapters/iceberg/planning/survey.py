"""The survey of an Iceberg table: its live files by planner group, and what each rewrite would take up there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from limnograph.adapters.iceberg.manifests.entries import DATA, EQUALITY_DELETES, POSITION_DELETES
from limnograph.adapters.iceberg.planning.dangling import dangling
from limnograph.adapters.iceberg.planning.live_entries import LiveEntries, live_entries
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.iceberg.sums.file_columns import ScopedDeletes
from limnograph.adapters.iceberg.sums.shape import deleted_rows, nulls_place, planned_groups
from limnograph.analysis.advice.files_digest import files_digest
from limnograph.analysis.advice.spec_fields import surveyed_specs
from limnograph.analysis.debt import DELETE_RATIO, Flags, Longs, RewriteBins, rewrite_bins
from limnograph.domain.advice.survey import (
    MOST_GROUPS,
    MOST_PARTITIONS,
    DeleteGroup,
    GroupPlan,
    SurveyedGroup,
    SurveyedManifests,
    SurveyedPartition,
    TableSurvey,
    as_value,
)
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.manifests import ManifestFile
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.domain.metadata.targets import GIB, Targets, delete_target
from limnograph.domain.time import Micros
from limnograph.ports.storage import Storage

MOST_FILES = 2_000_000
"""Live files of a survey: about 100 bytes of memory each."""
GROUP_BYTES = 10 * GIB
"""`max-file-group-size-bytes` of plans: a failed group is repeated, and 10 GiB are repeated in minutes."""
PURGE_RATIO = 0.1
"""`delete-ratio-threshold` of plans against deletes (Amoro's default)."""


def survey(storage: Storage, reader: IcebergReader, metadata: TableMetadata) -> TableSurvey:
    """The head of main. Raises MetadataError if there is none, if it is damaged, or if it has more than MOST_FILES
    files; SourceError.
    """
    head = metadata.snapshots.get(metadata.head_id) if metadata.head_id is not None else None
    if head is None:
        raise MetadataError("no_snapshot", "the table has no current snapshot")
    manifests = reader.manifests(head)
    if sum((each.added_files or 0) + (each.existing_files or 0) for each in manifests) > MOST_FILES:
        raise MetadataError("too_many_files", f"the table has more than {MOST_FILES:,} live files")
    return surveyed(metadata, head, live_entries(storage, manifests), manifests)


def surveyed(
    metadata: TableMetadata, head: Snapshot, files: LiveEntries, manifests: Sequence[ManifestFile]
) -> TableSurvey:
    """The survey of files that were read. O(files)."""
    is_data, specs = files.content == DATA, np.array([key[0] for key in files.partitions], np.int64)
    spec_of = specs[files.place] if files.place.size else files.place
    group = planned_groups(metadata, spec_of, files.place, nulls_place(metadata, files.partitions))
    plans = _Plans(metadata, files, group)
    groups = [each for each in _groups(metadata, files, group, plans) if each.compact or each.delete_files]
    groups.sort(key=lambda each: -(each.compact.files if each.compact else 0))
    return TableSurvey(
        snapshot_id=head.snapshot_id,
        data_files=int(is_data.sum()),
        delete_files=int((~is_data).sum()),
        bytes=int(files.size.sum()),
        rows=int(files.records[is_data].sum()),
        groups=groups[:MOST_GROUPS],
        left_out=max(0, len(groups) - MOST_GROUPS),
        deletes=_delete_groups(metadata, files, plans)[:MOST_GROUPS],
        partitions=_live_partitions(files) if len(files.partitions) <= MOST_PARTITIONS else [],
        specs=surveyed_specs(metadata),
        specs_live=sorted(set(spec_of[is_data].tolist())),
        manifests=_manifests(manifests),
    )


class _Plans:
    """What each kind of rewrite takes up, by group."""

    def __init__(self, metadata: TableMetadata, files: LiveEntries, group: Longs) -> None:
        self._files, self._group = files, group
        self._data = np.flatnonzero(files.content == DATA)
        deleted = deleted_rows(_scoped_deletes(files), files.path[self._data], files.records[self._data])
        self._deleted = np.zeros(files.size.size, np.int64)
        self._deleted[self._data] = deleted
        targets = metadata.targets
        share = deleted / np.maximum(files.records[self._data], 1)
        rule = None if targets is None else targets._replace(max_group_bytes=GROUP_BYTES)
        self.compact = self._planned(rule, self._data, share >= DELETE_RATIO)
        self.purge = self._planned(rule, self._data, share >= PURGE_RATIO)
        deleted_from = np.unique(group[files.content != DATA])
        whole = self._data[np.isin(group[self._data], deleted_from)]
        self.every = self._planned(rule, whole, np.ones(whole.size, np.bool_))
        self._positions = np.flatnonzero((files.content == POSITION_DELETES) & ~files.is_dv)
        self._rule = _delete_rule(metadata)

    def deletes(self, group: Longs) -> Mapping[int, GroupPlan]:
        """Rewrites of position delete files, by their own groups."""
        return self._planned(self._rule, self._positions, None, group)

    def _planned(
        self, rule: Targets | None, rows: Longs, forced: Flags | None, group: Longs | None = None
    ) -> Mapping[int, GroupPlan]:
        if rule is None:
            return {}
        group, size = (self._group if group is None else group)[rows], self._files.size[rows]
        bins = rewrite_bins(group, size, rule, forced)
        outputs, by_group = bins.outputs(rule), dict[int, list[int]]()
        for place, first in enumerate(bins.first.tolist()):
            by_group.setdefault(int(group[bins.rows[first]]), []).append(place)
        return {number: self._plan(bins, places, rows, outputs) for number, places in by_group.items()}

    def _plan(self, bins: RewriteBins, places: list[int], rows: Longs, outputs: list[int]) -> GroupPlan:
        chosen = np.concatenate([bins.rows[bins.first[place] : bins.last[place]] for place in places])
        whole = rows[chosen]
        return GroupPlan(
            files=int(chosen.size),
            bytes=int(bins.bytes[places].sum()),
            groups=len(places),
            outputs=sum(outputs[place] for place in places),
            rows=int(self._files.records[whole].sum()),
            deleted=int(self._deleted[whole].sum()),
            sha256=files_digest(self._files.path[whole], self._files.size[whole]),
        )


def _delete_rule(metadata: TableMetadata) -> Targets | None:
    """BinPackRewritePositionDeletePlanner: the same rule with the target of delete files. Format v3 has vectors."""
    target = delete_target(metadata.properties)
    if target is None or metadata.format_version != 2:
        return None
    return Targets(target, int(target * 0.75), int(target * 1.8), 5, GROUP_BYTES, "")


def _scoped_deletes(files: LiveEntries) -> ScopedDeletes:
    rows = np.flatnonzero((files.content != DATA) & (files.target != 0))
    return ScopedDeletes(files.target[rows], files.records[rows], files.is_dv[rows])


def _delete_groups(metadata: TableMetadata, files: LiveEntries, plans: _Plans) -> list[DeleteGroup]:
    """BinPackRewritePositionDeletePlanner: partitions of all specs are one group if their fields, by id, have the same
    values; a null is the same as a field that a spec lacks.
    """
    numbers: dict[frozenset[tuple[int, Any]], int] = {}
    of_place = [
        numbers.setdefault(_by_field(metadata, spec_id, values), len(numbers))
        for (spec_id, _), values in zip(files.partitions, files.values, strict=True)
    ]
    written = _written(metadata, files)
    found = []
    for number, plan in plans.deletes(np.array(of_place, np.int64)[files.place]).items():
        places = [place for place, each in enumerate(of_place) if each == number]
        instants = [written[place] for place in places if place in written]
        found.append(
            DeleteGroup(
                partitions=[_partition(files, place) for place in places],
                written_at=max(instants, default=None),
                plan=plan,
            )
        )
    return sorted(found, key=lambda each: -each.plan.files)


def _by_field(metadata: TableMetadata, spec_id: int, values: Sequence[Any]) -> frozenset[tuple[int, Any]]:
    fields = metadata.specs.get(spec_id, {}).get("fields") or []
    ids = [field.get("field-id", 1_000 + i) for i, field in enumerate(fields)]
    return frozenset((i, value) for i, value in zip(ids, values, strict=False) if value is not None)


def _partition(files: LiveEntries, place: int) -> SurveyedPartition:
    spec_id, text = files.partitions[place]
    return SurveyedPartition(spec_id=spec_id, text=text, values=list(map(as_value, files.values[place])))


def _live_partitions(files: LiveEntries) -> list[SurveyedPartition]:
    return [_partition(files, place) for place in np.unique(files.place).tolist()]


def _groups(metadata: TableMetadata, files: LiveEntries, group: Longs, plans: _Plans) -> list[SurveyedGroup]:
    numbers, inverse = np.unique(group, return_inverse=True)
    own, written = metadata.default_spec_id or 0, _written(metadata, files)
    members: list[set[int]] = [set() for _ in range(numbers.size)]
    for place, index in set(zip(files.place.tolist(), inverse.tolist(), strict=True)):
        members[index].add(place)
    sums = _Sums(files, inverse, numbers.size, dangling(metadata, files))
    found = []
    for index, number in enumerate(numbers.tolist()):
        places = sorted(members[index])
        instants = [written[place] for place in places if place in written]
        found.append(
            SurveyedGroup(
                partitions=[_partition(files, place) for place in places],
                older=any(files.partitions[place][0] != own for place in places),
                written_at=max(instants, default=None),
                compact=plans.compact.get(number),
                purge=plans.purge.get(number),
                every=plans.every.get(number),
                **sums.of(index),
            )
        )
    return found


class _Sums:
    """Numbers of each group."""

    def __init__(self, files: LiveEntries, index: npt.NDArray[np.intp], count: int, idle: Flags) -> None:
        def added(values: npt.NDArray[np.generic], chosen: Flags) -> list[int]:
            found = np.zeros(count, np.int64)
            np.add.at(found, index[chosen], np.asarray(values, np.int64)[chosen])
            return found.tolist()

        data, ones = files.content == DATA, np.ones(files.size.size, np.int64)
        positions = files.content == POSITION_DELETES
        self._columns = {
            "files": added(ones, data),
            "bytes": added(files.size, data),
            "rows": added(files.records, data),
            "delete_files": added(ones, ~data),
            "equality_files": added(ones, files.content == EQUALITY_DELETES),
            "delete_bytes": added(files.size, ~data),
            "dangling": added(ones, idle),
            "deleted": added(files.records, positions & ~idle),
        }

    def of(self, index: int) -> dict[str, int]:
        """Fields of SurveyedGroup."""
        return {name: column[index] for name, column in self._columns.items()}


def _written(metadata: TableMetadata, files: LiveEntries) -> dict[int, Micros]:
    """Latest commit that added or removed a file, by partition."""
    commits = {s.snapshot_id: at for s in metadata.snapshots.values() if (at := s.committed_at) is not None}
    found: dict[int, Micros] = {}
    for places, writers in ((files.place, files.writer), files.removed):
        for place, writer in set(zip(places.tolist(), writers.tolist(), strict=True)):
            at = commits.get(writer)
            if at is not None and at > found.get(place, -1):
                found[place] = at
    return found


def _manifests(manifests: Sequence[ManifestFile]) -> list[SurveyedManifests]:
    lengths: dict[tuple[int, bool], list[int | None]] = defaultdict(list)
    for each in manifests:
        lengths[each.spec_id, each.deletes].append(each.length)
    return [
        SurveyedManifests(spec_id=spec_id, deletes=deletes, count=len(found), bytes=_sum(found))
        for (spec_id, deletes), found in sorted(lengths.items())
    ]


def _sum(sizes: Sequence[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
