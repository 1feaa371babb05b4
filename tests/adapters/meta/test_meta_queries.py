"""The queries of `docs/cookbook.md` return the right rows of real meta tables, on every engine that the page names."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import duckdb
import pytest

import meta_examples
from lakes import Lake
from limnograph.domain.facts import change_kinds
from limnograph.domain.facts.cookbook import DUCKDB, EXAMPLES, SPARK, ExampleQuery, page
from limnograph.domain.facts.cookbook.page import DUCKDB_SETUP, POLARS
from limnograph.services.lake import expired as retained
from limnograph.services.pipeline import changes, forgotten, gaps, sightings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[3] / "docs" / "cookbook.md"
QUESTIONS = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.question)


@pytest.fixture(scope="module")
def meta(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, dict[str, str]]:
    lake = Lake(tmp_path_factory.mktemp("meta"))
    return lake, meta_examples.make(lake.catalog)


@pytest.fixture(scope="module")
def connection(meta: tuple[Lake, dict[str, str]]) -> duckdb.DuckDBPyConnection:
    """DuckDB as the page sets it up."""
    names: dict[str, Any] = {"locations": meta[1]}
    exec(DUCKDB_SETUP, names)
    found: duckdb.DuckDBPyConnection = names["connection"]
    return found


@QUESTIONS
def test_duckdb_runs_the_queries(connection: duckdb.DuckDBPyConnection, example: ExampleQuery) -> None:
    asked = connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM ({example.on(DUCKDB)})")
    columns = [column[0] for column in asked.description or ()]
    found = meta_examples.told(example.question, columns, asked.fetchall())
    expected = meta_examples.EXPECTED[example.question]
    assert found == [{k: None if v is None else str(v) for k, v in row.items()} for row in expected]


def test_duckdb_downloads_nothing(connection: duckdb.DuckDBPyConnection) -> None:
    asked = "SELECT extension_name, install_path FROM duckdb_extensions() WHERE loaded"
    loaded = dict(connection.execute(asked).fetchall())
    assert {"avro", "httpfs", "iceberg"} <= set(loaded)
    assert not [path for path in loaded.values() if path and "/.duckdb/" in path], loaded


def test_polars_runs_the_queries(meta: tuple[Lake, dict[str, str]]) -> None:
    lake, _ = meta
    opened = ", ".join(f"{name}={value!r}" for name, value in lake.properties.items())
    names: dict[str, Any] = {}
    exec(re.sub(r"load_catalog\(.*\)", f'load_catalog("lake", **dict({opened}))', POLARS), names)
    largest = names["largest"].select("table", "snapshot_id", "added_data_files").rows()
    assert largest[:2] == [("orders", meta_examples.BIG, 50_000), ("clicks", 1, 100)]


@pytest.mark.spark
@QUESTIONS
def test_spark_runs_the_queries(spark: SparkSession, spark_meta: str, example: ExampleQuery) -> None:
    asked = spark.sql(example.on(SPARK).replace("limnograph.", f"shared.{spark_meta}."))
    found = meta_examples.told(example.question, asked.columns, [tuple(row) for row in asked.collect()])
    assert found == meta_examples.EXPECTED[example.question]


@pytest.fixture(scope="module")
def spark_meta(shared_lake: Lake) -> str:
    namespace = f"meta_{uuid4().hex[:8]}"
    meta_examples.make(shared_lake.catalog, namespace)
    return namespace


def test_the_page_is_generated_from_the_queries() -> None:
    assert PAGE.read_text() == page.document()


def test_every_question_has_an_expected_answer() -> None:
    assert {example.question for example in EXAMPLES} == set(meta_examples.EXPECTED)
    assert len(EXAMPLES) >= 15


def test_every_documented_kind_is_written() -> None:
    sources = "".join(inspect.getsource(module) for module in (changes, forgotten, gaps, retained, sightings))
    for kind in change_kinds.CHANGE_KINDS:
        assert f'"{kind}"' in sources, kind
