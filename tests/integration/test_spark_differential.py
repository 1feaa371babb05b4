"""Tables that Spark made, in format v1 to v3: our counts of every snapshot equal Spark's own metadata tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from lakes import Lake, facts, fresh_reader
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.services.pipeline.changes import ObservedTable, state_changes
from limnograph.services.pipeline.ledger import Ledger

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MERGE_ON_READ = (
    "'write.delete.mode'='merge-on-read','write.update.mode'='merge-on-read','write.merge.mode'='merge-on-read'"
)
REWRITE_ALL = "options => map('rewrite-all','true')"
EVERYTHING = """
create table {t}.kinds (id int, flag boolean, big bigint, f float, d double, money decimal(9,2), day date, born date,
  at timestamp, wall timestamp_ntz, name string, raw binary, word string, other bigint) using iceberg
partitioned by (flag, big, f, d, money, day, name, raw, bucket(4, id), truncate(2, word), truncate(10, other),
  years(born), days(at), hours(wall)) tblproperties ('format-version'='2')
"""
ROWS_OF_KINDS = """
insert into {t}.kinds values
 (1, true, 5000000000, 1.5, -2.25, 3.10, date'2026-11-20', date'1969-12-31', timestamp'2026-11-20 03:04:05.123456 UTC',
  timestamp_ntz'1969-12-31 23:59:59', 'a/b=c d%é', X'00FF10', 'wörter', -15),
 (2, false, -1, cast('NaN' as float), 0, -3.10, date'1960-01-01', date'2000-02-29', timestamp'1960-01-01 00:00:00 UTC',
  timestamp_ntz'2026-01-01 00:00:00', '', X'', 'x', 15),
 (null, null, null, null, null, null, null, null, null, null, null, null, null, null),
 (1, true, 5000000000, 1.5, -2.25, 3.10, date'2026-11-20', date'1969-12-31', timestamp'2026-11-20 03:04:05.123456 UTC',
  timestamp_ntz'1969-12-31 23:59:59', 'a/b=c d%é', X'00FF10', 'wörter', -15)
