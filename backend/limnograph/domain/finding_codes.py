"""The closed set of finding codes: what can be wrong with a table, and how severe it is before any effect is known."""

from __future__ import annotations

from typing import Literal, NamedTuple, cast, get_args

FindingCode = Literal[
    "unreadable",
    "job_slower",
    "job_silent",
    "job_failing",
    "objective_missed",
    "file_burst",
    "small_files",
    "too_many_files",
    "compaction_stopped",
    "compaction_ineffective",
    "delete_files_growing",
    "equality_deletes",
    "snapshots_unbounded",
    "metadata_large",
    "manifests_fragmented",
    "metadata_versions_kept",
    "partition_skew",
    "hot_partition",
    "schema_breaking",
    "schema_changed",
    "spec_changed",
    "null_share_jump",
    "bounds_jump",
    "cardinality_jump",
    "stale",
    "history_gap",
    "stale_reader",
    "two_pointers",
    "filter_not_pruned",
    "commit_contention",
    "stream_batch_conflict",
    "stream_lag",
    "tiny_commits",
    "format_incompatible",
    "overlap",
    "write_mode_mismatch",
    "catalog_near_limit",
    "held_bytes",
    "deletes_not_materialized",
    "high_cardinality_partitioning",
    "cold_data",
    "reader_at_risk",
    "at_risk",
]
FindingGroup = Literal[
    "jobs",
    "files",
    "deletes",
    "metadata",
    "layout",
    "schema",
    "columns",
    "health",
    "readers",
    "writers",
    "catalog",
    "storage",
]
FindingSeverity = Literal["critical", "warning", "info"]
ObservedSource = Literal[
    "jobs",
    "reads",
    "commits",
    "columns",
    "pointers",
    "storage",
    "partitions",
    "readers",
    "engines",
    "streams",
    "catalogs",
    "costs",
    "forecasts",
]
"""What findings follow from that do not follow from a table's history: runs, reported reads and commits, statistics
of columns, the pointers of catalogs, bytes by snapshot, partitions without writes or reads, snapshots that readers
need, engines that were seen, the lag of streams, the health of catalogs, what tables cost, and forecasts.
"""
ClosedBy = Literal["run", "expired", "merged", "retracted", "retired"]
"""Why a finding closed, if no commit closed it."""
UNSHOWN: frozenset[ClosedBy] = frozenset({"merged", "retracted"})
"""Findings that closed so are not shown: another finding has their interval, or late facts disproved them."""


DERIVED_LABEL = "limnograph_finding"
"""Label of alerts that follow from a finding, which are never a reason for one."""


class CodeTraits(NamedTuple):
    """Group of a code, its severity while no effect is known, and whether it is of little harm to a small table."""

    group: FindingGroup
    severity: FindingSeverity
    needs_size: bool = False


