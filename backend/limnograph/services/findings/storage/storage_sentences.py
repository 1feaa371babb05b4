"""Sentences about storage, readers, engines and catalogs; `sentences.py` has the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from limnograph.domain import wording as words
from limnograph.domain.answers.findings import Finding
from limnograph.domain.finding_codes import FindingCode


def _number(finding: Finding, name: str) -> float | None:
    value = finding.evidence.get(name)
    return value if isinstance(value, int | float) else None


def _size(finding: Finding, name: str, otherwise: str) -> str:
    value = _number(finding, name)
    return otherwise if value is None else words.size(value)


def _held(finding: Finding) -> str:
    if finding.subject:
        kind = finding.evidence.get("ref") or "branch or tag"
        kept = _number(finding, "kept_days")
        said = f"{kind} {finding.subject} alone holds {_size(finding, 'ref_bytes', 'many bytes')}"
        return said if kept is None else f"{said}, for at most {words.count(round(kept))} days"
    freed = _size(finding, "freed_bytes", "many bytes")
    return f"{freed} are held by snapshots older than the table's own retention"


def _deletes(finding: Finding) -> str:
    deleted, rows = _number(finding, "total_position_deletes"), _number(finding, "total_records")
    if _number(finding, "rewritten") is not None:
        return "deleted rows are still in files that old snapshots reach"
    if deleted is None or not rows:
        return "deleted rows are still in the data files"
    return f"{words.count(int(deleted))} of {words.count(int(rows))} rows are deleted and still in the data files"


def _cardinality(finding: Finding) -> str:
    partitions = _number(finding, "partitions_total")
    many = "many" if partitions is None else words.count(int(partitions))
    return f"{many} partitions by a column's values, most of them tiny"


def _cold(finding: Finding) -> str:
    size, days = _size(finding, "cold_bytes", "most of the table"), _number(finding, "days")
    since = "for a long time" if days is None else f"for {words.count(int(days))} days"
    without = "a write or a read" if _number(finding, "reads_known") else "a write"
    return f"{size} are in partitions without {without} {since}"


def _reader(finding: Finding) -> str:
    snapshot = finding.evidence.get("snapshot")
    needs = f"snapshot {snapshot}" if snapshot else "old snapshots"
    return f"{finding.subject} needs {needs}, which the table's own retention removes before its next read"


def _tiny(finding: Finding) -> str:
    commits = _number(finding, "commits")
    many = "hundreds of" if commits is None else words.count(int(commits))
    return f"{many} commits a day of a few rows each" + (f" by {finding.subject}" if finding.subject else "")


def _incompatible(finding: Finding) -> str:
    feature = finding.evidence.get("feature")
    return f"{finding.subject} cannot read the table" + (f": it has {feature}" if feature else "")


def _overlap(finding: Finding) -> str:
    depth = _number(finding, "overlap_depth_max")
    many = "many" if depth is None else words.count(int(depth))
    return f"{many} files cover one value of the sort order: filters on it skip few files"


def _mode(finding: Finding) -> str:
    size = _size(finding, "peak", "more than the table")
    return f"small changes wrote {size} again within 7 days; merge-on-read would write less"


def _catalog(finding: Finding) -> str:
    tables, limit = _number(finding, "tables"), _number(finding, "limit")
    if tables is not None and limit is not None:
        where = finding.subject or "the catalog"
        return f"{where} has {words.count(int(tables))} of at most {words.count(int(limit))} tables"
    slow, errors = _number(finding, "p95_seconds"), _number(finding, "error_share")
    if errors is not None:
        return f"{errors:.1%} of the requests to the catalog fail"
    return "the catalog responds slowly" + ("" if slow is None else f": {words.seconds(slow)} at the 95th percentile")


def _stream(finding: Finding) -> str:
    lag = _number(finding, "lag_seconds")
    behind = "behind its source" if lag is None else f"{words.seconds(lag)} behind its source"
    return f"stream {finding.subject} is {behind}"


def _risk(finding: Finding) -> str:
    p, with_maintenance = _number(finding, "p_cross"), _number(finding, "p_cross_if_maintained")
    threshold, hours = _number(finding, "threshold"), _number(finding, "hours")
    said = (
        f"{METRIC_NAMES.get(finding.subject, finding.subject)} will probably reach {_limit(finding.subject, threshold)}"
    )
    said += "" if hours is None else f" within {round(hours / 24)} days"
    said += "" if p is None else f" ({words.odds(p)})"
    return said if with_maintenance is None else f"{said}; with maintenance now: {words.odds(with_maintenance)}"


def _limit(metric: str, threshold: float | None) -> str:
    if threshold is None:
        return "its threshold"
    if metric == "metadata_bytes":
        return words.size(threshold)
    return words.count(int(threshold)) if threshold >= 10 else f"{threshold:g}"


METRIC_NAMES = {
    "small_files": "small files",
    "total_delete_files": "delete files",
    "delete_ratio": "the share of deleted rows",
    "manifests": "manifests",
    "live_snapshots": "snapshots",
    "metadata_bytes": "the metadata file",
    "skew_max_over_median": "the skew of partitions",
    "reader_seconds": "the seconds of a run",
    "reader_seconds_per_gib": "the seconds per GiB read",
}
STORAGE_SENTENCES: Mapping[FindingCode, Callable[[Finding], str]] = {
    "stream_lag": _stream,
    "tiny_commits": _tiny,
    "format_incompatible": _incompatible,
    "overlap": _overlap,
    "write_mode_mismatch": _mode,
    "catalog_near_limit": _catalog,
    "held_bytes": _held,
    "deletes_not_materialized": _deletes,
    "high_cardinality_partitioning": _cardinality,
    "cold_data": _cold,
    "reader_at_risk": _reader,
    "at_risk": _risk,
}
