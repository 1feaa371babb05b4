"""Fills Prometheus with history: generated metrics of jobs and executors, and the writing of blocks."""

from __future__ import annotations

import random
import subprocess
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from limnograph.demo.metrics.openmetrics import Family, MetricSeries, text
from limnograph.demo.story.calendar import Calendar
from limnograph.demo.story.signals import SignalRun, load_at
from limnograph.domain.errors import EnvironmentFault

JOB_STEP = 30
TABLE_STEP = 60
WINDOW = 6 * 3600
"""Seconds per file for promtool, which reads a file once per block of two hours."""


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
        steps = [at for at in grid(calendar, JOB_STEP) if ends[0] <= at * 1000 <= made[-1].shown_until]
        newest = [(at, bisect_right(ends, at * 1000)) for at in steps]
        duration.append(MetricSeries(labels, [(at, made[n - 1].seconds) for at, n in newest]))
        finished.append(MetricSeries(labels, [(at, made[n - 1].ended / 1000) for at, n in newest]))
        count.append(MetricSeries({**labels, "status": "ok"}, newest))
    return [
        Family("spark_job_duration_seconds", "gauge", "How long the last finished run took.", duration),
        Family("spark_job_last_finished_timestamp_seconds", "gauge", "When the last run finished.", finished),
        Family("spark_job_runs_total", "counter", "Finished runs.", count),
    ]


def executor_families(calendar: Calendar, application_id: str, application_name: str) -> list[Family]:
    """The metrics of Spark's executor endpoint for the reader's application, and the load of its node."""
    rng = random.Random("executors")  # noqa: S311 - reproducible, not a secret
    loads = [(at, load_at(calendar, at * 1000, rng)) for at in grid(calendar, TABLE_STEP)]
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


def grid(calendar: Calendar, step: int) -> range:
    """Epoch seconds of the samples. The last one is before `until`: a block that ended in the future would stop
    scraping.
    """
    return range(calendar.start // 1000, calendar.until // 1000, step)


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
