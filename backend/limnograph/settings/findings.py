"""Sections `[findings]` and `[findings.CODE]`: which findings are evaluated, and their thresholds."""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.finding_codes import FindingCode
from limnograph.domain.finding_limits import DAY, HOUR, MIB, FindingLimits
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.settings.base import FrozenSettings
from limnograph.settings.finding_base import Bytes, Count, Days, Factor, FindingSettings, Share
from limnograph.settings.finding_storage import (
    CardinalityPartitionSettings,
    CatalogLimitSettings,
    ColdDataSettings,
    DeletesKeptSettings,
    FormatSettings,
    HeldBytesSettings,
    OverlapSettings,
    StreamLagSettings,
    TinyCommitsSettings,
    WriteModeSettings,
)

_LIMITS = FindingLimits()


class FileBurstSettings(FindingSettings, frozen=True, kw_only=True):
    """A commit, or commits of one writer within 5 minutes, that add many more small files than usual."""

    files: Count = _LIMITS.burst_files
    """Files that are no burst, whatever is usual."""
    over_usual: Factor = _LIMITS.burst_over_usual
    """Multiple of the files that the writer usually adds."""
    small_share: Share = _LIMITS.burst_small_share
    """Share of the target size below which the average added file is small."""


class SmallFilesSettings(FindingSettings, frozen=True, kw_only=True):
    """Small files that a compaction would at least halve."""

    saved_files: Count = _LIMITS.saved_files
    """Files that a compaction would save."""
    saved_share: Share = _LIMITS.saved_share
    """The same as a share of the live files; both are needed."""


class TooManyFilesSettings(FindingSettings, frozen=True, kw_only=True):
    """More data files than a query can plan quickly."""

    data_files: Count = _LIMITS.data_files
    """Data files of the table."""
    partition_files: Count = _LIMITS.partition_files
    """Data files of one partition."""
    large_share: Share = _LIMITS.large_share
    """Share of the target size above which the table is simply large."""


class CompactionStoppedSettings(FindingSettings, frozen=True, kw_only=True):
    """No rewrite although there is debt."""

    gaps: Factor = _LIMITS.replace_gaps
    """Multiple of the usual time between two rewrites."""
    least_hours: Annotated[float, msgspec.Meta(gt=0, le=720)] = _LIMITS.replace_least / HOUR
    """Hours without a rewrite, at least."""


class CompactionIneffectiveSettings(FindingSettings, frozen=True, kw_only=True):
    """Two rewrites in a row that hardly reduce the debt."""

    rewritten_files: Count = _LIMITS.rewritten_files
    """Files that a rewrite must have rewritten to count."""
    removed_share: Share = _LIMITS.removed_debt
    """Share of the debt that it must remove."""


class DeleteFilesSettings(FindingSettings, frozen=True, kw_only=True):
    """Delete files that no one merges."""

    delete_files: Count = _LIMITS.delete_files
    """Delete files more than 7 days before."""
    delete_share: Share = _LIMITS.delete_share
    """Delete files per data file; both are needed."""


class EqualityDeletesSettings(FindingSettings, frozen=True, kw_only=True):
    """Live equality deletes."""

    warning_days: Annotated[int, msgspec.Meta(ge=1, le=30)] = _LIMITS.equality_days
    """Days after which the severity is `warning`."""


class SnapshotsSettings(FindingSettings, frozen=True, kw_only=True):
    """Snapshots that no one expires."""

    snapshots: Count = _LIMITS.snapshots
    """Retained snapshots."""
    age_days: Days = _LIMITS.snapshot_age / DAY
    """Days since the oldest of them was committed. The table property `history.expire.max-snapshot-age-ms` takes the
    place of this.
    """


class MetadataLargeSettings(FindingSettings, frozen=True, kw_only=True):
    """A large metadata file, which every commit writes again."""

    metadata_bytes: Annotated[int, msgspec.Meta(ge=1)] = _LIMITS.metadata_bytes
    """Bytes of the metadata file."""


