"""Meta tables of another version: an older one gets the missing columns in place, a newer one is left alone."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.table import Table

from lakes import Lake, path_of
from limnograph.adapters.meta.loss import CREATED_IN_ORDER, SIBLINGS_PROPERTY
from limnograph.adapters.meta.schema import VERSION_PROPERTY, arrow_schema, iceberg_schema
from limnograph.adapters.meta.tables import create_meta_table, ensure_meta_tables, upgraded_schema
from limnograph.domain.errors import SourceRejected
from limnograph.domain.facts.meta_tables import DAILY, META_TABLES, RUNS, SCHEMA_VERSION, SNAPSHOTS


def ids(table: Table) -> dict[str, int]:
    return {field.name: field.field_id for field in table.schema().fields}


def without(table: Table, *columns: str) -> None:
    """The table as a version before those columns had made it."""
    with table.update_schema(allow_incompatible_changes=True) as update:
        for column in columns:
            update.delete_column(column)
    table.transaction().set_properties({VERSION_PROPERTY: "1"}).commit_transaction()


def row(day: int, **columns: Any) -> pa.Table:
    return pa.Table.from_pylist([{"table_uuid": "u", "day": day, **columns}], schema=arrow_schema(DAILY))


def made(lake: Lake, name: str = "snapshots") -> Table:
    ensure_meta_tables(lake.catalog, "meta")
    return lake.load(f"meta.{name}")


def test_missing_columns_are_added_with_their_ids_including_nested_ones(lake: Lake) -> None:
    table = made(lake)
    promised = dict(table.schema()._name_to_id)
    without(table, "partitions", "refs", "extractor_version")
    assert ensure_meta_tables(lake.catalog, "meta") == []
    table = lake.load("meta.snapshots")
    assert dict(table.schema()._name_to_id) == promised
    assert table.properties[VERSION_PROPERTY] == str(SCHEMA_VERSION)


def test_a_table_of_this_version_from_before_its_release_gets_the_columns_added_since(lake: Lake) -> None:
    table = made(lake, "reports")
    promised = dict(table.schema()._name_to_id)
    with table.update_schema(allow_incompatible_changes=True) as update:
        update.delete_column("conflict_kind").delete_column("filter_columns")
    ensure_meta_tables(lake.catalog, "meta")
    assert dict(lake.load("meta.reports").schema()._name_to_id) == promised


def test_rows_from_before_the_upgrade_read_null_and_later_ones_have_the_column(lake: Lake) -> None:
    table = made(lake, "snapshots_daily")
    without(table, "format", "rolled_at")
    table.append(row(1, commits=7).drop_columns(["format", "rolled_at"]))
    ensure_meta_tables(lake.catalog, "meta")
    table = lake.load("meta.snapshots_daily")
    table.append(row(2, format="delta"))
    found = {r["day"].microsecond: r for r in table.scan().to_arrow().to_pylist()}
    assert (found[1]["commits"], found[1]["format"], found[1]["rolled_at"]) == (7, None, None)
    assert found[2]["format"] == "delta"


def test_a_table_of_this_version_or_a_newer_one_is_left_as_it_is(lake: Lake) -> None:
    table = made(lake)
    location = table.metadata_location
    ensure_meta_tables(lake.catalog, "meta")
    assert lake.load("meta.snapshots").metadata_location == location
    without(table, "engine")
    table.transaction().set_properties({VERSION_PROPERTY: str(SCHEMA_VERSION + 1)}).commit_transaction()
    location = table.metadata_location
    ensure_meta_tables(lake.catalog, "meta")
    assert lake.load("meta.snapshots").metadata_location == location


def test_a_catalog_that_numbers_columns_itself_gets_fresh_ids_where_a_promised_one_is_taken() -> None:
    wanted = iceberg_schema(SNAPSHOTS)
    taken = {field.field_id for field in wanted.fields}
    assert upgraded_schema(wanted, 200, wanted) is None
    found = wanted.model_copy(update={"fields": tuple(
        field.model_copy(update={"field_id": 70}) if field.name == "engine" else field
        for field in wanted.fields
        if field.name not in {"partitions", "user"}
    )})  # fmt: skip
    upgraded = upgraded_schema(type(wanted)(*found.fields), 200, wanted)
    assert upgraded is not None
    assert upgraded.find_field("user").field_id > 200
    assert {f.name for f in upgraded.fields} == {f.name for f in wanted.fields}
    assert len(upgraded.column_names) == len(wanted.column_names)
    assert taken


def test_every_meta_table_of_the_description_is_created(lake: Lake) -> None:
    assert ensure_meta_tables(lake.catalog, "meta") == [table.name for table in META_TABLES]
    for table in META_TABLES:
        found = lake.load(f"meta.{table.name}")
        assert {f.name: f.field_id for f in found.schema().fields} == {c.name: c.field_id for c in table.columns}
        assert [f.name for f in found.spec().fields] == (
            ["_".join(table.partition)] if table.partition is not None else []
        )
        assert arrow_schema(table).names == [c.name for c in table.columns]


def test_a_creation_that_died_halfway_is_finished(lake: Lake) -> None:
    for table in CREATED_IN_ORDER[:4]:
        create_meta_table(lake.catalog, "meta", table)
    assert len(ensure_meta_tables(lake.catalog, "meta")) == len(META_TABLES) - 4
    assert ensure_meta_tables(lake.catalog, "meta") == []


@pytest.mark.parametrize("name", [table.name for table in CREATED_IN_ORDER[:-1]])
def test_a_missing_table_that_existed_before_is_named_with_the_remedy(lake: Lake, name: str) -> None:
    ensure_meta_tables(lake.catalog, "meta")
    lake.catalog.drop_table(f"meta.{name}")
    with pytest.raises(SourceRejected, match=rf"meta\.{name} is missing .* `limnograph pipeline --rebuild`"):
        ensure_meta_tables(lake.catalog, "meta")
    assert not lake.catalog.table_exists(f"meta.{name}")


def test_rows_in_other_tables_reveal_a_missing_table_that_none_lists(lake: Lake) -> None:
    ensure_meta_tables(lake.catalog, "meta")
    lake.catalog.drop_table("meta.snapshots")
    lake.load("meta.snapshots_daily").append(row(1, commits=7))
    with pytest.raises(SourceRejected, match=r"meta\.snapshots is missing"):
        ensure_meta_tables(lake.catalog, "meta")


def test_a_completely_dropped_namespace_is_a_fresh_start(lake: Lake) -> None:
    for _ in range(2):
        assert len(ensure_meta_tables(lake.catalog, "meta")) == len(META_TABLES)
        for table in META_TABLES:
            lake.catalog.drop_table(f"meta.{table.name}")
        lake.catalog.drop_namespace("meta")


def test_a_table_of_a_later_version_is_created_alongside_filled_ones_of_an_older(lake: Lake) -> None:
    daily = made(lake, "snapshots_daily")
    daily.append(row(1, commits=7))
    lake.catalog.drop_table("meta.runs")
    for table in META_TABLES:
        if table is not RUNS:
            old = lake.load(f"meta.{table.name}").transaction()
            old.remove_properties(SIBLINGS_PROPERTY).set_properties({VERSION_PROPERTY: "1"}).commit_transaction()
    assert ensure_meta_tables(lake.catalog, "meta") == ["runs"]


def test_tables_without_sibling_lists_receive_them_at_the_next_start(lake: Lake) -> None:
    ensure_meta_tables(lake.catalog, "meta")
    for table in META_TABLES:
        lake.load(f"meta.{table.name}").transaction().remove_properties(SIBLINGS_PROPERTY).commit_transaction()
    assert ensure_meta_tables(lake.catalog, "meta") == []
    lake.catalog.drop_table("meta.runs")
    with pytest.raises(SourceRejected, match=r"meta\.runs is missing"):
        ensure_meta_tables(lake.catalog, "meta")


def test_a_metadata_file_that_is_gone_is_named_with_the_remedy(lake: Lake) -> None:
    path_of(made(lake, "changes").metadata_location).unlink()
    with pytest.raises(SourceRejected, match=r"meta\.changes to a missing metadata file.*--rebuild"):
        ensure_meta_tables(lake.catalog, "meta")
