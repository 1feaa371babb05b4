"""The field `reason` of tables, from the table's top finding: kept for one version, until clients read `findings`. And
the rank by which the fleet is sorted: severity first, then the newest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from limnograph.domain import wording as words
from limnograph.domain.answers.findings import Finding
from limnograph.domain.answers.tables import Reason, ReasonCode, ReasonSeverity
from limnograph.domain.finding_codes import SEVERITIES, FindingCode, FindingSeverity, severity_rank
from limnograph.domain.time import EPOCH, Micros
from limnograph.services.findings.board import FindingsBoard
from limnograph.services.findings.sentences import sentence_of
from limnograph.services.fleet.view import RangeView
from limnograph.services.lake.columns import Ints

NOT_EVALUATED, NOTHING = len(SEVERITIES), len(SEVERITIES) + 1
"""Ranks after those of the severities."""
CODES: dict[FindingCode, ReasonCode] = {
    "unreadable": "unreadable",
    "job_slower": "job_slower",
    "job_silent": "job_slower",
    "job_failing": "job_slower",
    "objective_missed": "stale",
    "file_burst": "file_burst",
    "small_files": "no_compaction",
    "too_many_files": "no_compaction",
    "compaction_stopped": "no_compaction",
    "compaction_ineffective": "no_compaction",
    "delete_files_growing": "delete_growth",
    "equality_deletes": "delete_growth",
    "snapshots_unbounded": "snapshots_many",
    "metadata_large": "snapshots_many",
    "manifests_fragmented": "snapshots_many",
    "metadata_versions_kept": "snapshots_many",
    "partition_skew": "skew",
    "hot_partition": "skew",
    "schema_breaking": "schema_change",
    "schema_changed": "schema_change",
    "spec_changed": "schema_change",
    "null_share_jump": "schema_change",
    "bounds_jump": "schema_change",
    "cardinality_jump": "schema_change",
    "stale": "stale",
    "history_gap": "stale",
    "stale_reader": "stale",
    "two_pointers": "stale",
    "filter_not_pruned": "skew",
    "commit_contention": "job_slower",
    "stream_batch_conflict": "job_slower",
    "stream_lag": "stale",
    "tiny_commits": "file_burst",
    "format_incompatible": "schema_change",
    "overlap": "skew",
    "write_mode_mismatch": "no_compaction",
    "catalog_near_limit": "stale",
    "held_bytes": "snapshots_many",
    "deletes_not_materialized": "delete_growth",
    "high_cardinality_partitioning": "skew",
    "cold_data": "stale",
    "reader_at_risk": "snapshots_many",
    "at_risk": "no_compaction",
}
_SEVERITIES: dict[FindingSeverity, ReasonSeverity] = {"critical": "critical", "warning": "warning", "info": "ok"}


def reason(findings: Sequence[Finding], seen: RangeView | None, *, evaluated: bool) -> Reason:
    """Of the first open finding that is not acknowledged; without one, what the range holds."""
    first = next((each for each in findings if each.state == "open" and each.acknowledged_until is None), None)
    if first is None:
        return _nothing(seen) if evaluated else _reason("none", "unknown", "the table's history is being read")
    commits = first.cause.snapshot_ids if first.cause else []
    return Reason(
        code=CODES[first.code],
        severity=_SEVERITIES[first.severity],
        sentence=sentence_of(first),
        magnitude=1.0,
        snapshot_id=commits[0] if commits else None,
        at=first.opened_at,
    )


def ranks(
    board: FindingsBoard, keys: Sequence[str], hidden: frozenset[str] = frozenset()
) -> tuple[Ints, NDArray[np.float64]]:
    """Rank of each table (smallest first), and when its top finding opened. `keys`: `key_of` each. `hidden`: ids of
    acknowledged findings, which do not count. O(tables).
    """
    found = [_rank(board, key, hidden) for key in keys]
    return (
        np.array([rank for rank, _ in found], np.int64),
        np.array([opened for _, opened in found], np.float64),
    )


def _rank(board: FindingsBoard, key: str, hidden: frozenset[str]) -> tuple[int, Micros]:
    for fact in board.by_table.get(key, ()):
        if fact.state != "open":
            break
        if fact.finding_id not in hidden:
            return severity_rank(fact.severity), fact.opened_at or EPOCH
    return (NOTHING if board.is_evaluated(key) else NOT_EVALUATED), EPOCH


def _nothing(seen: RangeView | None) -> Reason:
    number = seen.commits if seen else 0
    sentence = "no commit in this range" if number == 0 else f"{words.count(number)} commit{'s' if number > 1 else ''}"
    before = seen.before.total_data_files if seen and seen.before else None
    after = seen.after.total_data_files if seen and seen.after else None
    if number and before is not None and after is not None:
        sentence += f", files {words.count(before)} → {words.count(after)}"
    return _reason("none", "ok", sentence)


def _reason(code: ReasonCode, severity: ReasonSeverity, sentence: str) -> Reason:
    return Reason(code=code, severity=severity, sentence=sentence, magnitude=0.0, snapshot_id=None, at=None)
