"""The embedded engine over meta tables that Spark wrote: day partitions, maps and structs, planned by PyIceberg."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import polars as pl
import pytest
from msgspec.structs import replace

from lakes import Lake
from limnograph.adapters.embedded.engine import EmbeddedEngine
from limnograph.adapters.embedded.fresh import FreshEngine
from limnograph.adapters.iceberg.catalogs.catalog import open_catalog
from limnograph.adapters.meta.schema import arrow_table
from limnograph.adapters.spark.store import SparkMetaStore
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS, PartitionFact
from limnograph.ports.query_engine import MetaQuery
from limnograph.services.lake.loading import change_facts, load, snapshot_facts
from limnograph.services.lake.store import HotStore
from serving_kit import BIG, HOUR, MINUTE, NOW, UUID, FixedClock, moved, row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROWS = [
    row(1, NOW - 50 * HOUR, None, partitions=[PartitionFact(partition="day=1", data_files=3)], file_size_histogram=[1]),
    row(7, NOW - 2 * HOUR, 3, table_uuid="other", table="other"),
    row(BIG, NOW - HOUR, 12, summary={"operation": "append", "x": "ü"}, refs=["main"], skew_cv=0.25, parent_id=1),
]
LOG = [moved(1, NOW - 50 * HOUR), moved(BIG, NOW - HOUR)]


def test_facts_written_by_spark_are_read_back_through_polars(spark: SparkSession, shared_lake: Lake) -> None:
    namespace = f"meta_{uuid4().hex[:8]}"
    engine = EmbeddedEngine(lambda: open_catalog("shared", shared_lake.properties), (namespace,))
    assert engine.head().snapshots is None
    store = SparkMetaStore(spark, lambda: open_catalog("shared", shared_lake.properties, write=True), namespace)
    store.ensure()
    assert engine.select(MetaQuery(table="snapshots")).is_empty()
    store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, ROWS[:1]), store.head(SNAPSHOTS), "run-1")
    store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, ROWS[1:]), store.head(SNAPSHOTS), "run-2")
    store.append(CHANGES, arrow_table(CHANGES, LOG), store.head(CHANGES), "run-2")
    assert engine.head().snapshots == store.head(SNAPSHOTS)
    assert engine.head().run_id == "run-2"
    assert snapshot_facts(engine.select(MetaQuery(table="snapshots"))) == ROWS
    assert change_facts(engine.select(MetaQuery(table="changes"))) == LOG
    recent = engine.select(MetaQuery(table="snapshots", start=NOW - 24 * HOUR, table_uuids=(UUID,)))
    assert recent["snapshot_id"].to_list() == [BIG]
    loaded = load(engine, NOW - 48 * HOUR).tables.values()
    assert {snapshot_id for table in loaded for snapshot_id in table.rows.values("snapshot_id")} == {1, 7, BIG}


def test_a_repair_reaches_the_hot_index_without_a_new_read_of_the_window(
    spark: SparkSession, shared_lake: Lake
) -> None:
    namespace = f"meta_{uuid4().hex[:8]}"
    store = SparkMetaStore(spark, lambda: open_catalog("shared", shared_lake.properties, write=True), namespace)
    store.ensure()
    observed = {"observed_at": NOW - MINUTE, "run_id": "run-1", "source": "poll"}
    rows = [row(number, NOW - number * HOUR, 3, tier="manifest_list", status="ok", **observed) for number in (1, 2, 30)]
    store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, rows), store.head(SNAPSHOTS), "run-1")
    engine = CountedFresh(lambda: open_catalog("shared", shared_lake.properties), (namespace,))
    store.append(CHANGES, arrow_table(CHANGES, [moved(1, NOW - HOUR)]), store.head(CHANGES), "run-1")
    hot = HotStore(engine, FixedClock(), fresh=engine)
    hot.refresh()
    watermark, whole = hot.watermark, engine.whole
    repaired = {"tier": "entries", "observed_at": NOW, "run_id": "repair", "source": "backfill", "file_size_p50": 4_096}
    store.replace(arrow_table(SNAPSHOTS, [replace(rows[1], **repaired)]))
    assert hot.refresh()
    history = hot.reading.lake.histories[UUID]
    told = {fact.snapshot_id: fact.file_size_p50 for fact in history.between(0, NOW)}
    assert told == {30: None, 2: 4_096, 1: None}
    assert hot.watermark == watermark
    assert engine.whole == whole


class CountedFresh(FreshEngine):
    """Counts the reads of whole windows."""

    whole = 0

    def unordered(self, query: MetaQuery) -> pl.DataFrame:
        self.whole += 1
        return super().unordered(query)
