"""The meta store with metrics of appends: attempts by result, rows, and the delay of the latest commit."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.catalog import Catalog
from pyspark.sql import SparkSession

from limnograph.adapters.spark.store import SparkMetaStore
from limnograph.domain.errors import Conflict, LimnographError
from limnograph.domain.facts.meta_tables import SNAPSHOTS, MetaTable
from limnograph.domain.metrics import pipeline as metrics
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.ports.clock import Clock
from limnograph.ports.meter import Meter


class MeteredStore(SparkMetaStore):
    """A SparkMetaStore that reports its appends to the meter."""

    def __init__(
        self, session: SparkSession, open_catalog: Callable[[], Catalog], namespace: str, meter: Meter, clock: Clock
    ) -> None:
        super().__init__(session, open_catalog, namespace)
        self._meter, self._clock = meter, clock
        self._newest = 0

    def append(self, table: MetaTable, rows: pa.Table, head: int | None, run_id: str) -> None:
        try:
            super().append(table, rows, head, run_id)
        except LimnographError as error:
            lost = isinstance(error, Conflict)
            self._meter.add(metrics.APPENDS, 1, table.name, "conflict" if lost else "failed")
            raise
        self._meter.add(metrics.APPENDS, 1, table.name, "ok")
        self._meter.add(metrics.ROWS, rows.num_rows, table.name)
        if table is SNAPSHOTS:
            self._tell_newest(rows)

    def _tell_newest(self, rows: pa.Table) -> None:
        newest = pc.max(rows.column("committed_at").cast(pa.int64())).as_py()
        if newest is None:
            return
        self._newest = max(self._newest, newest)
        self._meter.put(metrics.NEWEST_COMMIT, self._newest / MICROS_PER_SECOND)
        self._meter.put(metrics.LAG, (self._clock.now() - newest) / MICROS_PER_SECOND)
