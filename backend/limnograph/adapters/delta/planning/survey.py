"""The survey of a Delta table: its live files by partition, and what deltalake would merge there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from limnograph.adapters.delta.actions import DeltaFile, Values
from limnograph.adapters.delta.planning.newest_first import LogContent, PlacedFile
from limnograph.adapters.delta.schema import ColumnNames, partition_key
from limnograph.analysis.advice.files_digest import files_digest
from limnograph.analysis.advice.spec_fields import surveyed_specs
from limnograph.domain.advice.survey import (
    MOST_GROUPS,
    MOST_PARTITIONS,
    GroupPlan,
    SurveyedGroup,
    SurveyedPartition,
    TableSurvey,
)
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.metadata.targets import Targets
from limnograph.domain.time import Micros


def surveyed(metadata: TableMetadata, content: LogContent, naming: ColumnNames) -> TableSurvey:
    """The survey of files that were read. O(files)."""
    by_values: dict[Values, list[PlacedFile]] = defaultdict(list)
    for placed in content.files:
        by_values[placed.file.values or ()].append(placed)
    groups = [
        _group(metadata, partition_of(values, naming), files, _written(metadata, content, values))
        for values, files in by_values.items()
    ]
    files, vectors = [placed.file for placed in content.files], [each for each in groups if each.delete_files]
    chosen = [each for each in groups if each.compact or each.delete_files]
    chosen.sort(key=lambda each: -(each.compact.files if each.compact else 0))
    return TableSurvey(
        snapshot_id=metadata.head_id or 0,
        data_files=len(files),
        delete_files=sum(each.delete_files for each in vectors),
        bytes=sum((file.size or 0) + file.vector_bytes for file in files),
        rows=sum(file.records or 0 for file in files),
        groups=chosen[:MOST_GROUPS],
        left_out=max(0, len(chosen) - MOST_GROUPS),
        deletes=[],
        partitions=[each.partitions[0] for each in groups] if len(groups) <= MOST_PARTITIONS else [],
        specs=surveyed_specs(metadata),
        specs_live=sorted({each.partitions[0].spec_id for each in groups}),
        manifests=[],
    )


def partition_of(values: Values, naming: ColumnNames) -> SurveyedPartition:
    """A partition with its values in the order of the table's partition columns."""
    spec_id, text = partition_key(values, naming)
    found = dict(values)
    columns = naming.partition_columns if set(naming.partition_columns) == set(found) else tuple(found)
    return SurveyedPartition(spec_id=spec_id, text=text, values=[found[column] for column in columns])


def _group(
    metadata: TableMetadata, partition: SurveyedPartition, placed: Sequence[PlacedFile], written_at: Micros | None
) -> SurveyedGroup:
    files = [each.file for each in placed]
    vectors = [file for file in files if file.vector_rows is not None]
    small = 0 if metadata.targets is None else sum((file.size or 0) < metadata.targets.small_below for file in files)
    merged = None if metadata.targets is None else compaction(files, metadata.targets)
    return SurveyedGroup(
        partitions=[partition],
        older=False,
        files=len(files),
        bytes=sum(file.size or 0 for file in files),
        rows=sum(file.records or 0 for file in files),
        delete_files=len(vectors),
        equality_files=0,
        delete_bytes=sum(file.vector_bytes for file in vectors),
        dangling=0,
        deleted=sum(file.vector_rows or 0 for file in vectors),
        written_at=written_at,
        compact=merged,
        purge=None,
        every=_plan([vectors]) if vectors else None,
        small=small,
    )


def compaction(files: Sequence[DeltaFile], rule: Targets) -> GroupPlan | None:
    """What deltalake merges: neighbours, newest first, until the next one would exceed the target; a file that exceeds
    it alone separates its neighbours (`plan_compaction_bins_in_stable_order`). None: nothing.
    """
    bins: list[list[DeltaFile]] = [[]]
    size = 0
    for file in files:
        own = file.size or 0
        if own > rule.target:
            bins.append([])
            size = 0
            continue
        if bins[-1] and size + own > rule.target:
            bins.append([])
            size = 0
        bins[-1].append(file)
        size += own
    chosen = [each for each in bins if len(each) > 1]
    return _plan(chosen) if chosen else None


def _plan(bins: Sequence[Sequence[DeltaFile]]) -> GroupPlan:
    files = [file for each in bins for file in each]
    paths = np.array([int.from_bytes(file.key[:8], "little") for file in files], np.uint64)
    return GroupPlan(
        files=len(files),
        bytes=sum(file.size or 0 for file in files),
        groups=len(bins),
        outputs=len(bins),
        rows=sum(file.records or 0 for file in files),
        deleted=sum(file.vector_rows or 0 for file in files),
        sha256=files_digest(paths, np.array([file.size or 0 for file in files], np.int64)),
    )


def _written(metadata: TableMetadata, content: LogContent, values: Values) -> Micros | None:
    version = content.touched.get(values)
    snapshot = None if version is None else metadata.snapshots.get(version)
    return None if snapshot is None else snapshot.committed_at
