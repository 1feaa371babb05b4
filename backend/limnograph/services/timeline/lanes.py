"""Lanes of the timeline from a table's history: states, commits, versions, freshness. Pure; knows no source. Values are
placed at the step's first instant and hold until the next commit. After `known_until`, and where a number is unknown,
there is null: a gap in the drawn path, never a zero.
"""

from __future__ import annotations

from typing import NamedTuple

from limnograph.analysis import alignment
from limnograph.analysis.alignment import Value
from limnograph.domain.answers.timeline import (
    BandLane,
    Bar,
    BarsLane,
    CommitEvent,
    EventsLane,
    Lane,
    LaneProblem,
    LaneQuery,
    LaneStatus,
    LineLane,
    StepLane,
)
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.thresholds import Thresholds, stale_after_s
from limnograph.domain.time import MICROS_PER_MS, MICROS_PER_SECOND, TimeRange
from limnograph.services.fleet.view import usual_interval_s
from limnograph.services.lake.history import History
from limnograph.services.table.schema import versions as schemas
from limnograph.services.timeline import lane_sql
from limnograph.services.timeline import refs as ref_lane

STEP_COLUMNS = {
    "data_files": ("total_data_files", "files"),
    "delete_files": ("total_delete_files", "files"),
    "bytes": ("total_bytes", "bytes"),
    "records": ("total_records", "rows"),
    "manifests": ("manifests", "manifests"),
    "skew": ("skew_max_over_median", "ratio"),
    "debt": ("debt_files", "files"),
}
"""Lanes that are one column along main: `(column of snapshots, unit)`."""

META_LANES = ("commits", "schema", "file_size", "freshness", *STEP_COLUMNS)


class MetaState(NamedTuple):
    """Status that all lanes of the metadata share. `known_until` epoch microseconds; `meta`: catalog and namespace of
    the meta tables, for the SQL to copy. `ref`: the branch or tag whose commits are distinguished. `fresh_within_s`:
    the objective for the age of the last commit; None: there is none.
    """

    status: LaneStatus
    age_s: float | None
    problem: LaneProblem | None
    known_until: int
    meta: str = "limnograph"
    ref: str | None = None
    fresh_within_s: float | None = None


def draw(lane: str, history: History, span: TimeRange, state: MetaState) -> Lane:
    """One lane of the metadata."""
    if lane in STEP_COLUMNS:
        return _step(lane, history, span, state)
    if lane == "commits":
        return _commits(history, span, state)
    if lane == "schema":
        return _versions(history, span, state)
    return _file_size(history, span, state) if lane == "file_size" else _freshness(history, span, state)


def blank(lane: str, span: TimeRange, status: LaneStatus, problem: LaneProblem | None) -> Lane:
    """A lane of the metadata without any value: its source failed, or knows nothing."""
    nothing: list[Value] = [None] * len(span.instants())
    if lane == "commits":
        return EventsLane(id=lane, source="meta", unit="files", status=status, problem=problem, events=[])
    if lane == "schema":
        return BarsLane(id=lane, source="meta", unit="versions", status=status, problem=problem, bars=[])
    if lane == "file_size":
        return BandLane(
            id=lane, source="meta", unit="bytes", status=status, problem=problem, lo=nothing, mid=nothing, hi=nothing
        )
    if lane == "freshness":
        return LineLane(id=lane, source="meta", unit="seconds", status=status, problem=problem, v=nothing)
    return StepLane(id=lane, source="meta", unit=STEP_COLUMNS[lane][1], status=status, problem=problem, v=nothing)


def instants(span: TimeRange) -> list[int]:
    """Every step's first instant, epoch microseconds."""
    return [at * MICROS_PER_MS for at in span.instants()]


def until(values: list[Value], at: list[int], known_until: int) -> list[Value]:
    """Values at instants; None after the known time."""
    return [value if instant <= known_until else None for instant, value in zip(at, values, strict=True)]


def _step(lane: str, history: History, span: TimeRange, state: MetaState) -> StepLane:
    column, unit = STEP_COLUMNS[lane]
    at, width = instants(span), span.step * MICROS_PER_SECOND
    times, values = history.main_times, history.column(column)
    extremes = alignment.envelope(times, values, at, width)
    shown = until(alignment.held(times, values, at), at, state.known_until)
    unknown = all(value is None for value in shown)
    return StepLane(
        id=lane,
        source="meta",
        unit=unit,
        status="absent" if unknown and lane in {"skew", "debt"} else state.status,
        age_s=state.age_s,
        problem=state.problem,
        resolution="raw",
        query=_sql(history, span, state, column),
        v=shown,
        min=until(extremes.low, at, state.known_until) if extremes.varies else None,
        max=until(extremes.high, at, state.known_until) if extremes.varies else None,
    )