CODES: dict[FindingCode, CodeTraits] = {
    "unreadable": CodeTraits("health", "critical"),
    "job_slower": CodeTraits("jobs", "warning"),
    "job_silent": CodeTraits("jobs", "warning"),
    "job_failing": CodeTraits("jobs", "warning"),
    "objective_missed": CodeTraits("jobs", "critical"),
    "file_burst": CodeTraits("files", "warning", needs_size=True),
    "small_files": CodeTraits("files", "warning", needs_size=True),
    "too_many_files": CodeTraits("files", "warning", needs_size=True),
    "compaction_stopped": CodeTraits("files", "warning", needs_size=True),
    "compaction_ineffective": CodeTraits("files", "warning", needs_size=True),
    "delete_files_growing": CodeTraits("deletes", "warning", needs_size=True),
    "equality_deletes": CodeTraits("deletes", "info", needs_size=True),
    "snapshots_unbounded": CodeTraits("metadata", "warning", needs_size=True),
    "metadata_large": CodeTraits("metadata", "warning", needs_size=True),
    "manifests_fragmented": CodeTraits("metadata", "warning", needs_size=True),
    "metadata_versions_kept": CodeTraits("metadata", "info"),
    "partition_skew": CodeTraits("layout", "warning", needs_size=True),
    "hot_partition": CodeTraits("layout", "warning", needs_size=True),
    "schema_breaking": CodeTraits("schema", "warning"),
    "schema_changed": CodeTraits("schema", "info"),
    "spec_changed": CodeTraits("schema", "info"),
    "null_share_jump": CodeTraits("columns", "warning"),
    "bounds_jump": CodeTraits("columns", "warning"),
    "cardinality_jump": CodeTraits("columns", "info"),
    "stale": CodeTraits("health", "warning"),
    "history_gap": CodeTraits("health", "info"),
    "stale_reader": CodeTraits("readers", "warning"),
    "two_pointers": CodeTraits("readers", "warning"),
    "filter_not_pruned": CodeTraits("readers", "warning", needs_size=True),
    "commit_contention": CodeTraits("writers", "warning"),
    "stream_batch_conflict": CodeTraits("writers", "warning"),
    "stream_lag": CodeTraits("writers", "warning"),
    "tiny_commits": CodeTraits("writers", "warning"),
    "format_incompatible": CodeTraits("writers", "warning"),
    "overlap": CodeTraits("readers", "warning", needs_size=True),
    "write_mode_mismatch": CodeTraits("readers", "warning", needs_size=True),
    "catalog_near_limit": CodeTraits("catalog", "warning"),
    "held_bytes": CodeTraits("storage", "warning"),
    "deletes_not_materialized": CodeTraits("storage", "warning"),
    "high_cardinality_partitioning": CodeTraits("storage", "warning"),
    "cold_data": CodeTraits("storage", "info"),
    "reader_at_risk": CodeTraits("storage", "warning"),
    "at_risk": CodeTraits("health", "warning"),
}
EVENT_CODES: frozenset[FindingCode] = frozenset(
    {
        *("file_burst", "schema_breaking", "schema_changed", "spec_changed", "history_gap"),
        *("null_share_jump", "bounds_jump", "cardinality_jump"),
    }
)
"""Findings that begin with one event, whose instant is their `opened_at`; all others are conditions that last."""
OBSERVED: dict[ObservedSource, frozenset[FindingCode]] = {
    "jobs": frozenset(code for code, traits in CODES.items() if traits.group == "jobs"),
    "reads": frozenset({"stale_reader", "filter_not_pruned"}),
    "commits": frozenset({"commit_contention", "stream_batch_conflict"}),
    "columns": frozenset(code for code, traits in CODES.items() if traits.group == "columns"),
    "pointers": frozenset({"two_pointers"}),
    "storage": frozenset({"held_bytes"}),
    "partitions": frozenset({"cold_data"}),
    "readers": frozenset({"reader_at_risk"}),
    "engines": frozenset({"format_incompatible"}),
    "streams": frozenset({"stream_lag"}),
    "catalogs": frozenset({"catalog_near_limit"}),
    "costs": frozenset({"objective_missed"}),
    "forecasts": frozenset({"at_risk"}),
}
"""Codes by source, see `source_of`."""
QUERIES, EVENTS, COST = "queries", "event_to_queryable", "cost_per_gb_month"
OF_MEASURES: dict[str, ObservedSource] = {QUERIES: "reads", EVENTS: "streams", COST: "costs"}
"""Subjects of `objective_missed` if a measure of the table misses an objective, with their sources: the 95th percentile
of its queries, the time from event to commit, and its cost.
"""
SEVERITIES: tuple[FindingSeverity, ...] = get_args(FindingSeverity)
"""From the most severe to the least."""


def severity_rank(severity: str | None) -> int:
    """0 for the most severe; an unknown one comes after all others."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def source_of(code: str | None, subject: str | None) -> ObservedSource | None:
    """The source that a finding follows from; None: the table's history. `objective_missed` follows from commits if it
    has no subject, from a measure if the subject is one of OF_MEASURES, otherwise from the runs of a job.
    """
    if code == "objective_missed":
        return OF_MEASURES.get(subject, "jobs") if subject else None
    return next((source for source, codes in OBSERVED.items() if code in codes), None)


def group_of(code: str | None) -> FindingGroup | None:
    """The group of a code; None for a code of a newer version."""
    traits = CODES.get(cast(FindingCode, code))
    return None if traits is None else traits.group
