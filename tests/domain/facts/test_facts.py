"""The one description of the meta tables is sound and its page in docs is true."""

from itertools import pairwise
from pathlib import Path

import pytest

from limnograph.domain.facts.columns import walk_ids
from limnograph.domain.facts.meta_tables import CHANGES, HISTOGRAM_EDGES, META_TABLES, SNAPSHOTS, MetaTable
from limnograph.domain.facts.reference import document


@pytest.mark.parametrize("table", META_TABLES, ids=lambda table: table.name)
def test_field_ids_are_unique_nested_ones_included(table: MetaTable) -> None:
    ids = list(walk_ids(table.columns))
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("table", META_TABLES, ids=lambda table: table.name)
def test_key_partition_and_sort_name_real_columns(table: MetaTable) -> None:
    names = {column.name for column in table.columns}
    assert {*table.key, *(table.partition or ())[:1], *table.sort} <= names


def test_field_ids_of_released_columns_never_change() -> None:
    ids = {f"{table.name}.{column.name}": column.field_id for table in META_TABLES for column in table.columns}
    assert ids["snapshots.table_uuid"] == 1
    assert ids["snapshots.committed_at"] == 10
    assert ids["snapshots.total_data_files"] == 28
    assert ids["snapshots.partitions"] == 70
    assert ids["snapshots.extractor_version"] == 83
    assert ids["changes.at"] == 10
    assert (ids["runs.tables"], ids["runs.observed_at"]) == (7, 14)
    assert (ids["alerts.labels"], ids["reports.metrics"], ids["labels.comment"]) == (11, 25, 13)


def test_only_keys_are_required() -> None:
    assert [c.name for c in SNAPSHOTS.columns if c.required] == ["table_uuid", "snapshot_id"]
    assert [c.name for c in CHANGES.columns if c.required] == ["kind", "at"]


def test_histogram_edges_are_powers_of_two_from_8_kib_to_4_gib() -> None:
    assert HISTOGRAM_EDGES[0] == 8 * 1024
    assert HISTOGRAM_EDGES[-1] == 4 * 1024**3
    assert all(high == 2 * low for low, high in pairwise(HISTOGRAM_EDGES))


def test_the_page_in_docs_is_generated_from_the_code() -> None:
    page = Path(__file__).parents[3] / "docs" / "meta-tables.md"
    assert page.read_text() == document(), "run `make types`"
