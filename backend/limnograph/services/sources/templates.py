"""The named PromQL templates: Limnograph's queries to a metrics source. Users supply values, never text.

`spark_job_*` and `spark_stream_*` are the gauges of `limnograph.spark_metrics`, `metrics_executor_*` are Spark's own
metrics of executors with `spark.ui.prometheus.enabled`. Windows are seconds: a sample older than the window is not
drawn, so a line ends where its source stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from limnograph.domain.ids import TableName
from limnograph.domain.metrics.promql import Aggregate, Call, Expression, LabelledExpression, OnlyAt, Selector, Union
from limnograph.domain.time import Millis

DURATION = "spark_job_duration_seconds"
FINISHED = "spark_job_last_finished_timestamp_seconds"
RUNS = "spark_job_runs_total"
STAT = "limnograph_stat"
BUSY = "metrics_executor_totalDuration_seconds_total"
TASKS = "metrics_executor_activeTasks"
MEMORY = "metrics_executor_memoryUsed_bytes"
STREAM_LAG = "spark_stream_commit_lag_seconds"
STREAM_PROGRESS = "spark_stream_last_progress_timestamp_seconds"

LOOKBACK = 120
"""Two minutes: twice the usual scrape interval, so that one lost scrape is no gap, but a stopped source is."""

SNAP_MS = 15_000
"""Instants of queries about now are aligned to a usual scrape interval, so that queries repeat."""

RATE_WINDOW = 300
"""A rate needs two samples: this covers an endpoint that is scraped every minute, with one lost scrape."""

_TABLE = ("catalog", "table_namespace", "table")


def table_matchers(name: TableName) -> dict[str, str]:
    """The labels of every metric of a table."""
    plain = name.plain
    return {"catalog": plain.catalog, "table_namespace": plain.namespace, "table": plain.table}


def snapped(at_ms: Millis) -> Millis:
    """An instant rounded down to a multiple of SNAP_MS."""
    return Millis(at_ms // SNAP_MS * SNAP_MS)


def window_s(step_s: int) -> int:
    """A window of one step, but at least LOOKBACK."""
    return max(step_s, LOOKBACK)


def duration_band(matchers: Mapping[str, str], step_s: int) -> str:
    """Last duration of a job's finished runs, and its extremes over one step, distinguished by label STAT."""
    parts = (
        ("min", "min", "min_over_time", step_s),
        ("last", "max", "last_over_time", window_s(step_s)),
        ("max", "max", "max_over_time", step_s),
    )
    return str(
        Union(
            tuple(
                LabelledExpression(
                    Aggregate(outer, ("job_name",), Call(function, Selector(DURATION, matchers, width))), STAT, stat
                )
                for stat, outer, function, width in parts
            )
        )
    )


def finished_runs(matchers: Mapping[str, str], step_s: int) -> str:
    """When the newest run finished and how long it took: every change of the first is one run."""
    by = ("job_name", "application_id", "role")
    finished = Aggregate("max", by, Call("last_over_time", Selector(FINISHED, matchers, window_s(step_s))))
    lasted = Aggregate("max", by, Call("last_over_time", Selector(DURATION, matchers, window_s(step_s))))
    return str(Union((LabelledExpression(finished, STAT, "finished"), LabelledExpression(lasted, STAT, "duration"))))


def jobs_of_table(name: TableName, seconds: int) -> str:
    """Runs per job and role; a job with a duration but without a run counter has no `runs` series."""
    by = ("job_name", "role", "application_id")
    matchers = table_matchers(name)
    runs = Aggregate("sum", by, Call("increase", Selector(RUNS, matchers, seconds)))
    seen = Aggregate("max", by, Call("last_over_time", Selector(DURATION, matchers, seconds)))
    return str(Union((LabelledExpression(runs, STAT, "runs"), LabelledExpression(seen, STAT, "seen"))))


def uses(seconds: int) -> str:
    """Runs of every job on every table."""
    return str(Aggregate("sum", ("job_name", *_TABLE), Call("increase", Selector(RUNS, {}, seconds))))


def runs_of_jobs(names: Sequence[str], step_s: int) -> str:
    """The query of `finished_runs`, for some jobs on any table."""
    width, matchers = window_s(step_s), {"job_name": tuple(names)}
    finished, lasted = (
        Aggregate("max", ("job_name",), Call("last_over_time", Selector(metric, matchers, width)))
        for metric in (FINISHED, DURATION)
    )
    return str(Union((LabelledExpression(finished, STAT, "finished"), LabelledExpression(lasted, STAT, "duration"))))


