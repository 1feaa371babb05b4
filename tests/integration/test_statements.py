"""Generated statements, executed by real Spark on real tables: they change what their action says, and nothing else."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakes import Lake
from limnograph.analysis.advice.statements import iceberg
from limnograph.analysis.advice.statements.scopes import PartitionChoice, PartitionScope, ScopeField
from limnograph.analysis.advice.statements.subject import StatementResult, StatementTable
from limnograph.domain.time import Millis

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY = 20_777
AT = "TIMESTAMP '2026-11-20 {:02}:00:00+00:00'"
ALL = {"rewrite-all": "true"}
TRANSFORMS = [
    ("at", "timestamptz", "year", "years(at)", 56),
    ("at", "timestamptz", "month", "months(at)", 682),
    ("at", "timestamptz", "day", "days(at)", DAY),
    ("at", "timestamptz", "hour", "hours(at)", DAY * 24 + 1),
    ("id", "long", "bucket[4]", "bucket(4, id)", 0),
    ("id", "long", "truncate[10]", "truncate(10, id)", 10),
    ("region", "string", "identity", "region", "it's \\"),
]
ROWS = f"""(1, 'it\\'s \\\\', {AT.format(1)}), (11, 'b', {AT.format(2)}), (12, 'b', {AT.format(1)} + INTERVAL 400 DAYS),
  (13, NULL, NULL)"""


class Table:
    """A table of three columns in catalog `shared`."""

    def __init__(self, spark: SparkSession, name: str, partitioned: str = "", **properties: str) -> None:
        self.spark, self.name = spark, f"shared.st.{name}"
        self.subject = StatementTable("shared", ("st",), name, "")
        given = ", ".join(f"'{key}' = '{value}'" for key, value in {"format-version": "2", **properties}.items())
        spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.st")
        by = f"PARTITIONED BY ({partitioned})" if partitioned else ""
        columns = "id BIGINT, region STRING, at TIMESTAMP"
        spark.sql(f"CREATE TABLE {self.name} ({columns}) USING iceberg {by} TBLPROPERTIES ({given})")

    def insert(self, rows: str = ROWS) -> None:
        self.spark.sql(f"INSERT INTO {self.name} VALUES {rows}")

    def files(self, of: str = "data_files") -> dict[str, tuple[int, str]]:
        """Spec and partition of each file."""
        found = self.spark.table(f"{self.name}.{of}")
        partition = "CAST(partition AS STRING)" if "partition" in found.columns else "''"
        rows = found.selectExpr("file_path", "spec_id", f"{partition} AS partition").collect()
        return {row.file_path: (row.spec_id, row.partition) for row in rows}

    def ids(self) -> list[int]:
        rows = self.spark.sql(f"SELECT snapshot_id FROM {self.name}.snapshots ORDER BY committed_at").collect()
        return [row.snapshot_id for row in rows]

    def count(self) -> int:
        return self.spark.table(self.name).count()

    def run(self, made: StatementResult) -> None:
        assert made.statements.spark is not None, made.notes
        self.spark.sql(made.statements.spark).collect()


def scope(column: str, kind: str, transform: str, value: object) -> PartitionScope:
    return PartitionScope((ScopeField(f"{column}_p", (column,), kind, transform),), (value,))


@pytest.mark.parametrize(("column", "kind", "transform", "ddl", "value"), TRANSFORMS)
def test_a_rewrite_replaces_the_files_of_its_partition_only(
    spark: SparkSession, shared_lake: Lake, column: str, kind: str, transform: str, ddl: str, value: object
) -> None:
    table = Table(spark, transform.partition("[")[0], ddl)
    table.insert()
    before = table.files()
    choice = PartitionChoice([scope(column, kind, transform, value)], [scope(column, kind, transform, None)])
    table.run(iceberg.rewrite_data_files(table.subject, choice, ALL))
    after = table.files()
    gone, added = before.keys() - after.keys(), after.keys() - before.keys()
    assert len(gone) == len(added) == 1
    (partition,) = {before[file] for file in gone}
    assert partition == next(after[file] for file in added)
    shown = {"day": "2026-11-20"}.get(transform, str(value))
    assert partition == (0, f"{{{shown}}}")
    assert [file for file in before if before[file] == partition] == list(gone)
    assert table.count() == 4


def test_a_rewrite_in_an_evolved_table_leaves_the_files_of_older_specs(spark: SparkSession, shared_lake: Lake) -> None:
    """With a field that was removed (`void` in format 1), and a renamed column."""
    table = Table(spark, "evolved", "region, months(at)", **{"format-version": "1"})
    table.insert(f"(1, 'a', {AT.format(1)} - INTERVAL 30 DAYS), (2, 'b', {AT.format(1)} - INTERVAL 30 DAYS)")
    for statement in ("DROP PARTITION FIELD region", "REPLACE PARTITION FIELD months(at) WITH days(at) AS at_day"):
        spark.sql(f"ALTER TABLE {table.name} {statement}")
    spark.sql(f"ALTER TABLE {table.name} RENAME COLUMN at TO `sold at`")
    table.insert(f"(3, 'a', {AT.format(1)}), (4, 'b', {AT.format(1)} + INTERVAL 1 DAY)")
    old = (
        ScopeField("region", ("region",), "string", "identity"),
        ScopeField("at_month", ("sold at",), "timestamptz", "month"),
    )
    new = (
        ScopeField("region", ("region",), "string", "void"),
        ScopeField("at_month", ("sold at",), "timestamptz", "void"),
        ScopeField("at_day", ("sold at",), "timestamptz", "day"),
    )
    others = [PartitionScope(new, (None, None, DAY + 1)), *(PartitionScope(old, (each, 681)) for each in "ab")]
    choice = PartitionChoice([PartitionScope(new, (None, None, DAY))], others)
    before = table.files()
    table.run(iceberg.rewrite_data_files(table.subject, choice, ALL))
    gone = before.keys() - table.files().keys()
    assert [before[file] for file in gone] == [(2, "{null, null, 2026-11-20}")]
    whole = iceberg.rewrite_data_files(table.subject, None, ALL)
    table.run(whole)
    assert whole.where is None
    assert not before.keys() & table.files().keys()
    assert table.count() == 4


def test_position_deletes_of_the_partition_are_rewritten(spark: SparkSession, shared_lake: Lake) -> None:
    table = Table(spark, "deletes", "days(at)", **{"write.delete.mode": "merge-on-read"})
    table.insert(", ".join(f"({n}, 'a', {AT.format(1)} + INTERVAL {n % 2} DAYS)" for n in range(8)))
    for n in range(4):
        spark.sql(f"DELETE FROM {table.name} WHERE id = {n}")
    before = table.files("delete_files")
    choice = PartitionChoice([scope("at", "timestamptz", "day", DAY)], [scope("at", "timestamptz", "day", DAY + 1)])
    table.run(iceberg.rewrite_position_delete_files(table.subject, choice, ALL))
    after = table.files("delete_files")
    assert {before[file] for file in before.keys() - after.keys()} == {(0, "{2026-11-20}")}
    assert [before[file] for file in before.keys() & after.keys()] == [
        each for each in before.values() if each != (0, "{2026-11-20}")
    ]
    assert table.count() == 4


def test_an_expiry_removes_exactly_the_named_snapshots(spark: SparkSession, shared_lake: Lake) -> None:
    """Without a time in the distant past, Spark would also expire all old snapshots but the last."""
    aged = {"history.expire.max-snapshot-age-ms": "1", "history.expire.min-snapshots-to-keep": "1"}
    table = Table(spark, "expiry", **aged)
    for n in range(5):
        table.insert(f"({n}, 'a', NULL)")
    ids = table.ids()
    spark.sql(f"ALTER TABLE {table.name} CREATE TAG kept AS OF VERSION {ids[1]}")
    table.run(iceberg.expire_snapshots(table.subject, [ids[0], ids[2]]))
    assert table.ids() == [ids[1], *ids[3:]]
    assert table.count() == 5
    spark.sql(f"CALL shared.system.expire_snapshots(table => '{table.name}', snapshot_ids => array({ids[3]}L))")
    assert table.ids() == [ids[1], ids[4]]  # only the tag kept it


def test_spark_applies_the_ages_of_a_branch_in_every_expiry(spark: SparkSession, shared_lake: Lake) -> None:
    """Why `own_retention` yields no statement for Spark."""
    table = Table(spark, "aged")
    for n in range(4):
        table.insert(f"({n}, 'a', NULL)")
    ids = table.ids()
    java = spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table.name)  # type: ignore[union-attr,attr-defined]
    java.manageSnapshots().setMaxSnapshotAgeMs("main", 1).setMinSnapshotsToKeep("main", 1).commit()
    refused = iceberg.expire_snapshots(table.subject, [ids[0]], own_retention=["main"])
    assert refused.statements.spark is None
    assert "main" in refused.notes["spark"]
    table.run(iceberg.expire_snapshots(table.subject, [ids[0]]))
    assert table.ids() == ids[3:]


def test_manifests_are_merged(spark: SparkSession, shared_lake: Lake) -> None:
    table = Table(spark, "manifests", "days(at)")
    for n in range(3):
        table.insert(f"({n}, 'a', {AT.format(n)})")
    before = table.files()
    table.run(iceberg.rewrite_manifests(table.subject, 0, only_spec=True))
    assert spark.table(f"{table.name}.manifests").count() == 1
    assert table.files() == before


def test_orphans_are_listed_first_and_removed_when_the_comment_marks_are_gone(
    spark: SparkSession, shared_lake: Lake
) -> None:
    table = Table(spark, "orphans")
    table.insert()
    folder = Path(next(iter(table.files())).removeprefix("file:")).parent
    old, young = folder / "old.parquet", folder / "young.parquet"
    now = time.time()
    for file, age_days in ((old, 9), (young, 5)):
        file.write_text("orphan")
        os.utime(file, (now - age_days * 86_400,) * 2)
    made = iceberg.remove_orphan_files(table.subject, Millis(int(now - 7 * 86_400) * 1000))
    assert made.statements.spark is not None
    listed = spark.sql(made.statements.spark).collect()
    assert [Path(row.orphan_file_location).name for row in listed] == ["old.parquet"]
    assert old.exists()
    removal = re.sub(r"^-- ?", "", made.statements.spark.partition("delete the files:\n")[2], flags=re.MULTILINE)
    spark.sql(removal).collect()
    assert (old.exists(), young.exists()) == (False, True)
    assert table.count() == 4


def test_properties_and_the_order_of_writes_are_set(spark: SparkSession, shared_lake: Lake) -> None:
    table = Table(spark, "props")
    given = {"write.distribution-mode": "hash", "it's \\": "${x}; -- /* \u202e\n'", "empty": ""}
    table.run(iceberg.set_properties(table.subject, given))
    found = {row.key: row.value for row in spark.sql(f"SHOW TBLPROPERTIES {table.name}").collect()}
    assert {key: found.get(key) for key in given} == given
    table.run(iceberg.write_ordered_by(table.subject, [("region",), ("at",)]))
    found = {row.key: row.value for row in spark.sql(f"SHOW TBLPROPERTIES {table.name}").collect()}
    assert found["sort-order"] == "region ASC NULLS FIRST, at ASC NULLS FIRST"