"""


def created(table: str, partition: str, properties: str) -> str:
    """A table of two columns that deletes by delete files where its format version can."""
    return (
        f"create table {{t}}.{table} (id bigint, r string) using iceberg partitioned by ({partition}) "
        f"tblproperties({properties},{MERGE_ON_READ})"
    )


def merged(table: str, *clauses: str) -> str:
    """A MERGE of four rows, two of them known."""
    source = f"merge into {{t}}.{table} t using (select id, 'm' as r from range(58, 62)) s on t.id = s.id"
    return " ".join((source, *clauses, "when matched then update set r = s.r when not matched then insert *"))


SCRIPTS: dict[str, list[str]] = {
    # One table through all versions of the format, with spec evolution and rewritten manifests.
    "ages": [
        created("ages", "r", "'format-version'='1','write.metadata.compression-codec'='gzip'"),
        "insert into {t}.ages values (1,'eu'),(2,'us'),(3,'eu'),(4,null)",
        "insert into {t}.ages values (5,'eu'),(6,'asia')",
        "delete from {t}.ages where r = 'us'",
        "alter table {t}.ages add partition field bucket(4, id)",
        "insert into {t}.ages values (7,'eu'),(8,'eu')",
        "alter table {t}.ages set tblproperties ('format-version'='2')",
        "delete from {t}.ages where id = 7",
        "alter table {t}.ages drop partition field r",
        "insert overwrite {t}.ages values (9,'eu'),(10,'us')",
        "insert into {t}.ages values (11,'eu')",
        "alter table {t}.ages set tblproperties ('format-version'='3')",
        "insert into {t}.ages values (12,'eu'),(112,'us')",
        "delete from {t}.ages where id = 12",
        "call shared.system.rewrite_manifests(table => '{n}.ages', use_caching => false)",
    ],
    # Position deletes, MERGE, compaction of data and of deletes.
    "deletes": [
        created("deletes", "r", "'format-version'='2','write.avro.compression-codec'='uncompressed'"),
        "insert into {t}.deletes select id, cast(id % 3 as string) from range(60)",
        "insert into {t}.deletes select id, cast(id % 3 as string) from range(60, 90)",
        "delete from {t}.deletes where id in (3, 5, 61)",
        merged("deletes", "when matched and s.id = 58 then delete"),
        f"call shared.system.rewrite_position_delete_files(table => '{{n}}.deletes', {REWRITE_ALL})",
        f"call shared.system.rewrite_data_files(table => '{{n}}.deletes', {REWRITE_ALL})",
        "truncate table {t}.deletes",
    ],
    # Deletion vectors and row lineage.
    "vectors": [
        created("vectors", "truncate(1, r)", "'format-version'='3'"),
        "insert into {t}.vectors select id, cast(id % 3 as string) from range(60)",
        "delete from {t}.vectors where id in (3, 5)",
        "delete from {t}.vectors where id in (6, 7)",
        merged("vectors"),
        f"call shared.system.rewrite_data_files(table => '{{n}}.vectors', {REWRITE_ALL})",
    ],
    # Branches, tags, staged and published commits, rollback.
    "refs": [
        "create table {t}.refs (id bigint) using iceberg tblproperties('write.wap.enabled'='true')",
        "insert into {t}.refs values (1)",
        "alter table {t}.refs create branch audit",
        "insert into {t}.refs.branch_audit values (2)",
        "set spark.wap.id=w1",
        "insert into {t}.refs values (3)",
        "reset spark.wap.id",
        "insert into {t}.refs values (4)",
        "call shared.system.publish_changes('{n}.refs', 'w1')",
        "alter table {t}.refs create tag monday",
        "insert into {t}.refs values (5)",
        "call shared.system.set_current_snapshot(table => '{n}.refs', ref => 'monday')",
        "insert into {t}.refs values (6)",
        "call shared.system.rollback_to_snapshot('{n}.refs', {first})",
        "insert into {t}.refs values (7)",
        "alter table {t}.refs create branch later",
        "call shared.system.set_current_snapshot(table => '{n}.refs', ref => 'audit')",
    ],
    "kinds": [EVERYTHING, ROWS_OF_KINDS, "delete from {t}.kinds where id = 2"],
}


class Made:
    """The tables, once for all tests of this file."""

    def __init__(self, session: SparkSession, lake: Lake) -> None:
        self.session, self.lake, self.namespace = session, lake, f"diff_{uuid4().hex[:8]}"
        lake.catalog.create_namespace(self.namespace)
        for statements in SCRIPTS.values():
            for statement in statements:
                self.sql(statement if "{first}" not in statement else statement.replace("{first}", self.first("refs")))
        self.sql("set spark.sql.session.timeZone=UTC")

    def sql(self, text: str) -> list[Any]:
        return self.session.sql(text.format(t=f"shared.{self.namespace}", n=self.namespace)).collect()

    def first(self, table: str) -> str:
        return str(self.sql(f"select snapshot_id from {{t}}.{table}.history order by made_current_at")[0][0])

    def location(self, table: str) -> str:
        return str(self.lake.load(f"{self.namespace}.{table}").metadata_location)

    def facts(self, table: str) -> dict[int, SnapshotFact]:
        return {fact.snapshot_id: fact for fact in facts(self.location(table))}

    def each(self, table: str, select: str, ids: list[int]) -> dict[int, tuple[Any, ...]]:
        """One row per snapshot of a metadata table: `select` with `{at}` where the version belongs."""
        parts = [f"select {i}L, " + select.replace("{at}", f"version as of {i}").replace("{id}", str(i)) for i in ids]
        found = self.sql(" union all ".join(parts).replace("{table}", f"{{t}}.{table}"))
        return {row[0]: tuple(row[1:]) for row in found}


@pytest.fixture(scope="module")
def made(spark: SparkSession, shared_lake: Lake) -> Made:
    return Made(spark, shared_lake)


tables = pytest.mark.parametrize("table", list(SCRIPTS))


@tables
def test_the_rows_are_the_snapshots_and_main_follows_the_history(made: Made, table: str) -> None:
    ours = made.facts(table)
    theirs = made.sql(
        f"select snapshot_id, parent_id, operation, unix_micros(committed_at) from {{t}}.{table}.snapshots"
    )
    assert {f.snapshot_id: (f.parent_id, f.operation, f.committed_at) for f in ours.values()} == {
        row[0]: tuple(row[1:]) for row in theirs
    }
    assert {(f.status, f.tier, tuple(f.problems or ()), tuple(f.summary_mismatch or ())) for f in ours.values()} == {
        ("ok", "entries", (), ())
    }
    history = made.sql(
        f"select unix_micros(made_current_at), snapshot_id, is_current_ancestor from {{t}}.{table}.history order by 1"
    )
    metadata = fresh_reader().metadata(made.location(table))
    rows = state_changes(ObservedTable("u", TableName("shared", "n", table), metadata), Ledger(), 2**60)
    moves = [(row.at, int(row.to_value or 0)) for row in rows if (row.kind, row.subject) == ("ref", "main")]
    assert moves == [tuple(row[:2]) for row in history]
    assert {row[1]: row[2] for row in history} == {row[1]: ours[row[1]].on_main for row in history}
    refs = {row[0]: row[1] for row in made.sql(f"select name, snapshot_id from {{t}}.{table}.refs")}
    assert refs == {name: f.snapshot_id for f in ours.values() for name in f.refs or ()}


@tables
def test_totals_at_every_snapshot_equal(made: Made, table: str) -> None:
    ours = made.facts(table)
    theirs = made.each(
        table,
        "count_if(content = 0), count_if(content > 0), coalesce(sum(if(content = 0, record_count, 0)), 0), "
        "coalesce(sum(if(content = 0, file_size_in_bytes, 0)), 0), "
        "coalesce(sum(if(content > 0, coalesce(content_size_in_bytes, file_size_in_bytes), 0)), 0), "
        "coalesce(sum(if(content = 1, record_count, 0)), 0), coalesce(sum(if(content = 2, record_count, 0)), 0), "
        "count_if(content = 1 and file_format = 'PUFFIN') from {table}.files {at}",
        list(ours),
    )
    assert {
        i: (
            f.total_data_files,
            f.total_delete_files,
            f.total_records,
            f.total_bytes,
            f.total_delete_bytes,
            f.total_position_deletes,
            f.total_equality_deletes,
            f.total_dvs,
        )
        for i, f in ours.items()
    } == theirs


@tables
def test_what_every_snapshot_added_and_removed_equals(made: Made, table: str) -> None:
    ours = made.facts(table)
    mine = "snapshot_id = {id} and status ="
    files = ", ".join(
        f"count_if({mine} {status} and data_file.content {kind} 0)" for status in (1, 2) for kind in ("=", ">")
    )
    sums = ", ".join(
        f"coalesce(sum(if({mine} {status} and data_file.content = 0, data_file.{column}, 0)), 0)"
        for status in (1, 2)
        for column in ("record_count", "file_size_in_bytes")
    )
    theirs = made.each(table, f"{files}, {sums} from {{table}}.entries {{at}}", list(ours))
    assert {
        i: (
            f.added_data_files,
            f.added_delete_files,
            f.removed_data_files,
            f.removed_delete_files,
            f.added_records,
            f.added_bytes,
            f.removed_records,
            f.removed_bytes,
        )
        for i, f in ours.items()
    } == theirs


@tables
def test_manifests_of_every_snapshot_equal(made: Made, table: str) -> None:
    ours = made.facts(table)
    theirs = made.each(table, "count(*), count_if(content = 1), sum(length) from {table}.manifests {at}", list(ours))
    assert {i: (f.manifests, f.delete_manifests, f.manifest_bytes) for i, f in ours.items()} == theirs


@tables
def test_partitions_of_the_newest_and_of_the_fullest_snapshot_equal(made: Made, table: str) -> None:
    everything = made.facts(table)
    fullest = max(everything.values(), key=lambda f: (f.total_data_files or 0, f.snapshot_id)).snapshot_id
    partition = "cast(null as string)" if table == "refs" else "to_json(partition)"
    for snapshot_id in {fullest, max(everything.values(), key=lambda f: f.committed_at or 0).snapshot_id}:
        (ours,) = facts(made.location(table), {snapshot_id})
        assert ours.partitions_scope == "full"
        theirs = made.sql(
            f"select spec_id, count_if(content = 0), count_if(content > 0), sum(if(content = 0, record_count, 0)), "
            f"sum(if(content = 0, file_size_in_bytes, 0)) from {{t}}.{table}.files version as of {snapshot_id} "
            f"group by spec_id, {partition}"
        )
        mine = [(p.spec_id, p.data_files, p.delete_files, p.records, p.bytes) for p in ours.partitions or ()]
        assert Counter(mine) == Counter(tuple(row) for row in theirs)
        assert (ours.partitions_total, len({p.partition for p in ours.partitions or ()})) == (len(mine), len(mine))


def test_partitions_of_one_spec_equal_sparks_own_table_of_partitions(made: Made) -> None:
    for table in ("kinds", "deletes", "vectors"):
        head = made.sql(f"select snapshot_id from {{t}}.{table}.refs where name = 'main'")[0][0]
        (ours,) = facts(made.location(table), {head})
        theirs = made.sql(
            "select file_count, record_count, total_data_file_size_in_bytes, position_delete_file_count "
            f"from {{t}}.{table}.partitions"
        )
        mine = [(p.data_files, p.records, p.bytes, p.delete_files) for p in ours.partitions or ()]
        assert Counter(mine) == Counter(tuple(row) for row in theirs if row[0] or row[3])


def test_all_files_ever_are_those_of_all_snapshots(made: Made) -> None:
    for table, kind in (("deletes", "data"), ("deletes", "delete"), ("vectors", "data")):
        ours = made.facts(table)
        theirs = made.sql(f"select count(distinct file_path) from {{t}}.{table}.all_{kind}_files")[0][0]
        assert theirs == sum(getattr(f, f"added_{kind}_files") or 0 for f in ours.values())


def test_partition_values_are_shown_in_their_usual_notation(made: Made) -> None:
    (ours,) = [f for f in facts(made.location("kinds")) if f.operation == "append"]
    texts = sorted(p.partition for p in ours.partitions or ())
    assert len(texts) == 3
    by_name = [dict(part.split("=", 1) for part in text.split("/") if "=" in part) for text in texts]
    assert {(p["big"], p["money"], p["born_year"], p["at_day"], p["wall_hour"]) for p in by_name} == {
        ("5000000000", "3.10", "1969", "2026-11-20", "1969-12-31-23"),
        ("-1", "-3.10", "2000", "1960-01-01", "2026-01-01-00"),
        ("null", "null", "null", "null", "null"),
    }