class ManifestsSettings(FindingSettings, frozen=True, kw_only=True):
    """More manifests than their bytes need."""

    target_bytes: Annotated[int, msgspec.Meta(ge=MIB)] = _LIMITS.manifest_target
    """Bytes that a manifest should have. The table property `commit.manifest.target-size-bytes` takes the place of
    this.
    """
    factor: Factor = _LIMITS.manifest_factor
    """Multiple of the number of manifests that their bytes need."""
    excess: Count = _LIMITS.manifest_excess
    """Manifests more than their bytes need; both are needed."""
    least: Count = _LIMITS.manifests_merged
    """Manifests below which the writer has not yet merged them. The table property `commit.manifest.min-count-to-merge`
    takes the place of this.
    """


class MetadataVersionsSettings(FindingSettings, frozen=True, kw_only=True):
    """Old metadata files that no one deletes, because `write.metadata.delete-after-commit.enabled` is not set."""

    versions: Count = _LIMITS.metadata_versions
    """Old metadata files that the newest one lists."""


class PartitionSkewSettings(FindingSettings, frozen=True, kw_only=True):
    """A partition that is much larger than the median one."""

    partitions: Count = _LIMITS.skew_partitions
    """Partitions of the table, at least."""
    ratio: Factor = _LIMITS.skew_ratio
    """Bytes of the largest partition divided by those of the median partition."""


class HotPartitionSettings(FindingSettings, frozen=True, kw_only=True):
    """A partition of the current period, or of the one before, that is much larger than usual."""

    ratio: Factor = _LIMITS.hot_ratio
    """Multiple of the median of the last partitions, in bytes and in data files."""


class NullShareSettings(FindingSettings, frozen=True, kw_only=True):
    """A commit whose share of nulls in a column differs from that of its writer's last 20 commits."""

    points: Share = _LIMITS.null_points
    """Smallest change of the share that counts, as a fraction of one."""


class BoundsSettings(FindingSettings, frozen=True, kw_only=True):
    """A commit whose values of a column span far more than those of its writer's last 20, or lie in the future."""

    ratio: Factor = _LIMITS.bounds_ratio
    """Multiple of the range of these commits."""


class CardinalitySettings(FindingSettings, frozen=True, kw_only=True):
    """Distinct values of a column that are far more or far fewer than in its last five statistics files."""

    ratio: Factor = _LIMITS.distinct_ratio
    """Multiple of their median, or part of it."""


class StaleSettings(FindingSettings, frozen=True, kw_only=True):
    """No commit at the usual rhythm."""

    gaps: Factor = _LIMITS.stale_intervals
    """Multiple of the usual gap between commits."""
    least_seconds: Annotated[float, msgspec.Meta(ge=60)] = _LIMITS.stale_least / MICROS_PER_SECOND
    """Seconds without a commit, at least."""


class JobSlowerSettings(FindingSettings, frozen=True, kw_only=True):
    """A job that takes longer than it did."""

    ratio: Factor = _LIMITS.slower
    """Lower bound of the duration divided by the usual one."""


class JobSilentSettings(FindingSettings, frozen=True, kw_only=True):
    """A job that no longer runs at its usual rhythm."""

    gaps: Factor = _LIMITS.silent_median
    """Multiple of the median time between two runs."""
    least_seconds: Annotated[float, msgspec.Meta(ge=60)] = _LIMITS.silent_least / MICROS_PER_SECOND
    """Seconds without a run, at least."""


class JobFailingSettings(FindingSettings, frozen=True, kw_only=True):
    """A job whose runs fail."""

    runs: Count = _LIMITS.failed_runs
    """Failed runs in a row."""


class StaleReaderSettings(FindingSettings, frozen=True, kw_only=True):
    """A reader that reads snapshots which main left more than 10 commits or 10 minutes before."""

    reads: Count = _LIMITS.stale_reads
    """Such reads within an hour."""


class FilterNotPrunedSettings(FindingSettings, frozen=True, kw_only=True):
    """Scans whose filter cannot skip files."""

    scans: Count = _LIMITS.unpruned_scans
    """Scans of 7 days whose filter columns and opened files are known, at least."""
    share: Share = _LIMITS.unpruned_share
    """Share of these scans that filter the column and open many files."""
    opened_share: Share = _LIMITS.unpruned_opened
    """Share of the live files above which a scan opens many."""
    table_bytes: Bytes = _LIMITS.unpruned_bytes
    """Bytes of the table, at least."""


