"""The reason for a table's rank: one of a closed, ranked set, with its numbers. Each rule examines the
history in a range and returns a Reason or None; the first Reason wins. An unknown number never fulfils a rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from limnograph.domain import wording as words
from limnograph.domain.answers.tables import Reason, ReasonCode
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.thresholds import stale_after_s
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis
from limnograph.services.fleet.view import RangeView

Severity = Literal["critical", "warning", "unknown", "ok"]
RANK: dict[str, int] = {code: rank for rank, code in enumerate(get_args(ReasonCode))}


def reason(seen: RangeView) -> Reason:
    """The first rule that applies, in the order of the closed set."""
    for rule in _RULES:
        if found := rule(seen):
            return found
    return _nothing(seen)


def attention(found: Reason) -> tuple[int, float]:
    """Sort key: rank of the reason, then magnitude; smallest first."""
    return RANK[found.code], -found.magnitude


def unreadable(change: ChangeFact) -> Reason:
    """The reason of a table whose metadata cannot be read at all."""
    detail = (change.detail or "").strip().rstrip(".")
    sentence = f"metadata is unreadable: {detail or change.to_value}"
    return _reason("unreadable", "critical", sentence, 1.0, at=change.at)


def _reason(
    code: ReasonCode,
    severity: Severity,
    sentence: str,
    magnitude: float,
    *,
    snapshot_id: int | None = None,
    at: Micros | None = None,
) -> Reason:
    return Reason(
        code=code,
        severity=severity,
        sentence=sentence,
        magnitude=float(magnitude),
        snapshot_id=None if snapshot_id is None else str(snapshot_id),
        at=to_millis(at),
    )


def _unreadable(seen: RangeView) -> Reason | None:
    change = seen.history.unreadable if seen.history.table.unreadable else None
    return unreadable(change) if change else None


def _job_slower(seen: RangeView) -> Reason | None:
    pace = seen.pace
    if pace is None or pace.ratio < seen.limits.slower_ratio:
        return None
    sentence = (
        f"job {pace.job} takes {words.seconds(pace.now_s)}, {pace.ratio:.1f} times the "
        f"{words.seconds(pace.before_s)} at the start of the range"
    )
    severity: Severity = "critical" if pace.ratio >= seen.limits.slower_critical_ratio else "warning"
    return _reason("job_slower", severity, sentence, pace.ratio)


def _file_burst(seen: RangeView) -> Reason | None:
    found = seen.burst
    if found is None:
        return None
    sentence = f"{words.count(found.files)} files in one {found.operation or 'commit'}"
    sentence += f" at {words.clock(found.at, seen.end - 1)}"
    if found.bytes is not None:
        sentence += f", average {words.size(found.bytes / found.files)}"
    before = found.before
    if before is not None and found.total is not None:
        sentence += f"; files {words.count(before)} → {words.count(found.total)}"
    now = seen.after.total_data_files if seen.after else None
    repaired = now is not None and before is not None and now < before + found.files / 2
    if repaired and now is not None:
        sentence += f", since then down to {words.count(now)}"
    severity: Severity = "warning" if repaired else "critical"
    return _reason("file_burst", severity, sentence, found.files, snapshot_id=found.snapshot_id, at=found.at)


def _delete_growth(seen: RangeView) -> Reason | None:
    before, after = seen.before, seen.after
    if before is None or after is None or before.total_delete_files is None or after.total_delete_files is None:
        return None
    grown = after.total_delete_files - before.total_delete_files
    data = after.total_data_files
    if grown < seen.limits.delete_files_grown or not data:
        return None
    if after.total_delete_files < seen.limits.delete_share * data:
        return None
    sentence = (
        f"delete files {words.count(before.total_delete_files)} → {words.count(after.total_delete_files)} "
        f"over {words.count(data)} data files"
    )
    return _reason("delete_growth", "warning", sentence, grown)


def _no_compaction(seen: RangeView) -> Reason | None:
    now = seen.after
    if now is None or now.small_files is None or not now.total_data_files:
        return None
    share = now.small_files / now.total_data_files
    if now.small_files < seen.limits.small_files or share < seen.limits.small_share:
        return None
    if seen.replaced:
        return None
    sentence = (
        f"{words.count(now.small_files)} of {words.count(now.total_data_files)} files are small, and no compaction ran "
        "in this range"
    )
    return _reason("no_compaction", "warning", sentence, now.small_files)


def _snapshots_many(seen: RangeView) -> Reason | None:
    kept = seen.after.live_snapshots if seen.after else None
    if kept is None or kept < seen.limits.snapshots:
        return None
    return _reason(
        "snapshots_many", "warning", f"{words.count(kept)} snapshots are retained, and none was expired", kept
    )


def _skew(seen: RangeView) -> Reason | None:
    ratio = seen.after.skew_max_over_median if seen.after else None
    if ratio is None or ratio < seen.limits.skew_ratio:
        return None
    return _reason("skew", "warning", f"the largest partition is {ratio:.0f} times the median", ratio)


def _schema_change(seen: RangeView) -> Reason | None:
    found = [c for c in seen.history.of_kind("schema", "spec") if seen.start <= c.at < seen.end and c.from_value]
    if not found:
        return None
    newest = found[-1]
    what = "schema" if newest.kind == "schema" else "partition spec"
    sentence = f"{what} {newest.from_value} → {newest.to_value} at {words.clock(newest.at, seen.end - 1)}"
    return _reason("schema_change", "warning", sentence, len(found), at=newest.at)


def _stale(seen: RangeView) -> Reason | None:
    usual = seen.usual_s
    if usual is None or seen.moved_at is None:
        return None
    age = (seen.end - seen.moved_at) / MICROS_PER_SECOND
    if age < stale_after_s(seen.limits, usual):
        return None
    sentence = f"no commit for {words.seconds(age)}; usually one every {words.seconds(usual)}"
    return _reason("stale", "unknown", sentence, age)


def _nothing(seen: RangeView) -> Reason:
    number = seen.commits
    sentence = "no commit in this range" if number == 0 else f"{words.count(number)} commit{'s' if number > 1 else ''}"
    before = seen.before.total_data_files if seen.before else None
    after = seen.after.total_data_files if seen.after else None
    if number and before is not None and after is not None:
        sentence += f", files {words.count(before)} → {words.count(after)}"
    return _reason("none", "ok", sentence, number)


_RULES: tuple[Callable[[RangeView], Reason | None], ...] = (
    _unreadable,
    _job_slower,
    _file_burst,
    _delete_growth,
    _no_compaction,
    _snapshots_many,
    _skew,
    _schema_change,
    _stale,
)
