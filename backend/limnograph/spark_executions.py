"""For `job_run`: reads what Iceberg posts to Spark's SQL status store about the executions of a run. No catalog reports
it, so that it is known on all of them (docs/adr/0042-reads-of-spark.md).

Reading takes about 3 ms per execution that touches an Iceberg table. It happens every few seconds, because Spark keeps
only the latest executions, and once more at the end of the run, and never takes more than SHARE of the run's time.
"""

from __future__ import annotations

import gzip
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from limnograph.spark_batches import StreamBatches, batch_of
from limnograph.spark_plans import ALONE, MARK, Execution, PlannedScan, scans_and_commits
from limnograph.spark_reads import PREFIX, WAIT_MS

PERIOD_SECONDS = 5.0
SHARE, FREE_SECONDS = 0.01, 0.25
"""Reading may take this share of the run's time so far, and this long in any case. What is left waits for the next
time; at the end of the run it is given up.
"""
MOST_OPEN = 1_000
"""Executions that have not ended and are looked at again; beyond it the oldest are forgotten."""
_SEPARATOR = "\x1f"
_log = logging.getLogger("limnograph.spark_metrics")
_columns: dict[tuple[str, str], Sequence[str] | None] = {}
_active: set[str] = set()
_lock = threading.Lock()
Report = Callable[[list[dict[str, Any]]], None]


