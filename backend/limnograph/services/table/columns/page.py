"""The page of a table's columns: null share, NaN share, counts and allowed bounds of the files that commits added.

Cost: one read of the table's rows in the range, from the meta tables. Rows of commits are kept for 7 days, days before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from limnograph.analysis.column_names import PRIVATE_PROPERTY, is_text, matches, private_patterns
from limnograph.analysis.column_values import bound_number, stats_of, summed
from limnograph.domain.answers.columns import ColumnPoint, ColumnSeries, ColumnsPage
from limnograph.domain.answers.partitions import SpanMs
from limnograph.domain.facts.column_stats import RAW_DAYS, ColumnStat
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, Micros, Millis, to_micros, to_millis, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore
from limnograph.services.rollups.fold import DAY
from limnograph.services.table.histories import TableHistories

MOST_POINTS = 100
"""Points of a column: with more commits, spans of one of WIDTHS_US are points."""
WIDTHS_US = tuple(width * MICROS_PER_SECOND for width in (300, 900, 3_600, 6 * 3_600, 86_400, 7 * 86_400))
_FORMATS = {
    "delta": "Statistics of columns are read from Iceberg's manifests. Of Delta tables they are not known.",
    "hudi": "Statistics of columns are read from Iceberg's manifests. Of Hudi tables they are not known.",
}
_NONE = (
    "No commit in this range added files whose manifests state numbers of columns, or the pipeline has not read one "
    "since statistics of columns are kept."
)


class ColumnSpan(NamedTuple):
    """Columns of `commits` commits. `snapshot_id` None: of several commits."""

    at: Micros
    snapshot_id: int | None
    stats: list[ColumnStat]
    commits: int = 1


class ColumnPages:
    """Columns of one table. `private`: patterns of columns without bounds. Immutable after construction."""

    def __init__(self, store: HotStore, engine: QueryEngine, clock: Clock, private: Sequence[str] = ()) -> None:
        self._store, self._engine, self._clock, self._private = store, engine, clock, tuple(private)
        self._tables = TableHistories(store, clock)

    async def page(self, name: TableName, start: Millis, end: Millis) -> ColumnsPage:
        """Columns in a range. Raises NotFound; SourceError if the meta tables cannot be read."""
        return await self._store.reads.ask(self._page, name, SpanMs(start=start, end=end))

    def _page(self, name: TableName, span: SpanMs) -> ColumnsPage:
        start, end = to_micros(span.start), to_micros(span.end)
        history = self._tables.now(name)
        days, commits = self._days(history.uuid, start, end), self._commits(history.uuid, start, end)
        width_us = _width_us(start, end, len(commits), of_days=bool(days))
        found = [*days, *commits]
        spans = _merged(found, width_us) if width_us else found
        head = self._tables.head(name, history, [])
        return ColumnsPage(
            **head,
            range=span,
            commits=sum(each.commits for each in found),
            step_s=width_us // MICROS_PER_SECOND if width_us else None,
            columns=_series(spans, private_patterns(_properties(history), self._private)),
            not_known=None if spans else _FORMATS.get(head["format"] or "", _NONE),
        )

    def _commits(self, uuid: str, start: Micros, end: Micros) -> list[ColumnSpan]:
        query = MetaQuery(table="column_stats", table_uuids=(uuid,), start=start, end=end)
        rows = self._engine.select(query).sort("committed_at").iter_rows(named=True) if uuid else ()
        return [ColumnSpan(row["committed_at"], row["snapshot_id"], stats_of(row["columns"])) for row in rows]

    def _days(self, uuid: str, start: Micros, end: Micros) -> list[ColumnSpan]:
        """Days before the rows of commits begin."""
        raw_from = Micros(truncated(self._clock.now(), DAY) - RAW_DAYS * DAY)
        if not uuid or start >= raw_from:
            return []
        edge = min(end, raw_from)
        query = MetaQuery(table="column_stats_daily", table_uuids=(uuid,), start=truncated(start, DAY), end=edge)
        rows = self._engine.select(query).sort("day").iter_rows(named=True)
        return [ColumnSpan(row["day"], None, stats_of(row["columns"]), row["commits"] or 0) for row in rows]


def _width_us(start: Micros, end: Micros, commits: int, *, of_days: bool) -> int | None:
    """Width of a point; None: each commit is one."""
    if not of_days and commits <= MOST_POINTS:
        return None
    fitting = (width_us for width_us in WIDTHS_US if (end - start) / width_us <= MOST_POINTS)
    return max(next(fitting, WIDTHS_US[-1]), DAY if of_days else 0)


def _merged(spans: Sequence[ColumnSpan], width_us: int) -> list[ColumnSpan]:
    found = []
    for at, group in groupby(spans, key=lambda span: span.at // width_us * width_us):
        parts = list(group)
        stats = summed(stat for part in parts for stat in part.stats)
        found.append(ColumnSpan(Micros(at), None, stats, sum(part.commits for part in parts)))
    return found


def _properties(history: History) -> dict[str, str]:
    """The table's own patterns of private columns."""
    found = [change for change in history.changes if change.kind == "property" and change.subject == PRIVATE_PROPERTY]
    return {PRIVATE_PROPERTY: found[-1].to_value or ""} if found else {}


def _series(spans: Sequence[ColumnSpan], private: tuple[str, ...]) -> list[ColumnSeries]:
    """One series for each column, the order of the newest commit first."""
    totals = summed(stat for span in spans for stat in span.stats)
    points: dict[int, list[ColumnPoint]] = {stat.id: [] for stat in totals}
    hidden = {stat.id for stat in totals if matches(stat.name, private)}
    for span in spans:
        for stat in span.stats:
            points[stat.id].append(_point(span, stat, hidden=stat.id in hidden))
    return [_one(stat, points[stat.id], private=stat.id in hidden) for stat in totals]


def _one(stat: ColumnStat, points: list[ColumnPoint], *, private: bool) -> ColumnSeries:
    return ColumnSeries(
        id=stat.id,
        name=stat.name,
        type=stat.type,
        values=stat.values,
        nulls=stat.nulls,
        null_share=share(stat.nulls, stat.values),
        nans=stat.nans,
        nan_share=share(stat.nans, stat.values),
        lower=None if private else stat.lower,
        upper=None if private else stat.upper,
        bounds=_bounds(stat, private=private),
        distinct=stat.ndv,
        points=points,
    )


def _bounds(stat: ColumnStat, *, private: bool) -> Literal["shown", "private", "text", "none"]:
    if private:
        return "private"
    if stat.lower is not None and stat.upper is not None:
        return "shown"
    return "text" if is_text(stat.type or "") else "none"


def _point(span: ColumnSpan, stat: ColumnStat, *, hidden: bool) -> ColumnPoint:
    return ColumnPoint(
        t=to_millis(span.at),
        snapshot_id=None if span.snapshot_id is None else str(span.snapshot_id),
        values=stat.values,
        nulls=stat.nulls,
        null_share=share(stat.nulls, stat.values),
        nan_share=share(stat.nans, stat.values),
        lower=None if hidden else bound_number(stat.type, stat.lower),
        upper=None if hidden else bound_number(stat.type, stat.upper),
    )


def share(part: int | None, whole: int | None) -> float | None:
    """A part of a whole; None if either is unknown or there is nothing."""
    return None if part is None or not whole else part / whole
