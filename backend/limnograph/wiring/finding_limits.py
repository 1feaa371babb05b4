"""The thresholds of findings that the settings give."""

from __future__ import annotations

from typing import Any

from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import DAY, HOUR, FindingLimits
from limnograph.domain.objectives import Objective, Objectives
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.services.findings.storage.reader_risks import ReaderPattern
from limnograph.settings import Settings
from limnograph.settings.findings import FindingsSettings

_LIMITS = FindingLimits()


def objectives_of(settings: Settings) -> Objectives:
    """What the settings promise."""
    return Objectives(
        [
            Objective(
                each.tables,
                each.freshness_seconds,
                each.jobs,
                each.duration_seconds,
                each.window_seconds,
                each.query_p95_seconds,
                each.event_to_queryable_seconds,
                each.cost_per_gb_month,
            )
            for each in settings.objectives
        ]
    )


def readers_of(settings: Settings) -> tuple[ReaderPattern, ...]:
    """Readers that the settings declare."""
    return tuple(ReaderPattern(each.jobs, each.tables, round(each.lag_hours * HOUR)) for each in settings.readers)


def limits_of(settings: FindingsSettings) -> FindingLimits:
    """Thresholds by their names in the rules, times in microseconds."""
    burst, small, many = settings.file_burst, settings.small_files, settings.too_many_files
    stopped, ineffective = settings.compaction_stopped, settings.compaction_ineffective
    deletes, snapshots, manifests = (
        settings.delete_files_growing,
        settings.snapshots_unbounded,
        settings.manifests_fragmented,
    )
    skew, stale, silent = settings.partition_skew, settings.stale, settings.job_silent
    filters = settings.filter_not_pruned
    return FindingLimits(
        disabled=frozenset(code for code in CODES if not settings.of(code).enabled),
        small_table_bytes=settings.small_table_bytes,
        burst_files=burst.files,
        burst_over_usual=burst.over_usual,
        burst_small_share=burst.small_share,
        saved_files=small.saved_files,
        saved_share=small.saved_share,
        data_files=many.data_files,
        partition_files=many.partition_files,
        large_share=many.large_share,
        replace_gaps=stopped.gaps,
        replace_least=round(stopped.least_hours * HOUR),
        rewritten_files=ineffective.rewritten_files,
        removed_debt=ineffective.removed_share,
        delete_files=deletes.delete_files,
        delete_share=deletes.delete_share,
        equality_days=settings.equality_deletes.warning_days,
        snapshots=snapshots.snapshots,
        snapshot_age=round(snapshots.age_days * DAY),
        metadata_bytes=settings.metadata_large.metadata_bytes,
        manifest_target=manifests.target_bytes,
        manifest_factor=manifests.factor,
        manifest_excess=manifests.excess,
        manifests_merged=manifests.least,
        metadata_versions=settings.metadata_versions_kept.versions,
        skew_partitions=skew.partitions,
        skew_ratio=skew.ratio,
        hot_ratio=settings.hot_partition.ratio,
        null_points=settings.null_share_jump.points,
        bounds_ratio=settings.bounds_jump.ratio,
        distinct_ratio=settings.cardinality_jump.ratio,
        stale_intervals=stale.gaps,
        stale_least=round(stale.least_seconds * MICROS_PER_SECOND),
        slower=settings.job_slower.ratio,
        slower_back=settings.job_slower.ratio,
        silent_median=silent.gaps,
        silent_least=round(silent.least_seconds * MICROS_PER_SECOND),
        failed_runs=settings.job_failing.runs,
        stale_reads=settings.stale_reader.reads,
        unpruned_scans=filters.scans,
        unpruned_share=filters.share,
        unpruned_back=min(filters.share, _LIMITS.unpruned_back),
        unpruned_opened=filters.opened_share,
        unpruned_bytes=filters.table_bytes,
        contention_share=settings.commit_contention.share,
        contention_attempts=settings.commit_contention.attempts,
        stream_conflicts=settings.stream_batch_conflict.conflicts,
    )._replace(**_of_storage(settings))


def _of_storage(settings: FindingsSettings) -> dict[str, Any]:
    """Thresholds about storage, readers, engines and catalogs."""
    held, deletes, cold = settings.held_bytes, settings.deletes_not_materialized, settings.cold_data
    tiny, catalog = settings.tiny_commits, settings.catalog_near_limit
    return {
        "held_bytes": held.bytes,
        "held_share": held.share,
        "deletes_days": deletes.days,
        "deleted_share": deletes.share,
        "deleted_for": round(deletes.share_days * DAY),
        "cardinality_partitions": settings.high_cardinality_partitioning.partitions,
        "cardinality_share": settings.high_cardinality_partitioning.median_share,
        "cold_days": cold.days,
        "cold_share": cold.share,
        "cold_bytes": cold.bytes,
        "tiny_commits": tiny.commits,
        "tiny_rows": tiny.rows,
        "tiny_large_share": tiny.large_share,
        "overlap_depth": settings.overlap.depth,
        "overlap_share": settings.overlap.share,
        "rewriting_commits": settings.write_mode_mismatch.commits,
        "rewriting_dropped": settings.write_mode_mismatch.changed_share,
        "lag_triggers": settings.stream_lag.triggers,
        "lag_least": round(settings.stream_lag.least_seconds * MICROS_PER_SECOND),
        "engine_days": settings.format_incompatible.days,
        "catalog_tables": catalog.tables,
        "catalog_share": catalog.share,
        "catalog_slow": round(catalog.slow_seconds * MICROS_PER_SECOND),
        "catalog_errors": catalog.error_share,
    }