def runs_of_tables(step_s: int) -> str:
    """The query of `finished_runs`, for every reader of every table."""
    by, width = ("job_name", *_TABLE), window_s(step_s)
    finished, lasted = (
        Aggregate("max", by, Call("last_over_time", Selector(metric, {"role": "reads"}, width)))
        for metric in (FINISHED, DURATION)
    )
    return str(Union((LabelledExpression(finished, STAT, "finished"), LabelledExpression(lasted, STAT, "duration"))))


def targets() -> str:
    """Number of scraped targets: it has a gap where the server did not scrape."""
    return str(Aggregate("count", (), Selector("up", {})))


def of_page(
    matchers: Mapping[str, str],
    at_s: int,
    end_s: int,
    fine_s: int,
    look_back_s: int,
    *,
    also: Sequence[Expression] = (),
) -> str:
    """The queries of `jobs_of_table`, `duration_band` and `finished_runs`, joined for all jobs that the matchers
    select. `at_s` and `end_s` are epoch seconds.

    At steps of `fine_s` it returns the metrics by name (last sample within `look_back_s`), and the duration's extremes
    since the previous step under STAT min and max. At `end_s` alone, the range's last instant, it returns the job
    statistics at `at_s` over the day before, under STAT runs and seen. Series keep their labels: adding them up per
    step costs the server more than sending them. `also`: series of other metrics, unchanged.
    """
    day_s, by = 86_400, ("job_name", "role")
    extremes = (
        LabelledExpression(Call(f"{stat}_over_time", Selector(DURATION, matchers, fine_s)), STAT, stat)
        for stat in ("min", "max")
    )
    runs = Aggregate("sum", by, Call("increase", Selector(RUNS, matchers, day_s, at_s)))
    seen = Aggregate("max", by, Call("last_over_time", Selector(DURATION, matchers, day_s, at_s)))
    known = OnlyAt(Union((LabelledExpression(runs, STAT, "runs"), LabelledExpression(seen, STAT, "seen"))), end_s)
    return str(
        Union((Call("last_over_time", Selector((DURATION, FINISHED), matchers, look_back_s)), *extremes, known, *also))
    )


def median_duration_by_table(seconds: int) -> str:
    """Median duration of every reader of every table over the window before the instant."""
    return _duration_by_table(seconds, 0.5)


def p95_duration_by_table(seconds: int) -> str:
    """95th percentile of the duration of every reader of every table over the window before the instant."""
    return _duration_by_table(seconds, 0.95)


def _duration_by_table(seconds: int, share: float) -> str:
    readers = Selector(DURATION, {"role": "reads"}, seconds)
    return str(Aggregate("max", (*_TABLE, "job_name"), Call("quantile_over_time", readers, share)))


def job_of_application(application_id: str, seconds: int) -> str:
    """Jobs that reported under an application id."""
    selector = Selector(DURATION, {"application_id": application_id}, seconds)
    return str(Aggregate("max", ("job_name",), Call("last_over_time", selector)))


def busy_cores(application: str, step_s: int) -> str:
    """Cores that tasks of an application keep busy: task seconds per second, over all executors."""
    selector = Selector(BUSY, {"application_name": application}, max(step_s, RATE_WINDOW))
    return str(Aggregate("sum", (), Call("rate", selector)))


def memory(application: str, step_s: int) -> str:
    """Bytes of storage memory that the executors of an application use, its driver included."""
    selector = Selector(MEMORY, {"application_name": application}, window_s(step_s))
    return str(Aggregate("sum", (), Call("last_over_time", selector)))


def stream_lag(name: TableName, step_s: int) -> str:
    """Lag of the last batch of each stream that writes a table, and the instant of its last progress, distinguished by
    label STAT.
    """
    parts = (("lag", STREAM_LAG), ("progress", STREAM_PROGRESS))
    matchers, width = table_matchers(name), window_s(step_s)
    return str(
        Union(
            tuple(
                LabelledExpression(
                    Aggregate("max", ("query_name",), Call("last_over_time", Selector(metric, matchers, width))),
                    STAT,
                    stat,
                )
                for stat, metric in parts
            )
        )
    )


def streams_of_tables(step_s: int) -> str:
    """The query of `stream_lag`, for every stream of every table."""
    by, width = ("query_name", *_TABLE), window_s(step_s)
    lag, progress = (
        Aggregate("max", by, Call("last_over_time", Selector(metric, {}, width)))
        for metric in (STREAM_LAG, STREAM_PROGRESS)
    )
    return str(Union((LabelledExpression(lag, STAT, "lag"), LabelledExpression(progress, STAT, "progress"))))


def executors(application: str, step_s: int) -> str:
    """Executors of an application without its driver, which Spark lists among them."""
    selector = Selector(TASKS, {"application_name": application}, window_s(step_s), but=(("executor_id", "driver"),))
    return str(Aggregate("count", (), Call("last_over_time", selector)))
