"""Reports of a stream's batches to Limnograph, and the time that a batch waits for them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lakehouse.parts.lake import Lake
from limnograph.spark_metrics import JobRun, job_run


class BatchReports:
    """Used by the thread of a query. `server`: Limnograph; None: nothing is reported."""

    def __init__(self, server: str | None) -> None:
        self._server = server
        self.seconds = 0.0
        """How long batches have waited so far."""

    @contextmanager
    def run(self, name: str, writes: Sequence[str], spark: Any) -> Iterator[JobRun | None]:
        """The block is a run that Limnograph sees."""
        if self._server is None:
            yield None
            return
        begun = time.perf_counter()
        try:
            with job_run(name, writes=writes, server=self._server, spark=spark) as run:
                self.seconds += time.perf_counter() - begun
                try:
                    yield run
                finally:
                    begun = time.perf_counter()
        finally:
            self.seconds += time.perf_counter() - begun

    def wrote(self, run: JobRun | None, lake: Lake, table: str) -> None:
        """The run has committed to a table: name the snapshot."""
        if run is None:
            return
        begun = time.perf_counter()
        # PyIceberg parses the whole metadata in Python, while the batch waits.
        jvm = lake.spark._jvm  # noqa: SLF001 - PySpark has no other way to Iceberg's table
        kept = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(lake.spark._jsparkSession, table)  # noqa: SLF001
        run.wrote(table, kept.currentSnapshot().snapshotId())
        self.seconds += time.perf_counter() - begun
