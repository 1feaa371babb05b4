"""The gauges and counters of each table over the history, from the rows that the pipeline recorded: what the server
would have exposed at the time.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from limnograph.analysis.usual_gap import usual_gap_s
from limnograph.demo.metrics.backfill import TABLE_STEP, grid
from limnograph.demo.metrics.openmetrics import Family, MetricSeries
from limnograph.demo.story.calendar import Calendar
from limnograph.domain.metrics.gauges import TABLE_COUNTERS, TABLE_GAUGES, USUAL_INTERVAL, TableCounter, TableGauge

COLUMNS = tuple(
    sorted(
        {"operation"}
        | {gauge.column for gauge in TABLE_GAUGES if gauge.column != "committed_at"}
        | {counter.column for counter in TABLE_COUNTERS if counter.column}
    )
)
"""Columns of the meta table `snapshots` that the metrics of tables are made of."""
Row = Mapping[str, Any]


class MainMove(NamedTuple):
    """A snapshot becomes main's: when (epoch ms), and its row in the meta table."""

    at: int
    row: Row


class _Metric(NamedTuple):
    """A metric and its value after each move; None = unknown."""

    name: str
    kind: str
    help: str
    values: Callable[[Sequence[MainMove]], Iterable[float | None]]


def main_moves(metadata_file: Path, rows: Mapping[int, Row]) -> list[MainMove]:
    """The moves of main in a metadata file's log. `rows`: the table's rows by snapshot id."""
    log = json.loads(metadata_file.read_text()).get("snapshot-log", [])
    return [
        MainMove(entry["timestamp-ms"], rows[entry["snapshot-id"]]) for entry in log if entry["snapshot-id"] in rows
    ]


def table_families(calendar: Calendar, tables: Mapping[str, Sequence[MainMove]]) -> list[Family]:
    """The metrics of all tables (`namespace.table` -> moves of main), one sample a minute."""
    return [
        Family(
            metric.name,
            "counter" if metric.kind == "counter" else "gauge",
            metric.help,
            [_series(calendar, name, moves, metric) for name, moves in tables.items()],
        )
        for metric in _METRICS
    ]


def _series(calendar: Calendar, name: str, moves: Sequence[MainMove], metric: _Metric) -> MetricSeries:
    namespace, table = name.split(".")
    times, values = [move.at for move in moves], list(metric.values(moves))
    samples = []
    for at in grid(calendar, TABLE_STEP):
        number = bisect_right(times, at * 1000)
        value = values[number - 1] if number else None
        if value is not None:
            samples.append((at, value))
    return MetricSeries({"catalog": "lake", "table_namespace": namespace, "table": table}, samples)


def _gauge(gauge: TableGauge) -> _Metric:
    def values(moves: Sequence[MainMove]) -> Iterable[float | None]:
        if gauge.column == "committed_at":
            return [move.at / 1000 for move in moves]
        known = [None if (value := move.row[gauge.column]) is None else value * gauge.scale for move in moves]
        return accumulate(known, lambda last, new: last if new is None else new) if gauge.kept else known

    return _Metric(gauge.name, "gauge", gauge.help, values)


def _counter(counter: TableCounter) -> _Metric:
    def values(moves: Sequence[MainMove]) -> Iterable[float | None]:
        written = [move.row if move.row["operation"] != "replace" else None for move in moves]
        return accumulate(
            0.0 if row is None else float(row[counter.column] or 0) if counter.column else 1.0 for row in written
        )

    return _Metric(counter.name, "counter", counter.help, values)


def _usual_intervals(moves: Sequence[MainMove]) -> Iterable[float | None]:
    times = np.array([move.at * 1000 for move in moves], np.int64)
    return [usual_gap_s(times[: number + 1]) for number in range(len(times))]


_METRICS = (
    *map(_gauge, TABLE_GAUGES),
    _Metric(USUAL_INTERVAL.name, USUAL_INTERVAL.kind, USUAL_INTERVAL.help, _usual_intervals),
    *map(_counter, TABLE_COUNTERS),
)
