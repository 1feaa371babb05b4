"""Queries of Trino's event listener as rows: by table, with names mapped, times of both forms, and a bounded rate."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from limnograph.domain.errors import InvalidInput
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.trino_events import TrinoQueryEvent
from limnograph.services.events.event_rate import RECENT_S, EventRate
from limnograph.services.events.naming import KnownTable, TableResolver
from limnograph.services.events.trino_events import TrinoQueries

NOW = 1_000_000
ORDERS = KnownTable(TableName("lake", "sales", "orders"), None)
QUERIES = TrinoQueries(TableResolver({"lake": {}}, lambda: [ORDERS]), {"iceberg": "lake"})


def table(name: str = "orders", catalog: str = "iceberg", **more: Any) -> dict[str, Any]:
    return {"catalogName": catalog, "schema": "sales", "table": name, **more}


def event(inputs: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "metadata": {"queryId": "q1"},
        "context": {"user": "ada", "source": "dbt", "serverVersion": "476"},
        "statistics": {"wallTime": 1.25},
        "ioMetadata": {"inputs": inputs},
        "endTime": "2026-11-26T10:00:00Z",
        **more,
    }


def rows(given: dict[str, Any]) -> list[Any]:
    return list(QUERIES.read(msgspec.convert(given, TrinoQueryEvent), NOW).reports)


def test_a_query_has_a_row_per_table_that_it_read() -> None:
    numbers = {"physicalInputBytes": 900, "physicalInputRows": 30, "connectorInfo": {"snapshotId": 2**62 + 1}}
    first, second = rows(event([table(columns=["id"], **numbers), table("other", columns=[{"column": "x"}])]))
    assert (first.kind, first.catalog, first.namespace, first.table) == ("query", "lake", "sales", "orders")
    assert (first.snapshot_id, first.rows, first.read_bytes, first.wall_seconds) == (2**62 + 1, 30, 900, 1.25)
    assert (first.user, first.job_name, first.engine, first.engine_version) == ("ada", "dbt", "trino", "476")
    assert (first.query_id, first.outcome, first.source, first.filter_columns) == ("q1", "ok", "trino", None)
    assert (first.projected_fields, second.projected_fields) == (["id"], ["x"])
    assert (second.rows, second.read_bytes, second.snapshot_id) == (None, None, None)
    assert first.event_id != second.event_id
    assert first.event_id == rows(event([table(columns=["id"], **numbers)]))[0].event_id


@pytest.mark.parametrize(
    ("name", "catalog", "found"),
    [
        ("orders", "lake", ("lake", "sales", "orders")),
        ("orders", "other", ("lake", "sales", "orders")),  # the only table with this name
        ("unknown", "other", (None, "other.sales", "unknown")),
        ("orders$snapshots", "iceberg", (None, "lake.sales", "orders$snapshots")),
    ],
)
def test_a_table_is_found_by_its_catalog_or_stays_as_it_was_sent(name: str, catalog: str, found: Any) -> None:
    (row,) = rows(event([table(name, catalog)]))
    assert (row.catalog, row.namespace, row.table) == found


@pytest.mark.parametrize(
    ("wall", "seconds"),
    [
        (0.5, 0.5),
        ("PT1M2.5S", 62.5),
        ("PT2H", 7200.0),
        (-1, None),
        ("PT", None),
        ("soon", None),
        (None, None),
        (True, None),
    ],
)
def test_durations_are_numbers_or_iso_8601(wall: Any, seconds: float | None) -> None:
    (row,) = rows(event([table()], statistics={"wallTime": wall}))
    assert row.wall_seconds == seconds


def test_times_are_numbers_or_iso_8601_and_an_event_of_a_beginning_has_no_rows() -> None:
    (row,) = rows(event([table()], endTime=1795687200.5))
    assert row.at == 1_795_687_200_500_000
    assert rows(event([table()], endTime=None)) == []
    with pytest.raises(InvalidInput, match="endTime"):
        rows(event([table()], endTime="yesterday"))


@pytest.mark.parametrize(
    ("failure", "outcome", "commit"),
    [
        (None, "ok", ("ok", None)),
        ({"errorCode": {"name": "ICEBERG_COMMIT_ERROR"}}, "conflict", ("conflict", "other")),
        ({"errorCode": {"name": "TRANSACTION_CONFLICT"}}, "conflict", ("conflict", "other")),
        ({"errorCode": {"name": "USER_CANCELED"}}, "failed", None),
        ({}, "failed", None),
    ],
)
def test_a_query_that_writes_has_a_commit_unless_it_failed_otherwise(failure: Any, outcome: str, commit: Any) -> None:
    io = {"inputs": [table()], "output": table("churn")}
    found = rows(event([], ioMetadata=io, failureInfo=failure))
    assert found[0].outcome == outcome
    assert [(row.outcome, row.conflict_kind) for row in found[1:]] == ([commit] if commit else [])


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (
            "Failed to commit during write: Found conflicting files that can contain records matching true: [a]",
            "files_added",
        ),
        ("Failed to commit the transaction during write: Cannot commit: stale table metadata", "lost_race"),
        ("Failed to commit during write: Missing required files to delete: s3://b/x.parquet", "files_removed"),
        ("Failed to commit during write: Found new position delete for replaced data file", "deletes_added"),
        ("Failed to commit during write: something new", "other"),
        (None, "other"),
        (7, "other"),
    ],
)
def test_the_kind_of_a_conflict_is_read_from_icebergs_message_and_the_message_is_not_kept(
    message: Any, kind: str
) -> None:
    failure = {"errorCode": {"name": "ICEBERG_COMMIT_ERROR"}, "failureMessage": message}
    context = {"user": "ada", "queryType": "MERGE"}
    io = {"inputs": [], "output": table("churn")}
    (found,) = rows(event([], ioMetadata=io, failureInfo=failure, context=context))
    assert (found.conflict_kind, found.operation, found.streaming) == (kind, "row_delta", False)
    assert found.wall_seconds == 1.25
    assert "Failed to commit" not in msgspec.json.encode(found).decode()


def test_events_beyond_the_rate_are_dropped_and_counted() -> None:
    now = [0.0]
    rate = EventRate(lambda: now[0], per_second=10)
    assert [rate.take() for _ in range(12)] == [True] * 10 + [False] * 2
    assert rate.dropped() == (2, True)
    now[0] += 0.5
    assert [rate.take() for _ in range(6)] == [True] * 5 + [False]
    now[0] += RECENT_S + 1
    assert [rate.take() for _ in range(10)] == [True] * 10
    assert rate.dropped() == (3, False)
