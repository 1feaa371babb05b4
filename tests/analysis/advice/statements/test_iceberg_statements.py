"""Texts of generated statements, and the reasons where there is none."""

from __future__ import annotations

import pytest

from limnograph.analysis.advice.statements import delta, iceberg
from limnograph.analysis.advice.statements.delta import DeltaField, DeltaPartition
from limnograph.analysis.advice.statements.scopes import PartitionChoice, PartitionScope, ScopeField
from limnograph.analysis.advice.statements.selection import MOST_CONJUNCTIONS
from limnograph.analysis.advice.statements.subject import StatementTable
from limnograph.domain.time import Millis

TABLE = StatementTable("lake", ("sales",), "customer_events", "s3://bucket/sales/customer_events")
DAY = ScopeField("event_time_day", ("event_time",), "timestamptz", "day")
REGION = ScopeField("region", ("region",), "string", "identity")
BUCKET = ScopeField("id_bucket", ("id",), "long", "bucket[16]")


def scopes(fields: tuple[ScopeField, ...], *values: object) -> list[PartitionScope]:
    return [PartitionScope(fields, each if isinstance(each, tuple) else (each,)) for each in values]


def rewritten(*chosen: PartitionScope, others: list[PartitionScope] | None = None, table: StatementTable = TABLE):
    return iceberg.rewrite_data_files(table, PartitionChoice(chosen, others or []), {"min-input-files": "5"})


def test_a_rewrite_of_adjacent_days_is_one_range() -> None:
    made = iceberg.rewrite_data_files(
        TABLE, PartitionChoice(scopes((DAY,), 20_778, 20_777), []), {"target-file-size-bytes": "536870912"}
    )
    assert made.where == (
        "`event_time` >= TIMESTAMP '2026-11-20 00:00:00+00:00' AND `event_time` < TIMESTAMP '2026-11-22 00:00:00+00:00'"
    )
    assert made.statements.spark == (
        "CALL lake.system.rewrite_data_files(\n"
        "  table => 'lake.sales.customer_events',\n"
        "  where => '`event_time` >= TIMESTAMP \\'2026-11-20 00:00:00+00:00\\' AND "
        "`event_time` < TIMESTAMP \\'2026-11-22 00:00:00+00:00\\'',\n"
        "  options => map('target-file-size-bytes', '536870912')\n"
        ");"
    )
    assert made.statements.trino == (
        "ALTER TABLE lake.sales.customer_events EXECUTE optimize(file_size_threshold => '402653184B')\n"
        "WHERE \"event_time\" >= TIMESTAMP '2026-11-20 00:00:00 UTC' AND "
        "\"event_time\" < TIMESTAMP '2026-11-22 00:00:00 UTC';"
    )
    assert made.statements.python is None
    assert made.notes == {"python": "PyIceberg does not support this action."}


def test_alternatives_are_one_statement_for_spark_and_one_each_for_trino() -> None:
    made = rewritten(*scopes((DAY, REGION), (20_777, "eu"), (20_778, "us"), (20_779, None)))
    assert made.where is not None
    assert made.where.count(" OR ") == 2
    assert made.statements.trino is not None
    assert made.statements.trino.count("ALTER TABLE") == 3
    assert '"region" IS NULL;' in made.statements.trino


def test_trino_is_named_by_its_own_catalog() -> None:
    made = rewritten(*scopes((REGION,), "eu"), table=TABLE._replace(trino_catalog="ice-berg"))
    assert made.statements.trino == (
        'ALTER TABLE "ice-berg".sales.customer_events EXECUTE optimize\nWHERE "region" = \'eu\';'
    )


def test_a_bucket_is_selected_by_spark_alone() -> None:
    made = rewritten(*scopes((BUCKET,), 3))
    assert made.where == "lake.system.bucket(16, `id`) = 3"
    assert made.notes["trino"] == "Trino cannot select partitions of the transform bucket."


@pytest.mark.parametrize(
    ("table", "engine", "says"),
    [
        (TABLE._replace(catalog=None, table=None), "spark", "by its catalog"),
        (TABLE._replace(table="a\nb"), "spark", '"a\\nb" contains an invisible character'),
        (TABLE._replace(table="a\u202eb"), "spark", "\\u202e"),
        (TABLE._replace(namespace=("a--b",)), "spark", "`--`"),
        (TABLE._replace(catalog="x;y"), "trino", "`;`"),
        (TABLE._replace(table=""), "spark", "empty"),
        (TABLE._replace(table="Orders"), "trino", "lower case"),
        (TABLE._replace(table="a$files"), "trino", "metadata table"),
        (TABLE._replace(namespace=("a", "b")), "trino", "one level"),
    ],
)
def test_a_name_that_an_engine_cannot_address_is_a_reason(table: StatementTable, engine: str, says: str) -> None:
    made = rewritten(*scopes((REGION,), "eu"), table=table)
    assert getattr(made.statements, engine) is None
    assert says in made.notes[engine]
    assert made.where == "`region` = 'eu'"


def test_a_condition_that_needs_the_catalog_does_not_exist_without_one() -> None:
    made = rewritten(*scopes((BUCKET,), 3), table=TABLE._replace(catalog=None, table=None))
    assert (made.where, made.statements.spark) == (None, None)


