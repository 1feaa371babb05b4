"""Fills Prometheus with history: generated metrics of jobs and executors, and table gauges from the lake's metadata."""

from __future__ import annotations

import json
import random
import subprocess
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from limnograph.demo.metrics.openmetrics import Family, MetricSeries, text
from limnograph.demo.story.calendar import Calendar
from limnograph.demo.story.signals import SignalRun, load_at
from limnograph.domain.errors import EnvironmentFault

JOB_STEP = 30
TABLE_STEP = 60
WINDOW = 6 * 3600
"""Seconds per file for promtool, which reads a file once per block of two hours."""

History = Sequence[Mapping[str, Any]]
"""Snapshots along main in order of time, as in metadata.json."""


def main_history(metadata: Mapping[str, Any]) -> History:
    """The snapshots that main pointed at, one per change, with the instant in the log."""
    snapshots = {one["snapshot-id"]: one for one in metadata.get("snapshots", [])}
    return [
        {**snapshots[entry["snapshot-id"]], "timestamp-ms": entry["timestamp-ms"]}
        for entry in metadata.get("snapshot-log", [])
        if entry["snapshot-id"] in snapshots
    ]


def job_families(calendar: Calendar, runs: Sequence[SignalRun]) -> list[Family]:
    """Duration and end of the last run, and number of runs; one series per job, application, table and role."""
    by_labels: dict[tuple[str, ...], list[SignalRun]] = defaultdict(list)
    for run in runs:
        for use in run.uses:
            by_labels[*use.table.split("."), run.job_name, run.application_id, use.role].append(run)
    duration, finished, count = [], [], []
    for key, made in by_labels.items():
        names = ("table_namespace", "table", "job_name", "application_id", "role")
        labels = {"catalog": "lake", **dict(zip(names, key, strict=True))}
        ends = [run.ended for run in made]
        steps = [at for at in _grid(calendar, JOB_STEP) if ends[0] <= at * 1000 <= made[-1].shown_until]
        newest = [(at, bisect_right(ends, at * 1000)) for at in steps]
        duration.append(MetricSeries(labels, [(at, made[n - 1].seconds) for at, n in newest]))
        finished.append(MetricSeries(labels, [(at, made[n - 1].ended / 1000) for at, n in newest]))
        count.append(MetricSeries({**labels, "status": "ok"}, newest))
    return [
        Family("spark_job_duration_seconds", "gauge", "How long the last finished run took.", duration),
        Family("spark_job_last_finished_timestamp_seconds", "gauge", "When the last run finished.", finished),
        Family("spark_job_runs_total", "counter", "Finished runs.", count),
    ]


class _MetricReading(NamedTuple):
    """How to read a table metric from the history up to an instant; None = unknown."""

    name: str
    counter: bool
    of: Callable[[History], float | None]


def table_families(calendar: Calendar, metadata: Mapping[str, Mapping[str, Any]]) -> list[Family]:
    """`lakehouse_table_*` of each table (`namespace.table` -> metadata), from its snapshots' summaries. Bytes only
    while a table has no delete files, because the summary's size includes them.
    """
    histories = {name: main_history(one) for name, one in metadata.items()}
    families = []
    for reading in _READINGS:
        series = [_table_series(calendar, name, history, reading) for name, history in histories.items()]
        families.append(
            Family(reading.name, "counter" if reading.counter else "gauge", "From the lake's metadata.", series)
        )
    return families


def _table_series(calendar: Calendar, name: str, history: History, reading: _MetricReading) -> MetricSeries:
    namespace, table = name.split(".")
    values = [reading.of(history[: number + 1]) for number in range(len(history))]
    at_ms = [one["timestamp-ms"] for one in history]
    samples = []
    for at in _grid(calendar, TABLE_STEP):
        number = bisect_right(at_ms, at * 1000)
        value = values[number - 1] if number else None
        if value is not None:
            samples.append((at, value))
    return MetricSeries({"catalog": "lake", "table_namespace": namespace, "table": table}, samples)


def _total(key: str) -> Callable[[History], float | None]:
    return lambda history: _number(history[-1]["summary"], key)


def _bytes(history: History) -> float | None:
    summary = history[-1]["summary"]
    return _number(summary, "total-files-size") if _number(summary, "total-delete-files") == 0 else None


