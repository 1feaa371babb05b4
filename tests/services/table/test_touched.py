"""Predicates of what a commit wrote: as the page of a commit carries them, and as real Spark runs them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from lakes import Lake, facts
from limnograph.analysis.advice.statements.subject import StatementTable
from limnograph.analysis.advice.statements.template import blocks_of, fill
from limnograph.analysis.advice.statements.touched_rows import Predicate
from limnograph.api.docs.runbooks import runbooks
from limnograph.domain.facts.meta_tables import ChangeFact, PartitionFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import to_millis
from limnograph.services.lake.history import history_of
from limnograph.services.table.touched import touched_rows
from serving_kit import HOUR, NOW, UUID, change, lake, moved, parts, row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[3]
NAME = TableName("lake", "sales", "orders")
SCHEMA = {
    "fields": [{"id": 1, "name": "event_time", "type": "timestamptz"}, {"id": 2, "name": "region", "type": "string"}]
}
BY_DAY = {"spec-id": 0, "fields": [{"name": "event_time_day", "transform": "day", "source-id": 1}]}
RENAMED = {"fields": [{"id": 1, "name": "sold_at", "type": "timestamptz"}]}
BY_REGION = {"spec-id": 1, "fields": [{"name": "region", "transform": "identity", "source-id": 2}]}


def kept(kind: str, at: int, version: int, document: object) -> ChangeFact:
    return change(kind, at, str(version), detail=json.dumps(document))


def told(*partitions: PartitionFact, changes=(), **values):
    rows = [row(1, NOW - HOUR, 9, partitions=list(partitions), **values)]
    standing = [kept("schema", NOW - 9 * HOUR, 0, SCHEMA), kept("spec", NOW - 9 * HOUR, 0, BY_DAY)]
    made = parts(lake(rows, [*standing, *changes, moved(1, NOW - HOUR)]))
    return asyncio.run(made.backend.commit_details.detail(NAME, 1)).touched


def test_the_page_of_a_commit_has_a_predicate_of_the_tables_own_columns() -> None:
    found = told(PartitionFact(partition="event_time_day=2026-11-21", spec_id=0, added_data_files=50_000))
    assert found.spark_sql is not None
    assert found.spark_sql.startswith("`event_time` >= TIMESTAMP '2026-11-21 00:00:00+00:00'")
    assert found.note is None


def test_files_of_an_old_spec_are_selected_by_it_under_the_present_column_name() -> None:
    later = [kept("schema", NOW - 2 * HOUR, 1, RENAMED), kept("spec", NOW - 2 * HOUR, 1, BY_REGION)]
    found = told(PartitionFact(partition="event_time_day=2026-11-21", spec_id=0, added_data_files=5), changes=later)
    assert found.spark_sql is not None
    assert found.spark_sql.startswith("`sold_at` >= ")


def test_only_partitions_that_got_files_are_named() -> None:
    added = PartitionFact(partition="event_time_day=2026-11-21", spec_id=0, added_data_files=5)
    removed = PartitionFact(partition="event_time_day=2026-11-19", spec_id=0, removed_data_files=5)
    assert "2026-11-19" not in (told(added, removed).spark_sql or "")
    assert "2026-11-19" in (told(removed).spark_sql or "")


def test_a_partly_known_commit_or_another_format_has_a_reason_instead_of_a_predicate() -> None:
    one = PartitionFact(partition="event_time_day=2026-11-21", spec_id=0, added_data_files=5)
    for found in (told(one, changed_partitions=300), told(one, format="delta"), told()):
        assert found.spark_sql is None
        assert found.note


TABLES: dict[str, tuple[str, str, list[str]]] = {
    "utc_day": (
        "id BIGINT, event_time TIMESTAMP, region STRING",
        "days(event_time), region, bucket(4, id)",
        [
            "(1, TIMESTAMP '2026-11-20 23:59:59+00:00', 'eu')",
            r"(1, TIMESTAMP '2026-11-21 00:00:00+00:00', 'O\'Hare \\ \u0024{env:HOME}/%2F')",
            "(2, TIMESTAMP '2026-11-21 23:59:59.999999+00:00', NULL)",
            "(1, TIMESTAMP '2026-11-21 01:00:00+00:00', 'null')",
        ],
    ),
    "local_hour": (
        "id BIGINT, `o``clock` TIMESTAMP_NTZ, price DECIMAL(10, 2), open BOOLEAN",
        "hours(`o``clock`), price, open",
        [
            "(1, TIMESTAMP_NTZ '2026-12-31 22:59:59', 1.20, true)",
            "(2, TIMESTAMP_NTZ '2026-12-31 23:30:00', 1.20, true)",
            "(3, TIMESTAMP_NTZ '2026-12-31 23:31:00', -0.05, false)",
        ],
    ),
    "month": (
        "id BIGINT, day DATE, s STRUCT<code: INT>",
        "months(day), s.code",
        [
            "(1, DATE '2026-11-30', struct(7))",
            "(2, DATE '2026-12-01', struct(-7))",
            "(3, DATE '2026-12-31', struct(8))",
        ],
    ),
    "year_and_day": (
        "id BIGINT, year DATE, `on` DATE",
        "years(year), `on`, id",
        ["(1, DATE '2025-12-31', DATE '2026-01-01')", "(-9000000000, DATE '2026-01-01', DATE '2026-01-02')"],
    ),
}
"""Columns, partition fields, rows: the first of a commit before, the others of the commit that is asked about."""


@pytest.mark.spark
@pytest.mark.parametrize("name", TABLES)
def test_spark_selects_and_compacts_exactly_what_the_commit_wrote(
    name: str, spark: SparkSession, shared_lake: Lake
) -> None:
    columns, spec, (before, *written) = TABLES[name]
    table = f"shared.touched.{name}"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.touched")
    spark.sql(f"CREATE TABLE {table} ({columns}) USING iceberg PARTITIONED BY ({spec})")
    for values in (before, ", ".join(written)):
        spark.sql(f"INSERT INTO {table} VALUES {values}")
    found = shared_lake.load(f"touched.{name}")
    fact = next(
        each for each in facts(found.metadata_location) if each.snapshot_id == found.metadata.current_snapshot_id
    )
    standing = [
        kept("schema", NOW, 0, json.loads(found.schema().model_dump_json())),
        kept("spec", NOW, found.spec().spec_id, json.loads(found.spec().model_dump_json())),
    ]
    fact = msgspec.structs.replace(fact, catalog="shared")
    touched = touched_rows(history_of(UUID, NAME, [], standing), fact)
    assert touched.spark_sql is not None, touched.note
    ids = sorted(row.id for row in spark.sql(f"SELECT id FROM {table} WHERE {touched.spark_sql}").collect())
    assert ids == sorted(int(each[1:].split(",")[0]) for each in written)
    statement = compaction(table, touched.spark_sql).replace("'5'", "'1', 'rewrite-all', 'true'")
    (result,) = spark.sql(statement).collect()
    assert result.rewritten_data_files_count == fact.added_data_files


def compaction(table: str, where: str) -> str:
    """Spark's statement of the runbook, as the page of an incident has it."""
    catalog, namespace, plain = table.split(".")
    subject = StatementTable(catalog, (namespace,), plain, "")
    (template,) = [
        code
        for language, code in blocks_of(runbooks()["small-file-proliferation"])
        if language == "sql" and "rewrite_data_files" in code
    ]
    found = fill("sql", template, subject, Predicate(where), to_millis(NOW))
    assert (found.note, found.code is None) == (None, False)
    return str(found.code)