def _file_size(history: History, span: TimeRange, state: MetaState) -> BandLane:
    at, times = instants(span), history.main_times

    def shown(column: str) -> list[Value]:
        return until(alignment.held(times, history.column(column), at), at, state.known_until)

    targets = [value for value in history.column("target_file_bytes") if value is not None]
    return BandLane(
        id="file_size",
        source="meta",
        unit="bytes",
        status=state.status,
        age_s=state.age_s,
        problem=state.problem,
        resolution="raw",
        query=_sql(history, span, state, "file_size_p10, file_size_p50, file_size_p90"),
        lo=shown("file_size_p10"),
        mid=shown("file_size_p50"),
        hi=shown("file_size_p90"),
        target=targets[-1] if targets else None,
    )


def _freshness(history: History, span: TimeRange, state: MetaState) -> LineLane:
    at = instants(span)
    ages = alignment.since_last(history.main_times, at)
    seconds: list[Value] = [None if age is None else age / MICROS_PER_SECOND for age in ages]
    return LineLane(
        id="freshness",
        source="meta",
        unit="seconds",
        status=state.status,
        age_s=state.age_s,
        problem=state.problem,
        resolution="raw",
        query=_sql(history, span, state, "snapshot_id"),
        v=until(seconds, at, state.known_until),
        target=oldest_s(history, span, state),
        objective=state.fresh_within_s is not None,
    )


def oldest_s(history: History, span: TimeRange, state: MetaState) -> float | None:
    """The objective for the age, else the age at which the table counts as stale at the end of the range; None with too
    few commits.
    """
    if state.fresh_within_s is not None:
        return state.fresh_within_s
    usual = usual_interval_s(history, min(span.end * MICROS_PER_MS, state.known_until))
    return None if usual is None else stale_after_s(Thresholds(), usual)


def _commits(history: History, span: TimeRange, state: MetaState) -> EventsLane:
    rows = history.between(span.start * MICROS_PER_MS, span.end * MICROS_PER_MS)
    return EventsLane(
        id="commits",
        source="meta",
        unit="files",
        status=state.status,
        age_s=state.age_s,
        problem=state.problem,
        resolution="raw",
        query=_sql(history, span, state, "snapshot_id, operation, added_data_files, removed_data_files"),
        events=[_event(history, row) for row in rows],
        flags=ref_lane.flags(history, span),
        off_ref=ref_lane.beside(history, state.ref, rows.numbers("snapshot_id").tolist()) if state.ref else None,
    )


def _event(history: History, row: SnapshotFact) -> CommitEvent:
    return CommitEvent(
        snapshot_id=str(row.snapshot_id),
        t=(row.committed_at or 0) // MICROS_PER_MS,
        operation=row.operation,
        added_data_files=row.added_data_files,
        removed_data_files=row.removed_data_files,
        added_delete_files=row.added_delete_files,
        added_bytes=row.added_bytes,
        on_main=row.snapshot_id in history.main_ancestors,
        app_id=row.app_id,
        engine=row.engine,
        status=row.status or "ok",
        provisional=row.snapshot_id in history.provisional,
        expired=history.retained.lacks(row.sequence_number),
    )


def _versions(history: History, span: TimeRange, state: MetaState) -> BarsLane:
    """One bar per pair of schema and spec version; its detail says what the version changed."""
    start, end = span.start * MICROS_PER_MS, span.end * MICROS_PER_MS
    bars: list[Bar] = []
    newest: dict[str, ChangeFact] = {}
    for change in history.of_kind("schema", "spec"):
        if change.at >= end:
            break
        before = newest.get(change.kind)
        newest[change.kind] = change
        if bars and bars[-1].start == change.at // MICROS_PER_MS:
            earlier = bars.pop().detail
        else:
            earlier = None
            if bars:
                bars[-1] = _ended(bars[-1], change.at)
        detail = "; ".join(part for part in (earlier, _what(before, change)) if part) or None
        bars.append(Bar(start=change.at // MICROS_PER_MS, end=None, label=_label(newest), state="ok", detail=detail))
    shown = [bar for bar in bars if bar.end is None or bar.end * MICROS_PER_MS > start]
    return BarsLane(
        id="schema",
        source="meta",
        unit="versions",
        status=state.status,
        age_s=state.age_s,
        problem=state.problem,
        query=_sql(history, span, state, "schema_id, spec_id"),
        bars=shown,
    )


def _ended(bar: Bar, micros: int) -> Bar:
    return Bar(start=bar.start, end=micros // MICROS_PER_MS, label=bar.label, state=bar.state, detail=bar.detail)


def _label(newest: dict[str, ChangeFact]) -> str:
    letters = (("schema", "s"), ("spec", "p"))
    return " · ".join(f"{letter}{newest[kind].to_value}" for kind, letter in letters if kind in newest)


def _what(before: ChangeFact | None, change: ChangeFact) -> str | None:
    if before is None:
        return None
    if change.kind == "schema":
        return schemas.difference(before.detail, change.detail)
    return schemas.spec_difference(before.detail, change.detail)


def _sql(history: History, span: TimeRange, state: MetaState, columns: str) -> LaneQuery:
    return lane_sql.question(history, span, f"{state.meta}.snapshots", "committed_at", columns)
