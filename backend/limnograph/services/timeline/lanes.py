"""Lanes of the timeline from a table's history: states, commits, versions, freshness. Pure; knows no source. Values are
placed at the step's first instant and hold until the next commit. After `known_until`, and where a number is unknown,
the value is null: a gap in the drawn path, never a zero.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from limnograph.analysis import alignment
from limnograph.analysis.alignment import Value
from limnograph.domain.answers.lane_specs import LANE_SPECS, SPEC_OF, LaneHead, LaneSpec, head_of
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
from limnograph.domain.time import EPOCH, MICROS_PER_SECOND, Micros, Millis, TimeRange, to_micros, to_millis
from limnograph.services.fleet.view import usual_interval_s
from limnograph.services.lake.columns import NULL
from limnograph.services.lake.history import History
from limnograph.services.table.schema import versions as schemas
from limnograph.services.timeline import refs as ref_lane


class MetaState(NamedTuple):
    """Status that all lanes of the metadata share.

    `known_until`: epoch microseconds
    `meta`: catalog and namespace of the meta tables, for the SQL to copy
    `ref`: the branch or tag whose commits are distinguished
    `fresh_within_s`: objective for the age of the last commit, in seconds; None without one
    """

    status: LaneStatus
    age_s: float | None
    problem: LaneProblem | None
    known_until: Micros
    meta: str = "limnograph"
    ref: str | None = None
    fresh_within_s: float | None = None


class MetaLaneHead(LaneHead):
    """The first fields of a lane, with the shared status."""

    status: LaneStatus
    age_s: float | None
    problem: LaneProblem | None


def shared(lane: str, state: MetaState) -> MetaLaneHead:
    """The fields of a lane from its spec and from the state that all lanes share."""
    return {**head_of(lane), "status": state.status, "age_s": state.age_s, "problem": state.problem}


def draw(lane: str, history: History, span: TimeRange, state: MetaState) -> Lane:
    """One lane of the metadata."""
    spec = SPEC_OF[lane]
    return _step(spec, history, span, state) if spec.column else DRAWINGS[lane](history, span, state)


def instants(span: TimeRange) -> list[Micros]:
    """Every step's first instant, epoch microseconds."""
    return [to_micros(at) for at in span.instants()]


def until(values: list[Value], at: list[Micros], known_until: Micros) -> list[Value]:
    """Values at instants; None after the known time."""
    return [value if instant <= known_until else None for instant, value in zip(at, values, strict=True)]


def _step(spec: LaneSpec, history: History, span: TimeRange, state: MetaState) -> StepLane:
    at, width = instants(span), span.step_s * MICROS_PER_SECOND
    times, values = history.main_times, history.column(spec.column)
    extremes = alignment.envelope(times, values, at, width)
    shown = until(alignment.held(times, values, at), at, state.known_until)
    unknown = all(value is None for value in shown)
    return StepLane(
        **shared(spec.id, state._replace(status="absent") if unknown and spec.optional else state),
        resolution="raw",
        query=sql(history, span, state, spec.column),
        v=shown,
        min=until(extremes.low, at, state.known_until) if extremes.varies else None,
        max=until(extremes.high, at, state.known_until) if extremes.varies else None,
        unread=unread(history, span, spec.column),
    )


def file_sizes(history: History, span: TimeRange, state: MetaState) -> BandLane:
    """Sizes of data files as a band, with the table's target size."""
    at, times = instants(span), history.main_times

    def shown(column: str) -> list[Value]:
        return until(alignment.held(times, history.column(column), at), at, state.known_until)

    targets = [value for value in history.column("target_file_bytes") if value is not None]
    return BandLane(
        **shared("file_size", state),
        resolution="raw",
        query=sql(history, span, state, "file_size_p10, file_size_p50, file_size_p90"),
        lo=shown("file_size_p10"),
        mid=shown("file_size_p50"),
        hi=shown("file_size_p90"),
        target=targets[-1] if targets else None,
        unread=unread(history, span, "file_size_p50"),
    )


def unread(history: History, span: TimeRange, column: str) -> list[tuple[Millis, Millis]]:
    """Spans of a range in which a column along main is unknown because the commit was only read to its manifest
    list.
    """
    places = history.main_places
    listed = history.table.rows.equals("tier", "manifest_list")
    if not listed.any():
        return []
    waits = (places >= 0) & listed[places] & (history.main_numbers(column) == NULL)
    edges = np.flatnonzero(np.diff(waits, prepend=False, append=False)).tolist()
    ends = [*history.main_times, to_micros(span.end)]
    spans = (
        (max(to_millis(ends[first]), span.start), min(to_millis(ends[last]), span.end))
        for first, last in zip(edges[::2], edges[1::2], strict=True)
    )
    return [(start, end) for start, end in spans if start < end]


