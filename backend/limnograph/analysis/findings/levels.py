"""The level rules: which number is compared with which limit, per code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import TableFacts, last_known
from limnograph.analysis.findings.level import ALWAYS, MeasuredLevel
from limnograph.analysis.findings.storage.partition_fields import splits_by_value
from limnograph.domain.finding_codes import FindingCode
from limnograph.domain.finding_limits import DELETES_METADATA, MANIFEST_TARGET, MANIFESTS_MERGED, FindingLimits


class LevelRule(NamedTuple):
    """A code and its measure: of the facts, with the last known numbers before them."""

    code: FindingCode
    level: Callable[[TableFacts, FindingLimits, Mapping[str, float]], MeasuredLevel]


def _small_files(facts: TableFacts, limits: FindingLimits, _: Mapping[str, float]) -> MeasuredLevel:
    """The debt is not computed for each commit: rows without it are left out, and the last known one holds."""
    saved, live = facts.numbers("debt_saved_files"), facts.numbers("total_data_files")
    return MeasuredLevel(saved, np.fmax(limits.saved_files - 1, limits.saved_share * live), ALWAYS)


def _too_many_files(facts: TableFacts, limits: FindingLimits, before: Mapping[str, float]) -> MeasuredLevel:
    """Of the whole table, or of the partition that has most, whichever exceeds its limit by more. The latter is not
    computed for each commit: the last known one holds.
    """
    files, size = facts.numbers("total_data_files"), facts.numbers("total_bytes")
    is_large = size >= limits.large_share * facts.numbers("target_file_bytes") * files
    counted = facts.numbers("partition_files_max")
    if "partition_files_max" not in before and np.isnan(counted).all():
        return MeasuredLevel(files, limits.data_files, ~is_large)
    largest = last_known(before.get("partition_files_max"), counted)
    by_partition = largest * limits.data_files > np.nan_to_num(files) * limits.partition_files
    measure = np.where(by_partition, largest, files)
    return MeasuredLevel(measure, np.where(by_partition, limits.partition_files, limits.data_files), ~is_large)


def _equality_deletes(facts: TableFacts, _: FindingLimits, __: Mapping[str, float]) -> MeasuredLevel:
    rows = facts.numbers("total_equality_deletes")
    return MeasuredLevel(rows, 0.5, ALWAYS)


def _metadata_large(facts: TableFacts, limits: FindingLimits, _: Mapping[str, float]) -> MeasuredLevel:
    size = facts.numbers("metadata_bytes")
    return MeasuredLevel(size, limits.metadata_bytes, ALWAYS)


def _metadata_versions_kept(facts: TableFacts, limits: FindingLimits, _: Mapping[str, float]) -> MeasuredLevel:
    """Where old metadata files are deleted after each commit, the log is as long as the table wants it."""
    kept = facts.numbers("metadata_log_entries")
    return MeasuredLevel(kept, limits.metadata_versions, ~facts.property_is_true(DELETES_METADATA))


def _manifests_fragmented(facts: TableFacts, limits: FindingLimits, _: Mapping[str, float]) -> MeasuredLevel:
    """Below `commit.manifest.min-count-to-merge` manifests the writer has not yet merged them."""
    manifests, size = facts.numbers("manifests"), facts.numbers("manifest_bytes")
    target = facts.property_numbers(MANIFEST_TARGET, limits.manifest_target)
    merged = facts.property_numbers(MANIFESTS_MERGED, limits.manifests_merged)
    least = np.maximum(np.ceil(size / target), 1)
    above = np.maximum(limits.manifest_factor * least, least + limits.manifest_excess) - 1
    return MeasuredLevel(manifests, above, manifests >= merged)


def _partition_skew(facts: TableFacts, limits: FindingLimits, _: Mapping[str, float]) -> MeasuredLevel:
    """Not because of one busy period: that is `hot_partition`, and its partition is the largest one."""
    ratio, share = facts.numbers("skew_max_over_median"), facts.numbers("skew_top1_share")
    many = facts.numbers("partitions_total") >= limits.skew_partitions
    worth = share * facts.numbers("total_bytes") >= facts.numbers("target_file_bytes")
    unknown = np.isnan(share) | np.isnan(facts.numbers("partitions_total"))
    is_busy_period = facts.numbers("hot_partition_ratio") >= limits.skew_ratio
    return MeasuredLevel(np.where(unknown, np.nan, ratio), limits.skew_ratio, many & worth & ~is_busy_period)


def _overlap(facts: TableFacts, limits: FindingLimits, before: Mapping[str, float]) -> MeasuredLevel:
    """Depth and the files of the largest partition are not computed for each commit: the last known ones hold."""
    depth = facts.numbers("overlap_depth_max")
    files = last_known(before.get("partition_files_max"), facts.numbers("partition_files_max"))
    files = np.where(np.isnan(files), facts.numbers("total_data_files"), files)
    least = np.ceil(np.fmax(limits.overlap_depth, limits.overlap_share * files))
    return MeasuredLevel(depth, least - 1, ALWAYS, limits.overlap_back)


def _high_cardinality(facts: TableFacts, limits: FindingLimits, _: Mapping[str, float]) -> MeasuredLevel:
    """The median partition follows from the largest one: its share of the bytes, and its ratio to the median. They are
    not computed for each commit: other rows are left out.
    """
    share, ratio = facts.numbers("skew_top1_share"), facts.numbers("skew_max_over_median")
    median = share * facts.numbers("total_bytes") / ratio
    tiny = median < limits.cardinality_share * facts.numbers("target_file_bytes")
    partitions = np.where(np.isnan(median), np.nan, facts.numbers("partitions_total"))
    return MeasuredLevel(partitions, limits.cardinality_partitions - 1, tiny & splits_by_value(facts))


LEVELS: tuple[LevelRule, ...] = (
    LevelRule("small_files", _small_files),
    LevelRule("too_many_files", _too_many_files),
    LevelRule("equality_deletes", _equality_deletes),
    LevelRule("metadata_large", _metadata_large),
    LevelRule("manifests_fragmented", _manifests_fragmented),
    LevelRule("metadata_versions_kept", _metadata_versions_kept),
    LevelRule("partition_skew", _partition_skew),
    LevelRule("overlap", _overlap),
    LevelRule("high_cardinality_partitioning", _high_cardinality),
)
