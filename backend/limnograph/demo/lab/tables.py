"""Creates and fills the tables of the laboratory, once per lake."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VISITS, SORTED, STOCK, COPY, ARCHIVE, BACKLOG = (
    f"lake.lab.{name}" for name in ("visits", "visits_sorted", "stock", "visits_stream", "archive", "backlog")
)
"""Visits as they arrive, and sorted by customer; a table with two writers; what a stream copies from the visits; visits
in many small files that no job writes, so that its next action can be pasted at any time; the same for the maintainer.
"""
CUSTOMERS, FILES, ROWS, SMALL_FILES = 4_000, 16, 40_000, 30
_VISITS = "id bigint, event_time timestamp, customer bigint, kind string, amount double"
_TIDY = (
    "'write.metadata.delete-after-commit.enabled'='true', 'write.metadata.previous-versions-max'='100',"
    " 'commit.retry.num-retries'='20', 'commit.retry.max-wait-ms'='300', 'write.distribution-mode'='none'"
)


def prepare(spark: SparkSession) -> None:
    """Create what is missing. A table that was created but not filled is filled."""
    spark.sql("create namespace if not exists lake.lab")
    for table in (VISITS, SORTED, COPY):
        _create(spark, table, _VISITS, "days(event_time)")
    _create(spark, STOCK, "id bigint, shelf string, price double", "")
    _create(spark, ARCHIVE, _VISITS, "")
    # The names in these statements are our own.
    if _is_empty(spark, VISITS):
        spark.sql(f"insert into {VISITS} select /*+ repartition({FILES}) */ * from ({_yesterdays(ROWS)})")  # noqa: S608
    if _is_empty(spark, SORTED):
        spark.sql(f"alter table {SORTED} write locally ordered by customer")
        spark.sql(f"insert into {SORTED} select /*+ repartition_by_range({FILES}, customer) */ * from {VISITS}")  # noqa: S608
    if _is_empty(spark, ARCHIVE):
        spark.sql(f"insert into {ARCHIVE} select /*+ repartition({SMALL_FILES}) */ * from {VISITS}")  # noqa: S608
    if _is_empty(spark, STOCK):
        spark.sql(f"insert into {STOCK} select id, concat('s', id % 7), 10.0 from range(500)")  # noqa: S608


def fill_backlog(spark: SparkSession) -> None:
    """Add small files to the table of the maintainer, so that it has something to do."""
    spark.sql("create namespace if not exists lake.lab")
    _create(spark, BACKLOG, _VISITS, "")
    rows = _yesterdays(SMALL_FILES * 10)
    spark.sql(f"insert into {BACKLOG} select /*+ repartition({SMALL_FILES}) */ * from ({rows})")  # noqa: S608


def visits(rows: int, amount: str = "round(rand() * 90, 2)", at: str = "now()") -> str:
    """SQL that makes visits. `amount`, `at`: SQL of these columns."""
    # Not `from range(…)`: Spark counts its rows as input without bytes.
    return (
        f"select unix_micros(now()) + id as id, {at} as event_time, cast(rand() * {CUSTOMERS} as bigint) as customer,"  # noqa: S608 - our own texts
        f" element_at(array('click', 'view', 'order'), cast(1 + rand() * 3 as int)) as kind, {amount} as amount"
        f" from (select explode(sequence(0, {rows - 1})) as id)"
    )


def _yesterdays(rows: int) -> str:
    return visits(rows, at="now() - interval 1 day")


def _create(spark: SparkSession, table: str, columns: str, partitioned_by: str) -> None:
    by = f"partitioned by ({partitioned_by})" if partitioned_by else ""
    spark.sql(f"create table if not exists {table} ({columns}) using iceberg {by} tblproperties ({_TIDY})")


def _is_empty(spark: SparkSession, table: str) -> bool:
    return bool(spark.sql(f"select 1 from {table}.refs").isEmpty())  # noqa: S608