def _freshness(history: History, span: TimeRange, state: MetaState) -> LineLane:
    at = instants(span)
    ages = alignment.since_last_us(history.main_times, at)
    seconds: list[Value] = [None if age is None else age / MICROS_PER_SECOND for age in ages]
    return LineLane(
        **shared("freshness", state),
        resolution="raw",
        query=sql(history, span, state, "snapshot_id"),
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
    usual = usual_interval_s(history, min(to_micros(span.end), state.known_until))
    return None if usual is None else stale_after_s(Thresholds(), usual)


def commits(history: History, span: TimeRange, state: MetaState) -> EventsLane:
    """A mark for each commit of the range, and flags of refs."""
    rows = history.between(to_micros(span.start), to_micros(span.end))
    return EventsLane(
        **shared("commits", state),
        resolution="raw",
        query=sql(history, span, state, "snapshot_id, operation, added_data_files, removed_data_files"),
        events=[_event(history, row) for row in rows],
        flags=ref_lane.flags(history, span),
        off_ref=ref_lane.beside(history, state.ref, rows.numbers("snapshot_id").tolist()) if state.ref else None,
    )


def _event(history: History, row: SnapshotFact) -> CommitEvent:
    return CommitEvent(
        snapshot_id=str(row.snapshot_id),
        t=to_millis(row.committed_at or EPOCH),
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
        expired=history.retained.has_expired(row.sequence_number),
    )


def _versions(history: History, span: TimeRange, state: MetaState) -> BarsLane:
    """One bar per pair of schema and spec version; its detail lists the changes of the version."""
    start, end = to_micros(span.start), to_micros(span.end)
    bars: list[Bar] = []
    newest: dict[str, ChangeFact] = {}
    for change in history.of_kind("schema", "spec"):
        if change.at >= end:
            break
        before = newest.get(change.kind)
        newest[change.kind] = change
        if bars and bars[-1].start == to_millis(change.at):
            earlier = bars.pop().detail
        else:
            earlier = None
            if bars:
                bars[-1] = _ended(bars[-1], change.at)
        detail = "; ".join(part for part in (earlier, _what(before, change)) if part) or None
        bars.append(Bar(start=to_millis(change.at), end=None, label=_label(newest), state="ok", detail=detail))
    shown = [bar for bar in bars if bar.end is None or to_micros(bar.end) > start]
    return BarsLane(
        **shared("schema", state),
        query=sql(history, span, state, "schema_id, spec_id"),
        bars=shown,
    )


def _ended(bar: Bar, micros: Micros) -> Bar:
    return Bar(start=bar.start, end=to_millis(micros), label=bar.label, state=bar.state, detail=bar.detail)


def _label(newest: dict[str, ChangeFact]) -> str:
    letters = (("schema", "s"), ("spec", "p"))
    return " · ".join(f"{letter}{newest[kind].to_value}" for kind, letter in letters if kind in newest)


def _what(before: ChangeFact | None, change: ChangeFact) -> str | None:
    if before is None:
        return None
    if change.kind == "schema":
        return schemas.difference(before.detail, change.detail)
    return schemas.spec_difference(before.detail, change.detail)


def sql(
    history: History,
    span: TimeRange,
    state: MetaState,
    columns: str,
    *,
    table: str = "snapshots",
    time: str = "committed_at",
) -> LaneQuery:
    """The lane as SQL over a meta table, for users to copy; it is never run. `time`: the table's time column."""
    start, end = (dt.datetime.fromtimestamp(at / 1000, tz=dt.UTC) for at in (span.start, span.end))
    uuid = history.uuid.replace("'", "''")
    text = (
        f"SELECT {time}, {columns} FROM {state.meta}.{table} WHERE table_uuid = '{uuid}' "  # noqa: S608
        f"AND {time} >= TIMESTAMP '{start:%Y-%m-%d %H:%M:%S} UTC' "
        f"AND {time} < TIMESTAMP '{end:%Y-%m-%d %H:%M:%S} UTC' ORDER BY {time}"
    )
    return LaneQuery(sql=text)


DRAWINGS: Mapping[str, Callable[[History, TimeRange, MetaState], Lane]] = {
    "commits": commits,
    "schema": _versions,
    "file_size": file_sizes,
    "freshness": _freshness,
}
"""Lanes that are not a single column along main."""
META_LANES = frozenset({*DRAWINGS, *(spec.id for spec in LANE_SPECS if spec.column)})
