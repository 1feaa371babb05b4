"""Lanes of a long range: roll-ups up to their edge, raw rows after it, on one axis. Pure; knows no source. Roll-ups
contain the same as raw rows at the same step: the state at a step's first instant and the extremes inside it, so that a
spike of a minute is visible in a year. A commit on a span's very first microsecond counts one span later.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import polars as pl

from limnograph.analysis import alignment
from limnograph.analysis.alignment import Value
from limnograph.domain.answers.lane_specs import SPEC_OF, LaneSpec
from limnograph.domain.answers.timeline import BandLane, CommitEvent, EventsLane, Lane, LaneQuery, LineLane, StepLane
from limnograph.domain.facts.housekeeping import OPERATIONS, STATES
from limnograph.domain.time import MAX_POINTS, MICROS_PER_SECOND, MS_PER_SECOND, Micros, TimeRange, to_micros, to_millis
from limnograph.services.lake.history import History
from limnograph.services.timeline import lanes
from limnograph.services.timeline.lanes import MetaState, instants, shared, until
from limnograph.services.timeline.tier_reader import RolledHistory


class Along(NamedTuple):
    """One column of states: `ends` are the ends of the spans in which main moved, with the state after the last move
    and the extremes inside each.
    """

    begins: list[Micros]
    ends: list[Micros]
    last: list[Value]
    low: list[Value]
    high: list[Value]


def draw(lane: str, rolled: RolledHistory, history: History, span: TimeRange, state: MetaState) -> Lane:
    """One lane of the metadata. `history` is known since `rolled.edge`, including what main pointed at then."""
    if lane in DRAWINGS:
        return DRAWINGS[lane](rolled, history, span, state)
    if SPEC_OF[lane].column in STATES:
        return _step(SPEC_OF[lane], rolled, history, span, state)
    # Versions come from changes, which are kept; debt and overlap are in no roll-up, so they begin at the edge.
    return lanes.draw(lane, history, span, state)


def _along(rolled: RolledHistory, column: str) -> Along:
    moved = rolled.rows.filter((pl.col("main_moves") > 0) & (pl.col("begin") < rolled.edge))
    return Along(
        *(moved[end].to_list() for end in ("begin", "end")),
        *(moved[f"{column}_{end}"].to_list() for end in ("last", "min", "max")),
    )


def _held(along: Along, history: History, column: str, at: Sequence[Micros], edge: Micros) -> list[Value]:
    """State at each instant: of the span that ended before it, or after the edge of the last move before it."""
    old = alignment.held(along.ends, along.last, at)
    new = alignment.held(history.main_times, history.column(column), at)
    return [old[i] if instant < edge else new[i] for i, instant in enumerate(at)]


def _extremes(
    along: Along, history: History, column: str, at: Sequence[Micros], width_us: int, *, edge: Micros
) -> alignment.Envelope:
    """Least and greatest per step, over the state at its start, the overlapping spans, and the moves after the edge."""
    low = _held(along, history, column, at, edge)
    high = list(low)
    if not at:
        return alignment.Envelope(low, high)

    def stretch(bucket: int, least: Value, most: Value) -> None:
        if 0 <= bucket < len(at):
            low[bucket] = _least(low[bucket], least)
            high[bucket] = _most(high[bucket], most)

    for begin, end, least, most in zip(along.begins, along.ends, along.low, along.high, strict=True):
        for bucket in range((begin - at[0]) // width_us, (end - 1 - at[0]) // width_us + 1):
            stretch(bucket, least, most)
    for instant, value in zip(history.main_times, history.column(column), strict=True):
        if instant >= edge:
            stretch((instant - at[0]) // width_us, value, value)
    return alignment.Envelope(low, high)


def _least(one: Value, other: Value) -> Value:
    return other if one is None else one if other is None else min(one, other)


def _most(one: Value, other: Value) -> Value:
    return other if one is None else one if other is None else max(one, other)


def _step(spec: LaneSpec, rolled: RolledHistory, history: History, span: TimeRange, state: MetaState) -> StepLane:
    column = spec.column
    at, width = instants(span), span.step_s * MICROS_PER_SECOND
    along = _along(rolled, column)
    extremes = _extremes(along, history, column, at, width, edge=rolled.edge)
    return StepLane(
        **shared(spec.id, state),
        resolution=rolled.unit,
        query=_sql(rolled, history, span, state, f"{column}_last, {column}_min, {column}_max"),
        v=until(_held(along, history, column, at, rolled.edge), at, state.known_until),
        min=until(extremes.low, at, state.known_until) if extremes.varies else None,
        max=until(extremes.high, at, state.known_until) if extremes.varies else None,
    )


def _file_size(rolled: RolledHistory, history: History, span: TimeRange, state: MetaState) -> BandLane:
    """Roll-ups keep only the median: the band begins at the edge."""
    raw = lanes.file_sizes(history, span, state)
    at = instants(span)
    old = [instant < rolled.edge for instant in at]
    middles = _held(_along(rolled, "file_size_p50"), history, "file_size_p50", at, rolled.edge)
    return msgspec.structs.replace(
        raw,
        resolution=rolled.unit,
        query=_sql(rolled, history, span, state, "file_size_p50_last"),
        lo=[None if before else value for before, value in zip(old, raw.lo, strict=True)],
        mid=until(middles, at, state.known_until),
        hi=[None if before else value for before, value in zip(old, raw.hi, strict=True)],
    )


def _freshness(rolled: RolledHistory, history: History, span: TimeRange, state: MetaState) -> LineLane:
    """Before the edge the last commit is known only by its span: `v` is the lowest possible age, `max` the highest."""
    at, along = instants(span), _along(rolled, "total_data_files")
    exact = alignment.since_last_us(history.main_times, at)
    low: list[Value] = []
    high: list[Value] = []
    for i, instant in enumerate(at):
        known = exact[i]
        place = bisect_right(along.ends, instant) - 1
        if instant >= rolled.edge and known is not None:
            low.append(known / MICROS_PER_SECOND)
            high.append(known / MICROS_PER_SECOND)
        elif place < 0:
            low.append(None)
            high.append(None)
        else:
            low.append((instant - along.ends[place]) / MICROS_PER_SECOND)
            high.append((instant - along.begins[place]) / MICROS_PER_SECOND)
    return LineLane(
        **shared("freshness", state),
        resolution=rolled.unit,
        query=_sql(rolled, history, span, state, "main_moves"),
        v=until(low, at, state.known_until),
        min=until(low, at, state.known_until),
        max=until(high, at, state.known_until),
        target=lanes.oldest_s(history, span, state),
        objective=state.fresh_within_s is not None,
    )


def _commits(rolled: RolledHistory, history: History, span: TimeRange, state: MetaState) -> EventsLane:
    """Before the edge one mark represents all commits of a span."""
    edge = to_millis(rolled.edge)
    start = to_micros(span.start)
    spans = rolled.rows.filter((pl.col("commits") > 0) & (pl.col("begin") >= start) & (pl.col("begin") < rolled.edge))
    marks = [_mark(row) for row in spans.iter_rows(named=True) if row["begin"] < to_micros(span.end)]
    raw = lanes.commits(history, span._replace(start=max(span.start, min(edge, span.end))), state)
    return msgspec.structs.replace(
        raw,
        resolution=rolled.unit,
        query=_sql(rolled, history, span, state, "commits, added_data_files, removed_data_files"),
        events=thinned([*marks, *raw.events], span),
    )


def _mark(row: dict[str, int | None]) -> CommitEvent:
    """The commits of a span as one mark. Its id is the snapshot that main pointed at when the span ended, if any."""
    counts = {operation: row[column] or 0 for operation, column in OPERATIONS.items()}
    counts["other"] = row["other_operations"] or 0
    kind = max(counts, key=lambda operation: counts[operation])
    target = row["main_snapshot_id"]
    return CommitEvent(
        snapshot_id="" if target is None else str(target),
        t=to_millis(Micros(row["begin"] or 0)),
        operation=None if kind == "other" else kind,
        added_data_files=row["added_data_files"],
        removed_data_files=row["removed_data_files"],
        added_delete_files=row["added_delete_files"],
        added_bytes=row["added_bytes"],
        on_main=bool(row["main_moves"]),
        app_id=None,
        engine=None,
        status="partial" if row["unknown_commits"] else "ok",
        commits=row["commits"] or 1,
    )


def thinned(events: list[CommitEvent], span: TimeRange) -> list[CommitEvent]:
    """At most MAX_POINTS marks: with more, those of one step are merged under the id of the commit that added most."""
    if len(events) <= MAX_POINTS:
        return events
    width = max(span.step_s * MS_PER_SECOND, -(-(span.end - span.start) // MAX_POINTS))
    groups: dict[int, list[CommitEvent]] = {}
    for event in events:
        groups.setdefault((event.t - span.start) // width, []).append(event)
    return [group[0] if len(group) == 1 else _merged(group) for _, group in sorted(groups.items())]


def _merged(group: list[CommitEvent]) -> CommitEvent:
    most = max(group, key=lambda event: event.added_data_files or 0)
    return CommitEvent(
        snapshot_id=most.snapshot_id,
        t=most.t,
        operation=most.operation,
        added_data_files=_sum([event.added_data_files for event in group]),
        removed_data_files=_sum([event.removed_data_files for event in group]),
        added_delete_files=_sum([event.added_delete_files for event in group]),
        added_bytes=_sum([event.added_bytes for event in group]),
        on_main=any(event.on_main for event in group),
        app_id=most.app_id,
        engine=most.engine,
        status="ok" if all(event.status == "ok" for event in group) else "partial",
        provisional=any(event.provisional for event in group),
        commits=sum(event.commits for event in group),
    )


def _sum(values: list[int | None]) -> int | None:
    """Sum of the known values; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _sql(rolled: RolledHistory, history: History, span: TimeRange, state: MetaState, columns: str) -> LaneQuery:
    table = {"hour": "snapshots_hourly", "day": "snapshots_daily"}[rolled.unit]
    return lanes.sql(history, span, state, columns, table=table, time=rolled.unit)


DRAWINGS: Mapping[str, Callable[[RolledHistory, History, TimeRange, MetaState], Lane]] = {
    "commits": _commits,
    "freshness": _freshness,
    "file_size": _file_size,
}
"""Lanes that roll-ups represent by something other than one of their states."""
