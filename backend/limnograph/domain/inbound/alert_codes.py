"""Codes of findings that an alert is about: by its label, the shipped rule's name, or the metrics of its expression."""

from __future__ import annotations

import re
from collections.abc import Mapping

from limnograph.domain.finding_codes import CODES, DERIVED_LABEL, FindingCode

_COMPACTION: tuple[FindingCode, ...] = (
    "small_files",
    "compaction_stopped",
    "compaction_ineffective",
    "too_many_files",
    "file_burst",
)
_GROWTH: tuple[FindingCode, ...] = ("file_burst", "too_many_files", "small_files")
_DELETES: tuple[FindingCode, ...] = ("delete_files_growing", "equality_deletes")
_METADATA: tuple[FindingCode, ...] = (
    "metadata_large",
    "snapshots_unbounded",
    "manifests_fragmented",
    "metadata_versions_kept",
)
_CONTENTION: tuple[FindingCode, ...] = ("commit_contention", "stream_batch_conflict")
RULES: Mapping[str, tuple[FindingCode, ...]] = {
    "SmallFileProliferation": _GROWTH,
    "LakehouseCompactionBacklog": _COMPACTION,
    "LakehouseSnapshotsTooMany": ("snapshots_unbounded",),
    "LakehouseSnapshotsTooOld": ("snapshots_unbounded",),
    "LakehouseTableStale": ("stale",),
    "LakehouseDeleteFilesGrowing": _DELETES,
    "LakehousePartitionSkew": ("partition_skew",),
    "LakehouseMetadataGrowing": _METADATA,
    "LakehouseCommitContention": _CONTENTION,
}
"""Shipped rules about tables (deploy/prometheus/rules/alerts.yml). Other rules are judged by their expression."""
_METRICS: Mapping[str, tuple[FindingCode, ...]] = {
    "lakehouse_table_debt_files": _COMPACTION,
    "lakehouse_table_small_files": _COMPACTION,
    "lakehouse_table_file_size_p50_bytes": _COMPACTION,
    "lakehouse_table_data_files": _GROWTH,
    "lakehouse_table_added_data_files_total": _GROWTH,
    "lakehouse_table_delete_files": _DELETES,
    "lakehouse_table_delete_bytes": _DELETES,
    "lakehouse_table_added_delete_files_total": _DELETES,
    "lakehouse_table_snapshots": ("snapshots_unbounded", "metadata_large"),
    "lakehouse_table_oldest_snapshot_timestamp_seconds": ("snapshots_unbounded",),
    "lakehouse_table_planning_p95_seconds": ("manifests_fragmented", "metadata_large", "filter_not_pruned"),
    "lakehouse_table_metadata_bytes": _METADATA,
    "lakehouse_table_manifests": ("manifests_fragmented",),
    "lakehouse_table_partition_skew_ratio": ("partition_skew",),
    "lakehouse_table_last_commit_timestamp_seconds": ("stale",),
    "lakehouse_table_reported_commit_attempts_total": _CONTENTION,
}
_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


def codes_of_alert(name: str | None, labels: Mapping[str, str], expression: str | None) -> tuple[FindingCode, ...]:
    """The codes that an alert can be about, the likeliest first; empty if neither its labels, its name nor the metrics
    of its expression say so.
    """
    code = labels.get(DERIVED_LABEL)
    if code in CODES:
        return (code,)
    shipped = RULES.get(name or "")
    if shipped is not None:
        return shipped
    found = (code for metric in _METRIC.findall(expression or "") for code in _METRICS.get(metric, ()))
    return tuple(dict.fromkeys(found))
