"""For `job_run`: the bytes that a run of a PySpark job read, as the input metrics of Spark's stages count them.

A job tag (Spark 3.5 or later) marks the Spark jobs of a run. When the run has ended, the driver's status store has
their stages. Reading it starts no Spark job, needs no UI, and takes one or two milliseconds per Spark job.

Spark misses bytes that a reader fetches past its counters, as Iceberg 1.11.0 does with most of a Parquet file
(apache/iceberg#17208). Nothing in its metrics tells such a count from a complete one.
"""

from __future__ import annotations

import logging
from typing import Any

PREFIX = "limnograph-"
WAIT_MS = 500
"""How long Spark's listeners may take to process the last events of a run, in milliseconds."""
_ENDED = {"SUCCEEDED", "FAILED"}
_FINAL = {"COMPLETE", "FAILED", "SKIPPED"}
_log = logging.getLogger("limnograph.spark_metrics")


class ReadMeter:
    """Measures one run in the thread that creates it. `context`: the SparkContext. No method raises: measuring never
    fails the job.
    """

    def __init__(self, context: Any, run_id: str) -> None:
        self._context, self._tag = context, PREFIX + run_id
        self._first: int | None = None
        try:
            first = _next_job(context)
            context.addJobTag(self._tag)
            self._first = first
        except Exception as error:  # noqa: BLE001
            _unknown(error)

    def finish(self) -> int | None:
        """Bytes read by the Spark jobs that the run started. None if they are unknown: Spark counted none, counted only
        a part, no longer has a stage, or another thread without the run's tag started a job at the same time.
        """
        if self._first is None:
            return None
        try:
            self._context.removeJobTag(self._tag)
            return self._sum(self._first)
        except Exception as error:  # noqa: BLE001
            _unknown(error)
            return None

    def _sum(self, first: int) -> int | None:
        spark = self._context._jsc.sc()  # noqa: SLF001  # PySpark has no status store of its own
        # The status store follows events, and the last ones may arrive after the action has returned.
        spark.listenerBus().waitUntilEmpty(WAIT_MS)
        store = spark.statusStore()
        stages: set[int] = set()
        for number in range(first, _next_job(self._context)):
            job = store.job(number)
            tags = job.jobTags().mkString("\n").split("\n")
            if self._tag not in tags:
                if any(tag.startswith(PREFIX) for tag in tags):
                    continue  # a job of another run
                return None
            if job.status().name() not in _ENDED:
                return None
            stages.update(map(int, filter(None, job.stageIds().mkString(",").split(","))))
        return _bytes_of(store, stages)


def _bytes_of(store: Any, stages: set[int]) -> int | None:
    """Sum over all attempts of the stages; None if a stage was evicted or is not final, or if its bytes are unknown."""
    # Py4J knows no default arguments: details, status of the tasks, summaries, quantiles.
    rest = (False, getattr(store, "stageData$default$3")(), False, getattr(store, "stageData$default$5")())
    total = 0
    for stage in stages:
        attempts = store.stageData(stage, *rest)
        if attempts.isEmpty():
            return None
        for place in range(attempts.size()):
            attempt = attempts.apply(place)
            read = attempt.inputBytes()
            if attempt.status().name() not in _FINAL:
                return None
            # Spark counts the rows of every source, but bytes only where a source reports them: JDBC does not, for
            # example. A sum without them would be too low.
            if not read and attempt.inputRecords():
                return None
            total += read
    return total or None


def _next_job(context: Any) -> int:
    """The id that the next Spark job will have."""
    return int(context._jsc.sc().dagScheduler().numTotalJobs())  # noqa: SLF001


def _unknown(error: Exception) -> None:
    _log.info("the bytes that the run read are not known: %s", type(error).__name__)