@pytest.mark.parametrize(
    ("chosen", "others", "says"),
    [
        ([], [], "names no partition"),
        (scopes((), ()), [], "no partition values"),
        (scopes((DAY._replace(path=()),), 20_777), scopes((DAY._replace(path=()),), 20_778), "also selects"),
        (
            scopes((DAY._replace(transform="zorder"),), 1),
            scopes((DAY._replace(transform="zorder"),), 2),
            "also selects",
        ),
        (scopes((DAY,), 20_777), scopes((DAY._replace(transform="month"),), 682), "another partition spec"),
        (scopes((DAY,), 20_777), scopes((REGION,), "eu"), "another partition spec"),
        (scopes((DAY,), -1), scopes((DAY,), 0), "also selects"),
        (scopes((REGION._replace(type="time"),), 5), [], "does not support columns of type time"),
        (scopes((REGION,), "\ud800"), [], "not valid text"),
        (scopes((REGION,), *map(str, range(MOST_CONJUNCTIONS + 1))), [], "too long"),
    ],
)
def test_partitions_that_no_condition_selects_exactly_are_a_reason(chosen, others, says) -> None:
    made = rewritten(*chosen, others=others)
    assert (made.statements.spark, made.where) == (None, None)
    assert says in made.notes["spark"]


def test_a_dropped_column_matters_only_where_it_distinguishes() -> None:
    gone = ScopeField("shop", (), "long", "identity")
    chosen, *others = scopes((gone, REGION), (1, "eu"), (1, "us"), (2, "us"))
    assert rewritten(chosen, others=others).where == "`region` = 'eu'"


def test_void_fields_are_no_part_of_a_condition() -> None:
    fields = (REGION._replace(transform="void"), DAY)
    chosen, *others = scopes(fields, (None, 20_777), (None, 20_778))
    assert (rewritten(chosen, others=others).where or "").startswith("`event_time` >= ")


def test_an_expiry_names_ids_and_an_age_that_nothing_has() -> None:
    made = iceberg.expire_snapshots(TABLE, [1, 2])
    assert made.statements.spark == (
        "CALL lake.system.expire_snapshots(\n"
        "  table => 'lake.sales.customer_events',\n"
        "  snapshot_ids => array(1L, 2L),\n"
        "  older_than => TIMESTAMP '1970-01-02 00:00:00'\n"
        ");"
    )
    assert "ids" in made.notes["trino"]
    assert iceberg.expire_snapshots(TABLE, []).statements.spark is None


def test_a_deletion_is_commented_out_below_its_listing() -> None:
    for made, mark in (
        (iceberg.remove_orphan_files(TABLE, Millis(1_795_132_800_000)).statements.spark, "--"),
        (delta.vacuum(TABLE, 168).statements.spark, "--"),
        (delta.vacuum(TABLE, 168).statements.python, "#"),
    ):
        assert made is not None
        listing, removal = made.split(f"{mark} Check the list. Then remove the comment marks to delete the files:\n")
        assert "dry" in listing.lower()
        assert all(line.startswith(mark) for line in removal.splitlines())


def test_manifests_of_one_spec_have_a_statement_for_trino_only_if_there_is_no_other() -> None:
    assert iceberg.rewrite_manifests(TABLE, 2, only_spec=True).statements.trino == (
        "ALTER TABLE lake.sales.customer_events EXECUTE optimize_manifests;"
    )
    made = iceberg.rewrite_manifests(TABLE, 2, only_spec=False)
    assert made.statements.trino is None
    assert "spec_id => 2" in (made.statements.spark or "")


def test_writes_are_ordered_by_columns() -> None:
    made = iceberg.write_ordered_by(TABLE, [("region",), ("a", "b")])
    assert made.statements.spark == "ALTER TABLE lake.sales.customer_events WRITE ORDERED BY `region`, `a`.`b`"
    assert "top-level" in made.notes["trino"]
    trino = iceberg.write_ordered_by(TABLE, [("it's",)]).statements.trino
    assert trino == "ALTER TABLE lake.sales.customer_events SET PROPERTIES sorted_by = ARRAY['\"it''s\"'];"


def test_a_delta_table_needs_no_catalog() -> None:
    table = StatementTable(None, (), None, "s3://bucket/events")
    fields = (DeltaField("day", "date"), DeltaField("shop", "integer"))
    made = delta.optimize(
        table, [DeltaPartition(fields, ("2026-11-20", None)), DeltaPartition(fields, ("2026-11-21", "7"))]
    )
    assert made.statements.spark == (
        "OPTIMIZE delta.`s3://bucket/events`\n"
        "WHERE (`day` = DATE '2026-11-20' AND `shop` IS NULL) OR (`day` = DATE '2026-11-21' AND `shop` = 7);"
    )
    assert "31253" in made.notes["trino"]
    odd = [DeltaPartition((DeltaField("at", "timestamp"),), ("2026-11-20 00:00:00",))]
    assert "timestamp" in delta.optimize(table, odd).notes["spark"]
    assert "column mapping" in delta.optimize(table, None, column_mapping=True).notes["python"]
