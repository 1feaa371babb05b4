"""The lake in which one commit never happened, as `demo --check` asks Explain about it."""

import pytest

from limnograph.demo.check.explained import Without
from limnograph.ports.query_engine import MetaQuery, Table
from serving_kit import NOW, lake, moved, row

ENGINE = lake([row(n, NOW - n, 100) for n in (1, 2, 3)], [moved(n, NOW - n) for n in (1, 2, 3)])


@pytest.mark.parametrize(("table", "key"), [("snapshots", "snapshot_id"), ("changes", "to_value")])
@pytest.mark.parametrize("asked", ["all", "key", "other"])
def test_its_rows_are_left_out_of_every_query_and_no_others(table: Table, key: str, asked: str) -> None:
    columns = {"all": (), "key": (key, "table_uuid"), "other": ("table_uuid",)}[asked]
    query = MetaQuery(table=table, columns=columns)
    whole, rest = ENGINE.select(query), Without(ENGINE, 2).select(query)
    assert rest.columns == whole.columns
    assert rest.height == whole.height - 1 == 2
    if key in rest.columns:
        assert {str(of) for of in rest[key]} == {"1", "3"}


def test_rows_that_no_commit_made_are_unchanged() -> None:
    assert Without(ENGINE, 2).head() == ENGINE.head()
    assert Without(ENGINE, 2).select(MetaQuery(table="runs")).equals(ENGINE.select(MetaQuery(table="runs")))
