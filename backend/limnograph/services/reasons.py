"""Why a table stands where it stands: one reason out of the closed, ranked set of DESIGN §6.1, with its numbers.

Each rule looks at the history in a range and answers a Reason or None; the first that answers wins. A number that is
not known never fulfils a rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, get_args

import msgspec
import numpy as np

from limnograph.analysis.alignment import median
from limnograph.domain.answers import Reason, ReasonCode
from limnograph.domain.facts import ChangeFact, SnapshotFact
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.services import words
from limnograph.services.history import Commits, History
from limnograph.services.hot_columns import NULL

RANK: dict[str, int] = {code: rank for rank, code in enumerate(get_args(ReasonCode))}


class Thresholds(NamedTuple):
    """When a rule speaks. Counts are files or snapshots, shares are fractions of one."""

    slower_ratio: float = 1.5
    slower_critical_ratio: float = 2.0
    burst_files: int = 1_000
    burst_over_usual: float = 5.0
    burst_share: float = 0.2
    burst_small_share: float = 0.75  # average added file below this part of the target
    delete_files_grown: int = 20
    delete_share: float = 0.1  # delete files per data file
    small_files: int = 500
    small_share: float = 0.5
    snapshots: int = 1_000
    skew_ratio: float = 10.0
    stale_intervals: float = 3.0
    stale_least_s: float = 3_600.0


class JobPace(NamedTuple):
    """Median duration of a reader at the start and at the end of the range, seconds."""

    job: str
    before_s: float
    now_s: float

    @property
    def ratio(self) -> float:
        """How many times as long as at the start."""
        return self.now_s / self.before_s


class View(NamedTuple):
    """What a rule sees. Instants epoch microseconds; `commits`: those of the range, oldest first, by column."""

    history: History
    start: int
    end: int
    commits: Commits
    before: SnapshotFact | None
    after: SnapshotFact | None
    pace: JobPace | None
    limits: Thresholds


def view(history: History, start: int, end: int, pace: JobPace | None, limits: Thresholds) -> View:
    """Cut a history to a range."""
    return View(
        history, start, end, history.between(start, end), history.main_at(start), history.main_at(end - 1), pace, limits
    )


def reason(seen: View) -> Reason:
    """The first rule that speaks, in the order of the closed set."""
    for rule in _RULES:
        if found := rule(seen):
            return found
    return _nothing(seen)


def attention(found: Reason) -> tuple[int, float]:
    """Sort key: rank of the reason, then magnitude; smallest first."""
    return RANK[found.code], -found.magnitude


def unreadable(change: ChangeFact) -> Reason:
    """Metadata that cannot be read at all."""
    detail = (change.detail or "").strip().rstrip(".")
    sentence = f"metadata cannot be read: {detail or change.to_value}"
    return _reason("unreadable", "critical", sentence, 1.0, at=change.at)


def _reason(
    code: ReasonCode,
    severity: str,
    sentence: str,
    magnitude: float,
    *,
    row: SnapshotFact | None = None,
    at: int | None = None,
) -> Reason:
    instant = at if at is not None else (row.committed_at if row else None)
    return msgspec.convert(
        {
            "code": code,
            "severity": severity,
            "sentence": sentence,
            "magnitude": float(magnitude),
            "snapshot_id": str(row.snapshot_id) if row else None,
            "at": None if instant is None else instant // 1000,
        },
        Reason,
    )


def _unreadable(seen: View) -> Reason | None:
    change = seen.history.unreadable
    return unreadable(change) if change else None


def _job_slower(seen: View) -> Reason | None:
    pace = seen.pace
    if pace is None or pace.ratio < seen.limits.slower_ratio:
        return None
    sentence = (
        f"{pace.job} takes {words.seconds(pace.now_s)}, {pace.ratio:.1f} times the "
        f"{words.seconds(pace.before_s)} at the start of the range"
    )
    severity = "critical" if pace.ratio >= seen.limits.slower_critical_ratio else "warning"
    return _reason("job_slower", severity, sentence, pace.ratio)


def _file_burst(seen: View) -> Reason | None:
    limits, added = seen.limits, seen.commits.numbers("added_data_files")
    if not len(added) or added.max() < limits.burst_files:
        return None
    places = np.flatnonzero((added != NULL) & ~seen.commits.are("replace"))
    if not len(places):
        return None
    place = places[added[places].argmax()]
    files = int(added[place])
    usual = median(added[places[places != place]].tolist()) or 0
    if files < max(limits.burst_files, limits.burst_over_usual * usual):
        return None
    biggest = seen.commits.fact(int(place))
    if not _small(biggest, limits):
        return None
    before = _files_before(seen.history, biggest, files)
    if before is not None and files < limits.burst_share * before:
        return None
    return _burst(seen, biggest, files, before)


def _files_before(history: History, row: SnapshotFact, added: int) -> int | None:
    """Data files of the state that the commit changed: by its own count, else its parent's, else None."""
    if row.total_data_files is not None and row.removed_data_files is not None:
        return row.total_data_files - added + row.removed_data_files
    parent = history.snapshots.get(row.parent_id) if row.parent_id is not None else None
    return parent.total_data_files if parent else None


