"""A commit that happened and whose answer was lost, on real Spark and Iceberg: nothing twice, nothing out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import polars as pl
import pyarrow as pa
import pytest

from exactness import Exactness
from lakes import FixedClock, Lake, rows
from limnograph.adapters.meta.schema import arrow_table
from limnograph.adapters.spark.housekeeping import SparkUpkeep
from limnograph.adapters.spark.store import SparkMetaStore
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import RunFact
from limnograph.domain.facts.meta_tables import CHANGES, RUNS, SNAPSHOTS, MetaTable
from limnograph.domain.failpoints import Failpoints
from limnograph.services.pipeline.appending import MetaAppender
from limnograph.services.rollups.step import Rollups
from memory_meta import local_passes, run_all

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


class Answers:
    """Loses the first answer about each thing."""

    def __init__(self) -> None:
        self.lost: list[str] = []

    def lose(self, what: str) -> None:
        if what not in self.lost:
            self.lost.append(what)
            raise SourceUnavailable("meta store", "the connection broke after the commit")


class ForgetfulStore(SparkMetaStore):
    """Commits, and says that it does not know."""

    def __init__(self, *place: Any) -> None:
        super().__init__(*place)
        self.answers = Answers()

    def append(self, table: MetaTable, rows: pa.Table, head: int | None, run_id: str) -> None:
        super().append(table, rows, head, run_id)
        self.answers.lose(f"append {table.name}")

    def replace(self, rows: pa.Table) -> None:
        super().replace(rows)
        self.answers.lose("replace")


class ForgetfulUpkeep(SparkUpkeep):
    """The same for roll-ups."""

    def __init__(self, *place: Any) -> None:
        super().__init__(*place)
        self.answers = Answers()

    def merge(self, table: MetaTable, rows: pl.DataFrame) -> None:
        super().merge(table, rows)
        self.answers.lose(f"merge {table.name}")

    def set_properties(self, table: MetaTable, properties: Any) -> None:
        super().set_properties(table, properties)
        self.answers.lose("set_properties")


def test_every_kind_of_commit_survives_the_loss_of_its_reply(spark: SparkSession, shared_lake: Lake) -> None:
    mark = uuid4().hex[:8]
    name = f"sales_{mark}.orders"
    table = shared_lake.table(name)
    for _ in range(3):
        table.append(rows("eu"))
    place = (spark, lambda: shared_lake.catalog, f"meta_{mark}")
    store = ForgetfulStore(*place)
    sections = {"meta": {"namespace": f"meta_{mark}"}, "observe": {"include": [f"shared.sales_{mark}.*"]}}
    passes: Any = local_passes(shared_lake, store, clock=FixedClock(_now()), **sections)  # type: ignore[arg-type]
    run_all(passes)
    appending = MetaAppender(store, lambda found: arrow_table(CHANGES, found))
    runs = [RunFact(run_id=f"r{number}", status="ok", at=_now()) for number in range(3)]
    assert appending.events(RUNS, arrow_table(RUNS, runs), "run") in {0, 3}
    exact = Exactness(shared_lake, f"meta_{mark}")
    appending.repair(exact.rows(SNAPSHOTS).select(arrow_table(SNAPSHOTS, []).column_names))
    assert store.answers.lost == [
        "append changes",
        "append column_stats",
        "append snapshots",
        "append runs",
        "replace",
    ]
    upkeep = ForgetfulUpkeep(*place)
    for _ in range(4):
        try:
            Rollups(upkeep, FixedClock(_now()), Failpoints(), 400).run()
            break
        except SourceUnavailable:
            continue
    assert upkeep.answers.lost == ["merge snapshots_hourly", "merge snapshots_daily", "set_properties"]
    assert exact.wrong(name) == []


def _now() -> int:
    return time.time_ns() // 1000
