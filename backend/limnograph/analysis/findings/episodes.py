"""Episodes of one table: what is wrong, since when, why, how severe. The result depends on the facts up to an instant
only, not on when or how often they were evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from limnograph.analysis.findings import commit_times, compaction, contributions
from limnograph.analysis.findings.bursts import FileBurst
from limnograph.analysis.findings.events import Detail, Happening, happenings
from limnograph.analysis.findings.facts import TableFacts
from limnograph.analysis.findings.stretch import Stretch
from limnograph.analysis.findings.table_state import TableState, advance
from limnograph.domain.finding_codes import CODES, FindingCode, FindingSeverity
from limnograph.domain.finding_limits import DAY, FindingLimits
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis

_EVIDENCE: dict[FindingCode, tuple[str, ...]] = {
    "small_files": ("debt_saved_files", "debt_files", "total_data_files"),
    "too_many_files": ("total_data_files", "total_bytes", "partition_files_max"),
    "compaction_stopped": ("debt_saved_files", "debt_files", "total_data_files"),
    "compaction_ineffective": ("debt_files", "total_data_files"),
    "delete_files_growing": ("total_delete_files", "total_data_files"),
    "equality_deletes": ("total_equality_deletes", "total_delete_files"),
    "snapshots_unbounded": ("live_snapshots",),
    "metadata_large": ("metadata_bytes", "live_snapshots"),
    "manifests_fragmented": ("manifests", "manifest_bytes"),
    "metadata_versions_kept": ("metadata_log_entries",),
    "partition_skew": ("skew_max_over_median", "partitions_total", "total_bytes"),
    "overlap": ("overlap_depth_max", "total_data_files"),
    "high_cardinality_partitioning": ("partitions_total", "total_bytes", "total_data_files"),
    "write_mode_mismatch": ("total_bytes",),
    "deletes_not_materialized": ("total_delete_files", "total_position_deletes", "total_records"),
}
"""Columns whose last value a sentence about the code names."""
_BUILT_BY: dict[FindingCode, str] = {
    "small_files": "data_files",
    "too_many_files": "data_files",
    "compaction_stopped": "data_files",
    "delete_files_growing": "delete_files",
    "equality_deletes": "delete_files",
    "snapshots_unbounded": "commits",
    "metadata_large": "commits",
    "manifests_fragmented": "commits",
}
"""What builds a condition up: its cause is the writer that added most since the last maintenance commit."""
_AS_LONG: frozenset[FindingCode] = frozenset({"equality_deletes"})


class Cause(NamedTuple):
    """Commits that caused an episode, and their writer. `share`: of all that caused it; None if unknown."""

    snapshot_ids: tuple[int, ...]
    writer: str | None
    share: float | None


class Episode(NamedTuple):
    """A condition of one table during an interval. Its code and subject are its identity within the table; times are in
    its stretch.
    """

    code: FindingCode
    subject: str
    stretch: Stretch
    severity: FindingSeverity
    cause: Cause | None
    evidence: dict[str, Detail]


def episodes(
    facts: TableFacts, limits: FindingLimits, instant: Micros, state: TableState | None = None
) -> list[Episode]:
    """All episodes of a table until an instant, the newest last. `state`: of an earlier evaluation; the same result."""
    state = advance(state or TableState(), facts, until=instant, limits=limits)
    return episodes_of(state, happenings(facts.changes, until=instant, limits=limits), limits)


def episodes_of(state: TableState, others: Sequence[Happening], limits: FindingLimits) -> list[Episode]:
    """The episodes in an evaluated state, and those that do not come from commits. O(episodes)."""
    found = [*_of_levels(state, limits), *_of_bursts(state, limits), *_of_absences(state, limits)]
    found += (
        _slow("hot_partition", stretch, state, limits, {"threshold": limits.hot_ratio}, subject=subject)
        for subject, stretch in state.hot.stretches
    )
    found += _of_deletes(state, limits)
    found += _of_tiny(state, limits)
    for each in others:
        severity = _severity(each.code, state, limits, each.stretch)
        found.append(Episode(each.code, "", each.stretch, severity, None, each.evidence))
    return sorted(found, key=lambda each: (each.stretch.opened, each.code, each.subject))


def _of_levels(state: TableState, limits: FindingLimits) -> Iterator[Episode]:
    for code, level in state.levels.items():
        for stretch in (*level.past, *([level.open] if level.open else [])):
            judged = None if code in _AS_LONG else level.limit
            yield _slow(code, stretch, state, limits, {"threshold": judged})


def _of_absences(state: TableState, limits: FindingLimits) -> Iterator[Episode]:
    kept, times = state.compaction, state.times
    judged: dict[str, float | None] = {"threshold_seconds": _seconds(compaction.wait_us(kept, limits))}
    for stretch in (*kept.stops, *([kept.stopped] if kept.stopped else [])):
        yield _slow("compaction_stopped", stretch, state, limits, judged)
    for stretch in (*kept.failures, *([kept.ineffective] if kept.ineffective else [])):
        yield _slow("compaction_ineffective", stretch, state, limits, {"threshold_share": limits.removed_debt})
    yield from _of_objective(state, limits)
    for stretch in (*times.past, *([times.stale] if times.stale else [])):
        evidence: dict[str, Detail] = {"usual_seconds": times.usual}
        if stretch.closed is None:
            evidence["threshold_seconds"] = _seconds(commit_times.limit_us(times, limits))
        yield Episode("stale", "", stretch, _severity("stale", state, limits, stretch), None, evidence)


def _of_deletes(state: TableState, limits: FindingLimits) -> Iterator[Episode]:
    kept = state.deleted
    for stretch in kept.stretches:
        found = _slow("deletes_not_materialized", stretch, state, limits, {"threshold_share": limits.deleted_share})
        if stretch.closed is None:
            oldest = None if kept.oldest is None or not kept.files else to_millis(kept.oldest)
            found.evidence.update({"oldest_delete": oldest, "rewritten": to_millis(kept.cleaned)})
        yield found


def _of_tiny(state: TableState, limits: FindingLimits) -> Iterator[Episode]:
    """One for each writer, which is the subject."""
    for each in sorted(state.tiny.stretches, key=lambda each: (each.stretch.began, each.writer or "")):
        yield Episode(
            "tiny_commits",
            each.writer or "",
            each.stretch,
            CODES["tiny_commits"].severity,
            Cause((each.stretch.commit,) if each.stretch.commit is not None else (), each.writer, 1.0),
            {"commits": each.commits, "threshold": limits.tiny_commits, "threshold_rows": limits.tiny_rows},
        )


def _of_objective(state: TableState, limits: FindingLimits) -> Iterator[Episode]:
    kept, promised = state.objective, limits.freshness
    if promised is None:
        return
    evidence: dict[str, Detail] = {"threshold_seconds": _seconds(promised.limit_us)}
    for stretch in (*kept.past, *([kept.open] if kept.open else [])):
        yield Episode("objective_missed", "", stretch, CODES["objective_missed"].severity, None, dict(evidence))


def _slow(
    code: FindingCode,
    stretch: Stretch,
    state: TableState,
    limits: FindingLimits,
    judged: Mapping[str, float | None],
    *,
    subject: str = "",
) -> Episode:
    """An episode of a condition that builds up. What is known now, and the threshold that it is `judged` by, is
    evidence only while it is open.
    """
    evidence: dict[str, Detail] = {}
    if stretch.peak is not None:
        evidence["peak"] = _plain(stretch.peak)
    cause = Cause((stretch.commit,), None, None) if stretch.commit is not None else None
    if stretch.closed is None:
        evidence |= {name: _plain(state.last[name]) for name in _EVIDENCE.get(code, ()) if name in state.last}
        evidence |= {name: _plain(value) for name, value in judged.items() if value is not None}
        what = _BUILT_BY.get(code)
        found = contributions.largest(state.contributions, what) if what else None
        if found is not None:
            cause = Cause(cause.snapshot_ids if cause else (), *found)
    return Episode(code, subject, stretch, _severity(code, state, limits, stretch), cause, evidence)


def _of_bursts(state: TableState, limits: FindingLimits) -> Iterator[Episode]:
    for burst in (*state.bursts.past, *([state.bursts.open] if state.bursts.open else [])):
        evidence: dict[str, Detail] = {
            "files": burst.files,
            "bytes": burst.bytes,
            "files_before": burst.before,
            "removed_files": burst.removed,
            "threshold": _plain(burst.limit),
        }
        if burst.stretch.closed is None and "total_data_files" in state.last:
            evidence["total_data_files"] = _plain(state.last["total_data_files"])
        severity = _severity("file_burst", state, limits, burst.stretch)
        yield Episode("file_burst", "", burst.stretch, severity, _cause_of(burst), evidence)


def _cause_of(burst: FileBurst) -> Cause:
    main = burst.stretch.commit
    others = tuple(commit for commit in burst.commits if commit != main)
    return Cause((main, *others) if main is not None else others, burst.writer, 1.0)


def _severity(code: FindingCode, state: TableState, limits: FindingLimits, stretch: Stretch) -> FindingSeverity:
    """Before any effect is known. A small table is not a problem by itself."""
    traits = CODES[code]
    size = state.last.get("total_bytes")
    if traits.needs_size and size is not None and size < limits.small_table_bytes:
        return "info"
    if code in _AS_LONG and state.at is not None:
        held = (stretch.closed or state.at) - stretch.began
        return "warning" if held >= limits.equality_days * DAY else traits.severity
    return traits.severity


def _seconds(duration_us: int | None) -> float | None:
    return None if duration_us is None else round(duration_us / MICROS_PER_SECOND)


def _plain(value: float) -> int | float:
    return int(value) if float(value).is_integer() else round(value, 4)