def _added(key: str) -> Callable[[History], float | None]:
    def of(history: History) -> float:
        grown: list[Mapping[str, str]] = [
            one["summary"] for one in history if one["summary"].get("operation") != "replace"
        ]
        return float(sum(_number(summary, key) or 0 for summary in grown))

    return of


def _commits(history: History) -> int:
    return sum(one["summary"].get("operation") != "replace" for one in history)


def _number(summary: Mapping[str, str], key: str) -> float | None:
    return int(summary[key]) if key in summary else None


_READINGS = (
    _MetricReading("lakehouse_table_data_files", counter=False, of=_total("total-data-files")),
    _MetricReading("lakehouse_table_delete_files", counter=False, of=_total("total-delete-files")),
    _MetricReading("lakehouse_table_records", counter=False, of=_total("total-records")),
    _MetricReading("lakehouse_table_bytes", counter=False, of=_bytes),
    _MetricReading(
        "lakehouse_table_last_commit_timestamp_seconds", counter=False, of=lambda h: h[-1]["timestamp-ms"] / 1000
    ),
    _MetricReading("lakehouse_table_added_data_files_total", counter=True, of=_added("added-data-files")),
    _MetricReading("lakehouse_table_added_delete_files_total", counter=True, of=_added("added-delete-files")),
    _MetricReading("lakehouse_table_added_records_total", counter=True, of=_added("added-records")),
    _MetricReading("lakehouse_table_commits_total", counter=True, of=_commits),
)


def executor_families(calendar: Calendar, application_id: str, application_name: str) -> list[Family]:
    """The metrics of Spark's executor endpoint for the reader's application, and the load of its node."""
    rng = random.Random("executors")  # noqa: S311 - reproducible, not a secret
    loads = [(at, load_at(calendar, at * 1000, rng)) for at in _grid(calendar, TABLE_STEP)]
    labels = {"application_id": application_id, "application_name": application_name, "executor_id": "1"}
    busy, done = 0.0, []
    for at, load in loads:
        busy += load.cpu * TABLE_STEP
        done.append((at, busy))
    return [
        _gauge("metrics_executor_activeTasks", labels, [(at, load.active_tasks) for at, load in loads]),
        _gauge("metrics_executor_memoryUsed_bytes", labels, [(at, load.memory_bytes) for at, load in loads]),
        Family(
            "metrics_executor_totalDuration_seconds_total", "counter", "Busy seconds.", [MetricSeries(labels, done)]
        ),
        _gauge("instance:node_cpu_utilisation:ratio", {"node": "worker-1"}, [(at, load.cpu) for at, load in loads]),
    ]


def _gauge(name: str, labels: Mapping[str, str], samples: Sequence[tuple[int, float]]) -> Family:
    return Family(name, "gauge", "Generated.", [MetricSeries(labels, samples)])


def _grid(calendar: Calendar, step: int) -> range:
    """Epoch seconds of the samples. The last one is before `until`: a block that ended in the future would stop
    scraping.
    """
    return range(calendar.start // 1000, calendar.until // 1000, step)


def load_metadata(locations: Mapping[str, Path]) -> dict[str, Any]:
    """The newest metadata document of each table."""
    return {name: json.loads(file.read_text()) for name, file in locations.items()}


def write_blocks(promtool: Path, scratch: Path, data: Path, calendar: Calendar, families: Sequence[Family]) -> int:
    """Write the families as blocks into the TSDB folder `data`. Returns the sample count. Raises EnvironmentFault."""
    for start, end in _windows(calendar):
        file = scratch / "backfill.om"
        file.write_text(text(families, start, end))
        command = [str(promtool), "tsdb", "create-blocks-from", "openmetrics", str(file), str(data)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        file.unlink()
        if done.returncode:
            raise EnvironmentFault(
                f"promtool could not write the history: {done.stderr.strip() or done.stdout.strip()}"
            )
    return sum(len(series.samples) for family in families for series in family.series)


def _windows(calendar: Calendar) -> Iterator[tuple[int, int]]:
    first = calendar.start // 1000 // WINDOW * WINDOW
    for start in range(first, calendar.until // 1000, WINDOW):
        yield start, start + WINDOW
