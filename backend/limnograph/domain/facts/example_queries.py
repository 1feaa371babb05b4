"""Example queries of `docs/meta-tables.md`. Tests run each query on every engine that it lists."""

from __future__ import annotations

from typing import NamedTuple

SPARK, TRINO, DUCKDB = "Spark", "Trino", "DuckDB"


def spark_text(sql: str) -> str:
    """The SQL with Spark's quotes: backticks instead of double quotes."""
    return sql.replace('"', "`")


class ExampleQuery(NamedTuple):
    """A question and its SQL: one text for all engines (`spark_text` adapts the quotes), or one per engine."""

    question: str
    sql: str | dict[str, str]

    def on(self, engine: str) -> str:
        """The SQL for an engine."""
        text = self.sql if isinstance(self.sql, str) else self.sql[engine]
        return spark_text(text) if engine == SPARK else text


_WRITERS = """\
WITH uses AS (
  {uses}
)
SELECT u.job_name, u.run_id, s.namespace, s."table", s.snapshot_id, s.added_data_files
FROM uses u
JOIN limnograph.snapshots s
  ON s.catalog = u.t.catalog AND s.namespace = u.t.namespace AND s."table" = u.t."table"
  AND s.snapshot_id = u.t.written_snapshot_id
ORDER BY s.committed_at DESC"""

EXAMPLES = (
    ExampleQuery(
        "Which commits added the most files?",
        """\
SELECT namespace, "table", snapshot_id, committed_at, operation, app_name, added_data_files
FROM limnograph.snapshots
WHERE added_data_files IS NOT NULL
ORDER BY added_data_files DESC
LIMIT 10""",
    ),
    ExampleQuery(
        "What is the state of each table, by the last snapshot that `main` pointed to?",
        """\
WITH heads AS (
  SELECT table_uuid, CAST(to_value AS BIGINT) AS snapshot_id,
         ROW_NUMBER() OVER (PARTITION BY table_uuid ORDER BY "at" DESC) AS newest
  FROM limnograph.changes
  WHERE kind = 'ref' AND subject = 'main'
)
SELECT s.namespace, s."table", s.committed_at, s.total_data_files, s.total_bytes, s.small_files, s.total_delete_files
FROM heads h
JOIN limnograph.snapshots s ON s.table_uuid = h.table_uuid AND s.snapshot_id = h.snapshot_id
WHERE h.newest = 1
ORDER BY s.total_data_files DESC""",
    ),
    ExampleQuery(
        "What else changed: schemas, specs, properties, names?",
        """\
SELECT "at", catalog, namespace, "table", kind, subject, from_value, to_value
FROM limnograph.changes
WHERE kind IN ('schema', 'spec', 'sort_order', 'property', 'named', 'dropped', 'upgraded')
ORDER BY "at" DESC
LIMIT 50""",
    ),
    ExampleQuery(
        "Which tables are unreadable now, and why?",
        """\
WITH health AS (
  SELECT subject, to_value AS problem, detail, "at",
         ROW_NUMBER() OVER (PARTITION BY subject ORDER BY "at" DESC) AS newest
  FROM limnograph.changes
  WHERE kind = 'unreadable'
)
SELECT subject, problem, detail, "at" FROM health WHERE newest = 1 AND problem IS NOT NULL ORDER BY subject""",
    ),
    ExampleQuery(
        "Which run wrote which commit?",
        {
            SPARK: _WRITERS.format(uses="SELECT job_name, run_id, explode(tables) AS t FROM limnograph.runs"),
            TRINO: _WRITERS.format(
                uses="SELECT job_name, run_id, t FROM limnograph.runs\n"
                "  CROSS JOIN UNNEST(transform(tables, used -> ROW(used))) AS unnested(t)"
            ),
            DUCKDB: _WRITERS.format(uses="SELECT job_name, run_id, UNNEST(tables) AS t FROM limnograph.runs"),
        },
    ),
)

DUCKDB_SETUP = """\
import importlib.resources

import duckdb

connection = duckdb.connect()
for name in ("avro", "httpfs", "iceberg"):  # in this order
    folder = importlib.resources.files(f"duckdb_extension_{name}")
    (extension,) = folder.glob("extensions/*/*.duckdb_extension")
    connection.execute(f"LOAD '{extension}'")
connection.execute("CREATE SCHEMA limnograph")
for name, location in locations.items():  # {"snapshots": "…/metadata/00042-….metadata.json", …}
    connection.execute(f"CREATE VIEW limnograph.{name} AS SELECT * FROM iceberg_scan('{location}')")"""

POLARS = """\
import polars as pl
from pyiceberg.catalog import load_catalog

catalog = load_catalog("meta", type="sql", uri="sqlite:////path/catalog.db", warehouse="file:///path/warehouse")
snapshots = pl.scan_iceberg(catalog.load_table("limnograph.snapshots"))
largest = (
    snapshots.filter(pl.col("added_data_files").is_not_null())
    .sort("added_data_files", descending=True)
    .select("namespace", "table", "snapshot_id", "committed_at", "added_data_files")
    .head(10)
    .collect()
)"""
