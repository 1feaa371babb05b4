"""From a finding to its repair: the advised statement is pasted into Spark, and the finding is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lakes import Lake
from limnograph.domain.advice.document import AdvisedTable, Recommendation
from limnograph.domain.advice.prices import Prices
from limnograph.domain.ids import TableName
from limnograph.domain.time import Millis
from limnograph.wiring.locations.advise import advise_location

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
DAY_MS = 86_400_000
MERGE_ON_READ = "'write.delete.mode'='merge-on-read', 'limnograph.erasure-days'='1'"


class AdvisedRepair:
    """A table of the shared session, and what `limnograph advise` says of it some days after its last commit."""

    def __init__(self, spark: SparkSession, lake: Lake, name: str, properties: str) -> None:
        self.spark, self.lake, self.name = spark, lake, f"repairs.{name}"
        spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.repairs")
        spark.sql(
            f"CREATE TABLE shared.{self.name} (id BIGINT, region STRING) USING iceberg TBLPROPERTIES ({properties})"
        )

    def sql(self, text: str) -> None:
        self.spark.sql(text.format(t=f"shared.{self.name}")).collect()

    def advised(self, days: float) -> AdvisedTable:
        table = self.lake.load(self.name)
        at = Millis(table.metadata.last_updated_ms + round(days * DAY_MS))
        name = TableName("shared", "repairs", self.name.rpartition(".")[2])
        return advise_location(table.location(), None, {}, at, Prices(), name=name).advice.tables[0]

    def paste(self, plan: Recommendation) -> None:
        """Run its statement as it is."""
        assert plan.statements.spark is not None
        self.spark.sql(plan.statements.spark.rstrip(";")).collect()

    def rows(self) -> list[int]:
        return sorted(row.id for row in self.spark.table(f"shared.{self.name}").collect())


def codes(table: AdvisedTable) -> set[str]:
    return {each.code for each in table.findings}


def plan_for(table: AdvisedTable, code: str) -> Recommendation:
    (plan,) = [each for each in table.recommendations if code in each.because]
    return plan


def test_small_files_are_compacted_by_the_pasted_statement(spark: SparkSession, shared_lake: Lake) -> None:
    table = AdvisedRepair(spark, shared_lake, "burst", "'format-version'='2'")
    table.sql("INSERT INTO {t} SELECT /*+ REPARTITION(40) */ id, 'eu' FROM range(4000)")
    found, rows = table.advised(1), table.rows()
    plan = plan_for(found, "small_files")
    assert (plan.predicted.files_in, plan.predicted.files_out) == (40, 1)
    table.paste(plan)
    after = table.advised(1)
    assert "small_files" not in codes(after)
    assert after.recommendations == []
    assert table.rows() == rows


def test_a_promised_erasure_is_kept_by_the_pasted_statement(spark: SparkSession, shared_lake: Lake) -> None:
    """One row of a lone file of the right size, of which Spark by default rewrites nothing."""
    table = AdvisedRepair(spark, shared_lake, "erased", f"'format-version'='2', {MERGE_ON_READ}")
    table.sql("INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'eu' FROM range(4000)")
    table.sql("DELETE FROM {t} WHERE id = 7")
    table.sql("INSERT INTO {t} VALUES (4000, 'us')")
    found = table.advised(2)
    assert "deletes_not_materialized" in codes(found)
    table.paste(plan_for(found, "deletes_not_materialized"))
    assert spark.table(f"shared.{table.name}.delete_files").count() == 0
    assert "deletes_not_materialized" not in codes(table.advised(2))
    assert table.rows() == [id_ for id_ in range(4_001) if id_ != 7]