def _small(row: SnapshotFact, limits: Thresholds) -> bool:
    """Whether the added files are small for the table; true when size or target is not known."""
    if not row.added_data_files or row.added_bytes is None or row.target_file_bytes is None:
        return True
    return row.added_bytes / row.added_data_files < limits.burst_small_share * row.target_file_bytes


def _burst(seen: View, row: SnapshotFact, files: int, before: int | None) -> Reason:
    at = words.clock(row.committed_at or 0, seen.end - 1)
    sentence = f"{words.count(files)} files in one {row.operation or 'commit'} at {at}"
    if row.added_bytes is not None:
        sentence += f", average {words.size(row.added_bytes / files)}"
    if before is not None and row.total_data_files is not None:
        sentence += f"; files {words.count(before)} → {words.count(row.total_data_files)}"
    now = seen.after.total_data_files if seen.after else None
    repaired = now is not None and before is not None and now < before + files / 2
    if repaired and now is not None:
        sentence += f", since then down to {words.count(now)}"
    return _reason("file_burst", "warning" if repaired else "critical", sentence, files, row=row)


def _delete_growth(seen: View) -> Reason | None:
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


def _no_compaction(seen: View) -> Reason | None:
    now = seen.after
    if now is None or now.small_files is None or not now.total_data_files:
        return None
    share = now.small_files / now.total_data_files
    if now.small_files < seen.limits.small_files or share < seen.limits.small_share:
        return None
    if seen.commits.are("replace").any():
        return None
    sentence = (
        f"{words.count(now.small_files)} of {words.count(now.total_data_files)} files are small "
        "and no compaction ran in this range"
    )
    return _reason("no_compaction", "warning", sentence, now.small_files)


def _snapshots_many(seen: View) -> Reason | None:
    kept = seen.after.live_snapshots if seen.after else None
    if kept is None or kept < seen.limits.snapshots:
        return None
    return _reason("snapshots_many", "warning", f"{words.count(kept)} snapshots are kept and none expires", kept)


def _skew(seen: View) -> Reason | None:
    ratio = seen.after.skew_max_over_median if seen.after else None
    if ratio is None or ratio < seen.limits.skew_ratio:
        return None
    return _reason("skew", "warning", f"the largest partition is {ratio:.0f} times the median one", ratio)


def _schema_change(seen: View) -> Reason | None:
    found = [c for c in seen.history.of_kind("schema", "spec") if seen.start <= c.at < seen.end and c.from_value]
    if not found:
        return None
    newest = found[-1]
    what = "schema" if newest.kind == "schema" else "partition spec"
    sentence = f"{what} {newest.from_value} → {newest.to_value} at {words.clock(newest.at, seen.end - 1)}"
    return _reason("schema_change", "warning", sentence, len(found), at=newest.at)


def usual_interval_s(history: History, until: int) -> float | None:
    """Median distance of the last 50 moves of main; None with fewer than five of them."""
    times = history.moves[: history.moves.searchsorted(until, "right")][-50:]
    return median((np.diff(times) / MICROS_PER_SECOND).tolist()) if len(times) >= 5 else None


def _stale(seen: View) -> Reason | None:
    usual = usual_interval_s(seen.history, seen.end)
    moved = int(seen.history.moves.searchsorted(seen.end))
    if usual is None or not moved:
        return None
    age = (seen.end - int(seen.history.moves[moved - 1])) / MICROS_PER_SECOND
    if age < max(seen.limits.stale_least_s, seen.limits.stale_intervals * usual):
        return None
    sentence = f"no commit for {words.seconds(age)}; usually one every {words.seconds(usual)}"
    return _reason("stale", "unknown", sentence, age)


def _nothing(seen: View) -> Reason:
    number = len(seen.commits)
    sentence = "no commit in this range" if number == 0 else f"{words.count(number)} commit{'s' if number > 1 else ''}"
    before = seen.before.total_data_files if seen.before else None
    after = seen.after.total_data_files if seen.after else None
    if number and before is not None and after is not None:
        sentence += f", files {words.count(before)} → {words.count(after)}"
    return _reason("none", "ok", sentence, number)


_RULES: tuple[Callable[[View], Reason | None], ...] = (
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
