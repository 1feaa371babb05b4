"""Hostile tables inside Spark's own Python workers: the job ends well, with all rows of all others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hostile_parser import COMMAND
from lakes import Lake, due_of, rows
from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.domain.metadata.due import DueTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
ODD = {"odd_segfault": "parser_crashed", "odd_native_loop": "deadline_exceeded", "odd_two_gigabytes": "memory_exceeded"}


def due(lake: Lake, name: str) -> DueTable:
    lake.table(f"sales.{name}").append(rows("eu"))
    return due_of(lake, name)


def test_three_of_50_tables_crash_their_reader_and_47_are_read(spark: SparkSession, tmp_path: Path) -> None:
    from limnograph.adapters.spark.extraction import SparkExtraction

    lake = Lake(tmp_path)
    tables = [due(lake, name) for name in (*ODD, *(f"t{number}" for number in range(47)))]
    access = StorageAccess({"lake": lake.properties}, deadline_seconds=10.0, command=COMMAND)
    found = SparkExtraction(spark, lambda: access).run(tables).rows.select(["table", "status", "problems"]).to_pylist()
    assert len(found) == 50
    assert {row["table"]: row["problems"] for row in found if row["status"] == "unreadable"} == {
        name: [code] for name, code in ODD.items()
    }
    assert sum(row["status"] == "ok" for row in found) == 47
