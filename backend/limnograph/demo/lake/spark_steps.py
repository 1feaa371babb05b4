"""Commits by Spark: DDL, deletes of real rows, and metadata-only compaction of placeholders."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from limnograph.demo.story.steps import Compaction, SqlStep, TablePlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CATALOG = "lake"


def create(spark: SparkSession, plan: TablePlan) -> None:
    """Create the namespace and the empty table."""
    properties = ", ".join(f"'{key}'='{value}'" for key, value in plan.properties.items())
    partitioning = f"partitioned by ({plan.partitioned_by})" if plan.partitioned_by else ""
    spark.sql(f"create namespace if not exists {CATALOG}.{plan.namespace}")
    spark.sql(
        f"create table {CATALOG}.{plan.name} ({plan.columns}) using iceberg {partitioning} tblproperties({properties})"
    )


def make(spark: SparkSession, name: str, step: SqlStep | Compaction) -> None:
    """Run one step on table `name`."""
    if isinstance(step, SqlStep):
        spark.sql(step.sql.format(table=f"{CATALOG}.{name}")).collect()
    else:
        compact(spark, name, step)


def compact(spark: SparkSession, name: str, step: Compaction) -> int:
    """Replace every live file whose name starts with the stem. Returns their number. The row count stays the same.

    Spark's own procedure would open the files, which do not exist. The files to replace are collected inside the JVM,
    one manifest at a time: one call per file through the gateway takes 16 s for 50,000 files.
    """
    jvm: Any = spark._jvm  # noqa: SLF001 - the only way to Iceberg's Java API
    table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, f"{CATALOG}.{name}")  # noqa: SLF001
    old, rows, partition = jvm.java.util.HashSet(), 0, ""
    for manifest in table.currentSnapshot().dataManifests(table.io()):
        if first := _gather(jvm, table, manifest, step.stem, old):
            rows += (manifest.addedRowsCount() or 0) + (manifest.existingRowsCount() or 0)
            partition = table.spec().partitionToPath(first.partition())
    table.newRewrite().rewriteFiles(old, _bigger(jvm, table, step, rows, partition)).commit()
    return int(old.size())


def _gather(jvm: Any, table: Any, manifest: Any, stem: str, into: Any) -> Any:
    """Add all live files of a manifest to `into` if the first one has the stem, and return that one; otherwise None. An
    append of the demo writes one manifest with one partition.
    """
    reader = jvm.org.apache.iceberg.ManifestFiles.read(manifest, table.io())
    try:
        files = reader.iterator()
        first = files.next() if files.hasNext() else None
        if first is None or not first.location().rsplit("/", 1)[-1].startswith(stem):
            return None
        jvm.org.apache.iceberg.relocated.com.google.common.collect.Iterables.addAll(into, reader)
        return first
    finally:
        reader.close()


def _bigger(jvm: Any, table: Any, step: Compaction, rows: int, partition: str) -> Any:
    rng = random.Random(step.at)  # noqa: S311 - the same lake every time, no secret
    new, count = jvm.java.util.HashSet(), step.into.count
    for number in range(count):
        share = rows // count + (rows % count if number == 0 else 0)
        file = (
            jvm.org.apache.iceberg.DataFiles.builder(table.spec())
            .withPath(f"{table.location()}/data/{step.into.stem}-{step.at}-{number:05d}.parquet")
            .withFormat("parquet")
            .withPartitionPath(partition)
            .withFileSizeInBytes(rng.randint(*step.into.sizes))
            .withRecordCount(share)
            .build()
        )
        new.add(file)
    return new