class ExecutionWatch:
    """Watches the executions of one run, from its creation to `finish`. `spark`: the SparkSession; `report` receives
    reports as they are found. No method raises: measuring never fails the job. Thread-safe: guarded by `_reading`.

    An execution belongs to the run if its Spark jobs have the run's tag (`spark_reads.py`), or if it started no job and
    no other run is active in this process.
    """

    def __init__(self, spark: Any, run_id: str, report: Report) -> None:
        self._spark, self._tag, self._report = spark, PREFIX + run_id, report
        self._reading = threading.Lock()
        self._ended = threading.Event()
        self._began = time.perf_counter()
        self._open: list[int] = []
        self._snapshots: dict[str, set[int | None]] = {}
        self._streamed: dict[str, int | None] = {}
        self.seconds = 0.0
        """How long reading has taken so far."""
        with _lock:
            _active.add(self._tag)
        try:
            self._store = spark._jsparkSession.sharedState().statusStore()  # noqa: SLF001
            self._serializer = getattr(spark._jvm.org.apache.spark.status, "KVUtils$KVStoreScalaSerializer")()  # noqa: SLF001
            self._next = self._newest() + 1
            self._batches = StreamBatches(spark)
        except Exception as error:  # noqa: BLE001
            _unknown(error)
            self._store = None
            return
        threading.Thread(target=self._work, name="limnograph-scans", daemon=True).start()

    def finish(self) -> dict[str, int]:
        """Read the rest. Returns the snapshot of main that the run read, by table, where it read only one; of a table
        that only a stream read, the last one.
        """
        self._ended.set()
        with _lock:
            _active.discard(self._tag)
            alone = not _active
        if self._store is not None:
            self._read(alone=alone)
            if self._open:
                _log.info("%d Spark SQL executions were not read: reading took its share of the run", len(self._open))
        found = {table: next(iter(each)) for table, each in self._snapshots.items() if len(each) == 1}
        found |= {table: each for table, each in self._streamed.items() if table not in self._snapshots}
        return {table: snapshot for table, snapshot in found.items() if snapshot is not None}

    def _work(self) -> None:
        while not self._ended.wait(PERIOD_SECONDS):
            with _lock:
                alone = _active == {self._tag}
            self._read(alone=alone)

    def _read(self, *, alone: bool) -> None:
        with self._reading:
            begin = time.perf_counter()
            try:
                until = begin + FREE_SECONDS + SHARE * (begin - self._began) - self.seconds
                reports = [report for execution in self._new(until, alone=alone) for report in self._told(execution)]
                if reports:
                    self._report(reports)
            except Exception as error:  # noqa: BLE001
                _unknown(error)
            self.seconds += time.perf_counter() - begin

    def _told(self, execution: Execution) -> list[dict[str, Any]]:
        scans, reports = scans_and_commits(execution, self._columns)
        for scan in scans:
            self._remember(scan)
        return reports

    def _remember(self, scan: PlannedScan) -> None:
        if scan.on_main and scan.streaming:
            self._streamed[scan.table] = scan.snapshot
        elif scan.on_main:
            self._snapshots.setdefault(scan.table, set()).add(scan.snapshot)

    def _new(self, until: float, *, alone: bool) -> Iterator[Execution]:
        """Executions of the run that ended since the last call; once it is `until`, the others wait."""
        spark = self._spark._jsparkSession.sparkContext()  # noqa: SLF001
        # The status store follows events, and the last ones may arrive after the action has returned.
        spark.listenerBus().waitUntilEmpty(WAIT_MS)
        newest = self._newest()
        looked = False
        waiting = [*self._open, *range(self._next, newest + 1)][-MOST_OPEN:]
        self._open, self._next = [], newest + 1
        for place, number in enumerate(waiting):
            if time.perf_counter() >= until:
                self._open += waiting[place:]
                return
            found = self._store.execution(number)
            if not found.isDefined():
                continue
            execution = found.get()
            completed, error = execution.completionTime(), execution.errorMessage()
            if not completed.isDefined() or not error.isDefined():
                self._open.append(number)
            elif self._is_mine(spark, execution, alone=alone):
                times = completed.get().getTime(), error.get(), execution.submissionTime()
                if (mine := self._execution(number, *times)) is None:
                    continue
                batch = batch_of(execution.description())
                if batch is not None and not looked:
                    self._batches.look()
                    looked = True
                if batch is not None and self._batches.is_awaited(batch) and not self._ended.is_set():
                    self._open.append(number)
                    continue
                read_to = self._batches.snapshot(batch) if batch else None
                yield replace(mine, of_stream=batch is not None, read_to=read_to)

    def _is_mine(self, spark: Any, execution: Any, *, alone: bool) -> bool:
        jobs = execution.jobs().keySet()
        if jobs.isEmpty():
            return alone
        return self._tag in spark.statusStore().job(jobs.head()).jobTags().mkString(_SEPARATOR).split(_SEPARATOR)

    def _execution(self, number: int, completed: int, error: str, submitted: int) -> Execution | None:
        """None if it touches no Iceberg table."""
        text = self._json(self._store.planGraph(number))
        nodes = json.loads(text)["nodes"]
        if MARK not in text and not any(node["name"] in ALONE for node in nodes):
            return None
        values = json.loads(self._json(self._store.executionMetrics(number)))
        return Execution(number, submitted, completed, error, nodes, {int(key): value for key, value in values.items()})

    def _json(self, value: Any) -> str:
        """A value of Spark as JSON. One call, and compressed: Py4J takes 40 ms for more than 8 KB of text."""
        return gzip.decompress(bytes(self._serializer.serialize(value))).decode()

    def _newest(self) -> int:
        """Id of the newest execution; -1 without any."""
        count = self._store.executionsCount()
        if not count:
            return -1
        newest = self._store.executionsList(count - 1, 1)
        return -1 if newest.isEmpty() else int(newest.head().executionId())

    def _columns(self, table: str, schema_id: str) -> Sequence[str] | None:
        """Names of a table's columns, nested ones included; read once in this process, from Spark's own catalog."""
        key = (table, schema_id)
        if key not in _columns:
            try:
                jvm = self._spark._jvm.org.apache.iceberg  # noqa: SLF001
                quoted = ".".join(f"`{level.replace('`', '``')}`" for level in table.split("."))
                found = jvm.spark.Spark3Util.loadIcebergTable(self._spark._jsparkSession, quoted)  # noqa: SLF001
                _columns[key] = sorted(jvm.types.TypeUtil.indexByName(found.schema().asStruct()).keySet())
            except Exception as error:  # noqa: BLE001
                _unknown(error)
                _columns[key] = None
        return _columns[key]


def _unknown(error: Exception) -> None:
    _log.info("what Spark knows about scans was not read: %s", type(error).__name__)
