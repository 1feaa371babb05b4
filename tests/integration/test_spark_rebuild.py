"""A meta table that was dropped by hand, on real Spark and Iceberg: an error with the remedy, and the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from crash_lake import HOURLY_DAYS
from exactness import Exactness
from lakes import FixedClock, Lake, path_of, rows
from limnograph.adapters.spark.housekeeping import SparkUpkeep
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.errors import SourceRejected
from limnograph.domain.failpoints import Failpoints
from limnograph.jobs.pipeline import until_settled
from limnograph.services.rollups.step import Rollups
from limnograph.settings import Settings
from limnograph.wiring import pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


class Site:
    """A table with commits, and meta tables that were filled and rolled up."""

    def __init__(self, session: SparkSession, lake: Lake, folder: Path) -> None:
        mark = uuid4().hex[:8]
        self.session, self.lake, self.folder = session, lake, folder
        self.meta, self.name = f"meta_{mark}", f"sales_{mark}.orders"
        table = lake.table(self.name)
        for _ in range(3):
            table.append(rows("eu"))
        self.exact = Exactness(lake, self.meta, HOURLY_DAYS)

    @property
    def settings(self) -> Settings:
        include = [f"shared.{self.name.split('.')[0]}.*"]
        return self.lake.settings(meta={"namespace": self.meta}, observe={"include": include})

    def work(self) -> None:
        until_settled(pipeline.passes(self.settings, self.session, failpoints=Failpoints()), lambda _line: None)
        upkeep = SparkUpkeep(self.session, lambda: self.lake.catalog, self.meta)
        Rollups(upkeep, FixedClock(SystemClock().now()), Failpoints(), HOURLY_DAYS).run()

    def rebuild(self) -> tuple[str, ...]:
        return pipeline.rebuild(self.settings, self.session, failpoints=Failpoints()).run().tables


def test_dropped_tables_are_an_error_with_a_remedy_and_are_rebuilt(
    spark: SparkSession, shared_lake: Lake, tmp_path: Path
) -> None:
    site = Site(spark, shared_lake, tmp_path)
    site.work()
    passes = pipeline.passes(site.settings, spark, failpoints=Failpoints())
    passes.run()
    shared_lake.catalog.drop_table(f"{site.meta}.snapshots")
    for made in (passes, pipeline.passes(site.settings, spark, failpoints=Failpoints())):
        with pytest.raises(SourceRejected, match=rf"{site.meta}\.snapshots is missing .*--rebuild"):
            made.run()
    assert site.rebuild() == ("snapshots",)
    shared_lake.load(site.name).append(rows("us"))
    site.work()
    assert site.exact.wrong(site.name) == []
    path_of(shared_lake.load(f"{site.meta}.changes").metadata_location).unlink()
    shared_lake.catalog.drop_table(f"{site.meta}.snapshots_daily")
    with pytest.raises(SourceRejected, match="--rebuild"):
        pipeline.passes(site.settings, spark, failpoints=Failpoints()).run()
    assert site.rebuild() == ("changes", "snapshots_daily")
    site.work()
    assert site.exact.wrong(site.name) == []
    assert site.rebuild() == ()
