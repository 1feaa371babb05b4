"""Generates `docs/cookbook.md`: `python -m limnograph.domain.facts.cookbook.page`. CI compares it with the file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from limnograph.domain.facts.cookbook import ACTIVITY, STRUCTURE, ExampleQuery

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

_INTRODUCTION = """# Cookbook

Questions to the [meta tables](meta-tables.md) in SQL. Tests run every statement in Trino, Spark and DuckDB.

A statement without a heading of its own runs unchanged in Trino and DuckDB; in Spark, replace double quotes with
backticks. The schema `limnograph` is that of the meta catalog: in Trino and Spark, prefix it with the catalog or run
`USE` first. For large lakes, add a condition on the time column of a table, which also partitions it: `committed_at` of
`snapshots`, `at` of the others.

Generated from `backend/limnograph/domain/facts/cookbook`: change it there, then run `make types`.
"""

_DUCKDB = """### DuckDB

Tested with DuckDB 1.5.5 and its extensions from PyPI (`duckdb==1.5.5` and `duckdb-extension-avro`, `-httpfs` and
`-iceberg` of the same version), loaded by path, so nothing is downloaded when it runs. `locations` are the tables'
current metadata files, from the meta catalog (column `metadata_location` of `iceberg_tables` in an SQL catalog)."""


def document() -> str:
    """The whole page as Markdown."""
    parts = (
        _INTRODUCTION,
        "## Structure: files, partitions, snapshots, schemas\n",
        *_shown(STRUCTURE),
        "## Activity: runs, scans, alerts, findings, maintenance\n",
        *_shown(ACTIVITY),
        "## Set-up\n",
        f"### polars\n\nPyIceberg opens the tables:\n\n```python\n{POLARS}\n```\n",
        f"{_DUCKDB}\n\n```python\n{DUCKDB_SETUP}\n```\n",
    )
    return "\n".join(parts)


def _shown(examples: Sequence[ExampleQuery]) -> Iterator[str]:
    for example in examples:
        yield f"### {example.question}\n"
        if isinstance(example.sql, str):
            yield f"```sql\n{example.sql}\n```\n"
            continue
        for engines, sql in _same(example):
            yield f"{engines}:\n\n```sql\n{sql}\n```\n"


def _same(example: ExampleQuery) -> Iterator[tuple[str, str]]:
    """The engines that share a text, and the text."""
    texts: dict[str, list[str]] = {}
    for engine in example.sql:
        texts.setdefault(example.on(engine), []).append(engine)
    for sql, engines in texts.items():
        yield " and ".join(engines), sql


if __name__ == "__main__":
    sys.stdout.write(document())
