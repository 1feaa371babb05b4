"""The MERGE of changes into silver, by a real Spark: a repeated or a late batch changes nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lakehouse.silver.masks import ORDERS
from lakehouse.silver.merge import merge_statement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
TARGET = "shared.lakehouse.orders"
SCHEMA = "key string, op string, lsn bigint, before string, after string"


def change(order: int, op: str, lsn: int, status: str = "new") -> tuple[object, ...]:
    row = {"id": str(order), "customer_id": "1", "total_cents": "5", "status": status, "updated_at": "2026-05-01 10:00"}
    image = json.dumps(row)
    return (json.dumps({"id": order}), op, lsn, image if op == "d" else None, None if op == "d" else image)


def merged(spark: SparkSession, *changes: tuple[object, ...]) -> list[tuple[object, ...]]:
    spark.createDataFrame(list(changes), SCHEMA).createOrReplaceTempView("lakehouse_changes")
    spark.sql(merge_statement(TARGET, ORDERS, "lakehouse_changes"))
    rows = spark.sql(f"select id, status, _lsn from {TARGET} order by id").collect()
    return [tuple(row) for row in rows]


@pytest.fixture
def target(spark: SparkSession) -> None:
    columns = ", ".join(f"{column.name} {column.type}" for column in ORDERS)
    spark.sql("create namespace if not exists shared.lakehouse")
    spark.sql(f"create or replace table {TARGET} ({columns}, _lsn bigint) using iceberg")


@pytest.mark.usefixtures("target")
def test_the_newest_position_of_a_key_wins_whatever_the_order(spark: SparkSession) -> None:
    batch = [change(1, "c", 10), change(1, "u", 12, "paid"), change(2, "c", 11), change(3, "c", 13), change(3, "d", 14)]
    expected = [(1, "paid", 12), (2, "new", 11)]
    assert merged(spark, *batch) == expected
    assert merged(spark, *reversed(batch)) == expected, "a repeated batch changes nothing"
    assert merged(spark, change(2, "u", 9, "old")) == expected, "nor does a late one"
    assert merged(spark, change(1, "d", 15)) == [(2, "new", 11)]
    assert merged(spark, *batch, change(1, "d", 15)) == [(2, "new", 11)], "all changes again: the deleted stay deleted"
