"""For your structured streams: exposes to Prometheus how long a batch takes from its checkpoint to its commit, and when
a query failed.

    from limnograph.spark_metrics import start_exposition
    from limnograph.spark_streams import measure_streams

    start_exposition(9108)
    measure_streams(spark, {"orders": ["lake.sales.orders"]})     # query name -> tables that it writes
    frame.writeStream.queryName("orders").toTable("lake.sales.orders")

Spark writes the offsets of a batch to its checkpoint when the batch begins, and notifies listeners when it has ended.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from prometheus_client import Gauge

from limnograph.spark_metrics import REGISTRY, TableUse

LABELS = ("catalog", "table_namespace", "table", "query_name")
LAG = Gauge(
    "spark_stream_commit_lag_seconds", "From the checkpoint of the last batch to its commit.", LABELS, registry=REGISTRY
)
PROGRESS = Gauge(
    "spark_stream_last_progress_timestamp_seconds",
    "When the last batch ended, or the stream was last seen to have nothing to do; epoch seconds.",
    LABELS,
    registry=REGISTRY,
)
FAILED = Gauge(
    "spark_stream_last_failure_timestamp_seconds",
    "When the stream last ended with an error, while none of its batches has ended since; epoch seconds.",
    LABELS,
    registry=REGISTRY,
)
_log = logging.getLogger("limnograph.spark_metrics")


class StreamMeter:
    """Metrics of the streams of one session. `writes`: tables (`catalog.namespace.table`) by query name; other queries
    are not measured. Raises ValueError for a table of another form.
    """

    def __init__(self, writes: Mapping[str, Iterable[str]]) -> None:
        self._labels: dict[str, list[dict[str, str]]] = {}
        self._names: dict[str, str] = {}
        for query, tables in writes.items():
            named = [tables] if isinstance(tables, str) else list(tables)
            if bad := [table for table in named if table.count(".") < 2 or not all(table.split("."))]:
                raise ValueError(f"{query}: {bad[0]!r} is not a table; write catalog.namespace.table")
            self._labels[query] = [{**TableUse(table, "writes").labels, "query_name": query} for table in named]

    def started(self, query_id: str, name: str | None) -> None:
        """A query has started; later events contain only its id."""
        if name is not None:
            self._names[query_id] = name

    def batch(self, name: str | None, began_at: float, seconds: float) -> None:
        """A batch that was checkpointed at `began_at` (epoch seconds) has ended `seconds` later."""
        for labels in self._labels.get(name or "", ()):
            LAG.labels(**labels).set(seconds)
            PROGRESS.labels(**labels).set(began_at + seconds)
            _remove(FAILED, labels)

    def idle(self, query_id: str, at: float) -> None:
        """The query had nothing to do at an instant, so its lag is 0."""
        self.batch(self._names.get(query_id), at, 0.0)

    def stopped(self, query_id: str, failed_at: float | None = None) -> None:
        """A query has ended; its lag is no longer exposed. `failed_at`: with an error then (epoch seconds)."""
        for labels in self._labels.get(self._names.pop(query_id, ""), ()):
            for gauge in (LAG, PROGRESS):
                _remove(gauge, labels)
            if failed_at is not None:
                FAILED.labels(**labels).set(failed_at)


def measure_streams(spark: Any, writes: Mapping[str, Iterable[str]]) -> Any:
    """Start to measure the named queries of a session. Returns the listener, for `spark.streams.removeListener`."""
    found = listener(StreamMeter(writes))
    spark.streams.addListener(found)
    return found


def listener(meter: StreamMeter) -> Any:
    """A `StreamingQueryListener` that reports to the meter. Its errors are logged and never end the job."""
    from pyspark.sql.streaming.listener import StreamingQueryListener

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None:  # noqa: N802  # Spark's names
            _safely(lambda: meter.started(str(event.id), event.name))

        def onQueryProgress(self, event: Any) -> None:  # noqa: N802
            told = event.progress
            milliseconds = told.durationMs.get("triggerExecution", 0)
            _safely(lambda: meter.batch(told.name, _epoch(told.timestamp), milliseconds / 1000))

        def onQueryIdle(self, event: Any) -> None:  # noqa: N802
            _safely(lambda: meter.idle(str(event.id), _epoch(event.timestamp)))

        def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
            failed_at = None if event.exception is None else time.time()
            _safely(lambda: meter.stopped(str(event.id), failed_at))

    return Listener()


def _remove(gauge: Gauge, labels: Mapping[str, str]) -> None:
    """Expose a series no longer, if it is exposed."""
    with contextlib.suppress(KeyError):
        gauge.remove(*labels.values())


def _epoch(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _safely(act: Any) -> None:
    try:
        act()
    except Exception as error:  # noqa: BLE001  # measuring never ends the job
        _log.warning("a stream could not be measured: %s", error)
