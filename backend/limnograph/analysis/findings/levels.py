"""The level rules: which number is compared with which limit, per code."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import TableFacts
from limnograph.analysis.findings.level import ALWAYS, MeasuredLevel
from limnograph.domain.finding_codes import FindingCode
from limnograph.domain.finding_limits import MANIFEST_TARGET, MANIFESTS_MERGED, FindingLimits


class LevelRule(NamedTuple):
    """A code and its measure."""

    code: FindingCode
    level: Callable[[TableFacts, FindingLimits], MeasuredLevel]


def _small_files(facts: TableFacts, limits: FindingLimits) -> MeasuredLevel:
    """The debt is not computed for each commit: rows without it are left out, and the last known one holds."""
    saved, live = facts.numbers("debt_saved_files"), facts.numbers("total_data_files")
    return MeasuredLevel(saved, np.fmax(limits.saved_files - 1, limits.saved_share * live), ALWAYS)


def _too_many_files(facts: TableFacts, limits: FindingLimits) -> MeasuredLevel:
    files, size = facts.numbers("total_data_files"), facts.numbers("total_bytes")
    is_large = size >= limits.large_share * facts.numbers("target_file_bytes") * files
    return MeasuredLevel(files, limits.data_files, ~is_large)


def _equality_deletes(facts: TableFacts, _: FindingLimits) -> MeasuredLevel:
    rows = facts.numbers("total_equality_deletes")
    return MeasuredLevel(rows, 0.5, ALWAYS)


def _metadata_large(facts: TableFacts, limits: FindingLimits) -> MeasuredLevel:
    size = facts.numbers("metadata_bytes")
    return MeasuredLevel(size, limits.metadata_bytes, ALWAYS)


def _manifests_fragmented(facts: TableFacts, limits: FindingLimits) -> MeasuredLevel:
    """Below `commit.manifest.min-count-to-merge` manifests the writer has not yet merged them."""
    manifests, size = facts.numbers("manifests"), facts.numbers("manifest_bytes")
    target = facts.property_numbers(MANIFEST_TARGET, limits.manifest_target)
    merged = facts.property_numbers(MANIFESTS_MERGED, limits.manifests_merged)
    least = np.maximum(np.ceil(size / target), 1)
    above = np.maximum(limits.manifest_factor * least, least + limits.manifest_excess) - 1
    return MeasuredLevel(manifests, above, manifests >= merged)


def _partition_skew(facts: TableFacts, limits: FindingLimits) -> MeasuredLevel:
    ratio, share = facts.numbers("skew_max_over_median"), facts.numbers("skew_top1_share")
    many = facts.numbers("partitions_total") >= limits.skew_partitions
    worth = share * facts.numbers("total_bytes") >= facts.numbers("target_file_bytes")
    unknown = np.isnan(share) | np.isnan(facts.numbers("partitions_total"))
    return MeasuredLevel(np.where(unknown, np.nan, ratio), limits.skew_ratio, many & worth)


LEVELS: tuple[LevelRule, ...] = (
    LevelRule("small_files", _small_files),
    LevelRule("too_many_files", _too_many_files),
    LevelRule("equality_deletes", _equality_deletes),
    LevelRule("metadata_large", _metadata_large),
    LevelRule("manifests_fragmented", _manifests_fragmented),
    LevelRule("partition_skew", _partition_skew),
)
