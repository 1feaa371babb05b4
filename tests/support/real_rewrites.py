"""Small real tables whose own plan is executed by Spark, to compare what was predicted with what happened."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lakes import Lake
from limnograph.adapters.iceberg.planning.planner import IcebergPlanner
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.storage.files import FileStorage
from limnograph.analysis.advice.retention import DAY_MS
from limnograph.domain.advice.document import Estimate, Recommendation
from limnograph.domain.advice.prices import Prices
from limnograph.domain.ids import TableName
from limnograph.domain.time import Millis
from limnograph.services.advice.reading import advice_reading
from limnograph.services.advice.table_advice import JudgedTable, KnownOfTable, advise_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMESPACE = "rewrites"
SIZES = (5, 50, 500, 5_000, 20_000)
"""Rows of a file: about 1 KB to 1 MB."""
_STATUS = "concat('status-', cast(pmod(hash(id), 40) as string))"
_SENTENCE = "concat('user ', cast(pmod(hash(id), 5000) as string), ' saw page ', cast(id % 900 as string))"
_ORDER = "concat('order-', lpad(cast(id as string), 12, '0'))"
KINDS = {
    "numbers": ("x bigint", "y double", "xxhash64(id) % 100000", "rand(3)"),
    "few": ("x string", "y string", "concat('region-', cast(id % 7 as string))", _STATUS),
    "text": ("x string", "y string", "sha2(cast(id as string), 256)", _SENTENCE),
    "sorted": ("x bigint", "y string", "id * 3", _ORDER),
}
"""Two columns of a kind: their types and the expressions that fill them."""


class RewriteCase(NamedTuple):
    """A table. `rows` of each of `files` files; `parts` partitions, 0: none; `target`: bytes, 0: the default."""

    name: str
    files: int
    rows: int
    kind: str
    wide: int = 0
    parts: int = 0
    target: int = 0
    codec: str = "zstd"
    version: int = 2
    deletes: bool = False
    ordered: bool = False


class RewriteResult(NamedTuple):
    """What the plan said, with the bounds of its bytes; what Spark reported, and the bytes that it wrote."""

    plan: Recommendation
    bounds: Estimate
    files_in: int
    files_out: int
    bytes_out: int


def stratified(count: int, seed: int = 1, sizes: Sequence[int] = SIZES) -> list[RewriteCase]:
    """Cases that have every level of each property about equally often, paired at random."""
    rng = random.Random(seed)

    def dealt(*levels: Any) -> list[Any]:
        found = [levels[number % len(levels)] for number in range(count)]
        rng.shuffle(found)
        return found

    rows, kinds, parts = dealt(*sizes), dealt(*KINDS), dealt(0, 0, 3)
    targets, codecs, wide = dealt(0, 0, 1 << 20), dealt("zstd", "snappy", "gzip"), dealt(0, 0, 20)
    deletes, ordered = dealt(0, 0, 2, 3), dealt(False, True)
    return [
        RewriteCase(
            f"t{seed}_{number}",
            files=rng.randint(24, 40) if rows[number] < 20_000 else 24,
            rows=rows[number],
            kind=kinds[number],
            wide=wide[number] if rows[number] < 20_000 and not targets[number] else 0,
            parts=parts[number],
            target=targets[number],
            codec=codecs[number],
            version=deletes[number] or 2,
            deletes=bool(deletes[number]),
            ordered=ordered[number],
        )
        for number in range(count)
    ]


def create(spark: SparkSession, case: RewriteCase, catalog: str) -> str:
    """Write the table; its full name."""
    name = f"{catalog}.{NAMESPACE}.{case.name}"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.{NAMESPACE}")
    first, second, one, two = KINDS[case.kind]
    more = "".join(f", w{i} {'string' if i % 2 else 'int'}" for i in range(case.wide))
    given = [f"{'cast(id as string)' if i % 2 else f'cast(id % {i + 2} as int)'} as w{i}" for i in range(case.wide)]
    properties = {
        "format-version": str(case.version),
        "write.parquet.compression-codec": case.codec,
        "write.distribution-mode": "none",
        "write.spark.fanout.enabled": "true",
        "write.delete.mode": "merge-on-read",
    }
    if case.target:
        properties["write.target-file-size-bytes"] = str(case.target)
        properties["write.parquet.page-size-bytes"] = str(case.target // 64)
    pairs = ", ".join(f"'{key}'='{value}'" for key, value in properties.items())
    by = " PARTITIONED BY (p)" if case.parts else ""
    spark.sql(
        f"CREATE TABLE {name} (id bigint, p int, {first}, {second}{more}) USING iceberg{by} TBLPROPERTIES ({pairs})"
    )
    if case.ordered:
        spark.sql(f"ALTER TABLE {name} WRITE ORDERED BY x")
        spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.distribution-mode'='none')")
    values = ["id", f"cast(id % {max(case.parts, 1)} as int) as p", f"{one} as x", f"{two} as y", *given]
    spark.range(0, case.files * case.rows, 1, case.files).selectExpr(*values).writeTo(name).append()
    if case.deletes:
        spark.sql(f"DELETE FROM {name} WHERE id % 6 = 0")
    return name


def judged_table(lake: Lake, case: RewriteCase) -> JudgedTable:
    """The table's document a day later, when no partition is being written."""
    location = lake.catalog.load_table((NAMESPACE, case.name)).metadata_location
    storage = FileStorage({})
    metadata = IcebergReader(storage).metadata(location)
    reading = advice_reading(metadata, IcebergPlanner(storage), Millis((metadata.last_updated_ms or 0) + DAY_MS))
    return advise_table(reading, KnownOfTable(name=TableName(lake.name, NAMESPACE, case.name)), Prices())


def executed(spark: SparkSession, lake: Lake, case: RewriteCase) -> RewriteResult | None:
    """Write the table, plan, run the plan's own statement, and drop the table. None: its files have the right size."""
    name = create(spark, case, lake.name)
    judged = judged_table(lake, case)
    plans = [each for each in judged.advised.recommendations if each.action == "rewrite_data_files"]
    if not plans:
        spark.sql(f"DROP TABLE {name} PURGE")
        return None
    plan = plans[0]
    assert plan.statements.spark is not None
    row = spark.sql(plan.statements.spark.rstrip(";")).first()
    assert row is not None
    wrote = "summary['added-files-size'] IS NOT NULL"  # a commit that only drops dangling delete files adds nothing
    head = spark.sql(f"SELECT summary FROM {name}.snapshots WHERE {wrote} ORDER BY committed_at DESC LIMIT 1").first()
    assert head is not None
    spark.sql(f"DROP TABLE {name} PURGE")
    added = int(head["summary"]["added-files-size"])
    return RewriteResult(
        plan, judged.bytes_out[plan.plan_id], row["rewritten_data_files_count"], row["added_data_files_count"], added
    )