class CommitContentionSettings(FindingSettings, frozen=True, kw_only=True):
    """Attempts to commit that another commit made in vain."""

    share: Share = _LIMITS.contention_share
    """Share of the attempts of an hour that were retried or refused; the finding closes below half of it."""
    attempts: Count = _LIMITS.contention_attempts
    """Attempts in the hour, at least. A commit that was lost after all its retries needs no others."""


class StreamConflictSettings(FindingSettings, frozen=True, kw_only=True):
    """Commits that were refused because a stream and a batch job wrote the same data."""

    conflicts: Count = _LIMITS.stream_conflicts
    """Refused commits within 24 hours."""


class FindingsSettings(FrozenSettings, frozen=True, kw_only=True):
    """What is wrong with tables and jobs ([findings.md](findings.md)). Each code has a section of its own, with
    `enabled` and its thresholds.
    """

    small_table_bytes: Bytes = _LIMITS.small_table_bytes
    """Below this size, findings about files, deletes, metadata and layout have severity `info`."""
    unreadable: FindingSettings = FindingSettings()
    job_slower: JobSlowerSettings = JobSlowerSettings()
    job_silent: JobSilentSettings = JobSilentSettings()
    job_failing: JobFailingSettings = JobFailingSettings()
    objective_missed: FindingSettings = FindingSettings()
    file_burst: FileBurstSettings = FileBurstSettings()
    small_files: SmallFilesSettings = SmallFilesSettings()
    too_many_files: TooManyFilesSettings = TooManyFilesSettings()
    compaction_stopped: CompactionStoppedSettings = CompactionStoppedSettings()
    compaction_ineffective: CompactionIneffectiveSettings = CompactionIneffectiveSettings()
    delete_files_growing: DeleteFilesSettings = DeleteFilesSettings()
    equality_deletes: EqualityDeletesSettings = EqualityDeletesSettings()
    snapshots_unbounded: SnapshotsSettings = SnapshotsSettings()
    metadata_large: MetadataLargeSettings = MetadataLargeSettings()
    manifests_fragmented: ManifestsSettings = ManifestsSettings()
    metadata_versions_kept: MetadataVersionsSettings = MetadataVersionsSettings()
    partition_skew: PartitionSkewSettings = PartitionSkewSettings()
    hot_partition: HotPartitionSettings = HotPartitionSettings()
    schema_breaking: FindingSettings = FindingSettings()
    schema_changed: FindingSettings = FindingSettings()
    spec_changed: FindingSettings = FindingSettings()
    null_share_jump: NullShareSettings = NullShareSettings()
    bounds_jump: BoundsSettings = BoundsSettings()
    cardinality_jump: CardinalitySettings = CardinalitySettings()
    stale: StaleSettings = StaleSettings()
    history_gap: FindingSettings = FindingSettings()
    stale_reader: StaleReaderSettings = StaleReaderSettings()
    two_pointers: FindingSettings = FindingSettings()
    filter_not_pruned: FilterNotPrunedSettings = FilterNotPrunedSettings()
    commit_contention: CommitContentionSettings = CommitContentionSettings()
    stream_batch_conflict: StreamConflictSettings = StreamConflictSettings()
    stream_lag: StreamLagSettings = StreamLagSettings()
    tiny_commits: TinyCommitsSettings = TinyCommitsSettings()
    format_incompatible: FormatSettings = FormatSettings()
    overlap: OverlapSettings = OverlapSettings()
    write_mode_mismatch: WriteModeSettings = WriteModeSettings()
    catalog_near_limit: CatalogLimitSettings = CatalogLimitSettings()
    held_bytes: HeldBytesSettings = HeldBytesSettings()
    deletes_not_materialized: DeletesKeptSettings = DeletesKeptSettings()
    high_cardinality_partitioning: CardinalityPartitionSettings = CardinalityPartitionSettings()
    cold_data: ColdDataSettings = ColdDataSettings()
    reader_at_risk: FindingSettings = FindingSettings()
    at_risk: FindingSettings = FindingSettings()

    def of(self, code: FindingCode) -> FindingSettings:
        """The section of a code."""
        section: FindingSettings = getattr(self, code)
        return section
