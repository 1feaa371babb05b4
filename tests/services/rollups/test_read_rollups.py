"""Reads by the hour: the function against a brute-force oracle, and the step over a store, whatever came when."""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.domain.facts.events import ReportFact
from limnograph.domain.facts.meta_tables import READS_HOURLY, REPORTS
from limnograph.domain.facts.reads import SECONDS_EDGES
from limnograph.domain.failpoints import FailpointReached, around
from limnograph.services.rollups.fold import DAY, HOUR, Stamp
from limnograph.services.rollups.reads_fold import (
    KEY,
    OF_SCANS,
    merge_reads,
    quantile,
    reads_of,
    report_rows,
    roll_reads,
    sum_reads,
)
from upkeep_world import NOW, World

STAMPS = {"source_sequence", "changes_sequence", "rolled_at"}
Row = dict[str, Any]


def report(number: int, at: int = NOW, table: str = "u", kind: str = "scan", **columns: Any) -> ReportFact:
    name = {"catalog": "lake", "namespace": "sales", "table": table}
    return ReportFact(event_id=f"e{number}", kind=kind, at=at, **(name | columns))


def reads(facts: Sequence[ReportFact], live: dict[int, int] | None = None) -> pl.DataFrame:
    """Reports with their table, which has the name's last part as identity, and live files by snapshot id."""
    found = reads_of(report_rows(facts))
    files = [(live or {}).get(snapshot) for snapshot in found["snapshot_id"]]
    return found.with_columns(pl.col("table").alias("table_uuid"), pl.Series("live_files", files, pl.Int64))


def oracle(facts: Sequence[ReportFact], live: dict[int, int]) -> list[Row]:
    """What the columns promise, one key at a time."""
    groups: dict[tuple[Any, ...], dict[str, ReportFact]] = defaultdict(dict)
    for fact in facts:
        if any(_says_more(other, fact) for other in facts if other.kind != "query" or other.operation is None):
            continue
        if fact.kind == "scan" or (fact.kind == "query" and fact.operation is None):
            at = fact.at or 0
            key = (fact.table, at // HOUR * HOUR, fact.engine, fact.engine_version, fact.job_name)
            groups[key].setdefault(fact.event_id, fact)
    return [_group(key, list(found.values()), live) for key, found in groups.items()]


def _says_more(other: ReportFact, fact: ReportFact) -> bool:
    """Whether another source reports the application's reads of that table and hour, and takes precedence."""
    order = ["spark", "openlineage", "iceberg-rest", None]
    same = [(f.table, f.kind, f.application_id, (f.at or 0) // HOUR) for f in (other, fact)]
    known = fact.application_id is not None
    return known and same[0] == same[1] and order.index(other.source) < order.index(fact.source)


def _group(key: tuple[Any, ...], facts: list[ReportFact], live: dict[int, int]) -> Row:
    scans = [fact for fact in facts if fact.kind == "scan"]
    queries = [fact for fact in facts if fact.kind == "query"]
    newest = max(facts, key=lambda fact: (fact.at, fact.event_id))
    row: Row = dict(zip(KEY, key, strict=True)) | {"scans": len(scans), "queries": len(queries)}
    row |= {name: getattr(newest, name) for name in ("catalog", "namespace", "table")}
    row["last_at"] = newest.at
    row |= _seconds("planning", [fact.duration_seconds for fact in scans])
    row |= _seconds("query", [fact.wall_seconds for fact in queries])
    for name, column in OF_SCANS.items():
        values = [getattr(fact, column) for fact in scans]
        known = [value for value in values if value is not None]
        row[name] = None if values and not known else sum(known)
    known_live = [f for f in scans if f.result_data_files is not None and f.snapshot_id in live]
    row["live_scans"] = len(known_live)
    row["live_files_opened"] = _or_null(scans, [f.result_data_files for f in known_live])
    row["live_files"] = _or_null(scans, [live[f.snapshot_id or 0] for f in known_live])
    told = [f for f in queries if f.rows is not None and f.read_bytes is not None]
    row["rows"] = _or_null(queries, [f.rows for f in told])
    row["read_bytes"] = _or_null(queries, [f.read_bytes for f in told])
    row["filters_known"] = sum(f.filter_columns is not None for f in scans)
    row["filter_columns"] = _counts([name for f in scans for name in set(f.filter_columns or ())])
    row["users"] = _counts([f.user for f in facts if f.user is not None])
    ids = sorted({f.snapshot_id for f in facts if f.snapshot_id is not None})
    items = [
        {
            "snapshot_id": i,
            "scans": sum(f.kind == "scan" for f in of),
            "queries": sum(f.kind == "query" for f in of),
            "last_at": max(f.at or 0 for f in of),
        }
        for i in ids
        for of in [[f for f in facts if f.snapshot_id == i]]
    ]
    row["snapshots"] = sorted(items, key=lambda item: (-item["last_at"], item["snapshot_id"])) or None
    return row


def _or_null(of: list[ReportFact], values: list[Any]) -> int | None:
    return None if of and not values else sum(values)


def _counts(names: list[str]) -> list[Row] | None:
    found = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    return [{"name": name, "count": count} for name, count in found] or None


def _seconds(name: str, values: list[float | None]) -> Row:
    known = sorted(value for value in values if value is not None)
    bins = [0] * (len(SECONDS_EDGES) + 1)
    for value in known:
        bins[bisect_right(SECONDS_EDGES, value)] += 1
    return {
        f"{name}_count": len(known),
        f"{name}_seconds_sum": pytest.approx(sum(known)),
        f"{name}_seconds_p50": pytest.approx(statistics.median(known)) if known else None,
        f"{name}_seconds_p95": pytest.approx(float(np.quantile(known, 0.95))) if known else None,
        f"{name}_seconds_max": known[-1] if known else None,
        f"{name}_histogram": bins if known else None,
    }


def unstamped(rows: list[Row]) -> list[Row]:
    found = [{name: value for name, value in row.items() if name not in STAMPS} for row in rows]
    return sorted(found, key=lambda row: repr([row[name] for name in KEY]))


NUMBER = st.none() | st.integers(0, 2**40)
SECONDS = st.none() | st.floats(0, 5_000) | st.sampled_from([0.001, 1.024, SECONDS_EDGES[7]])
FACTS = st.builds(
    lambda number, at, table, kind, numbers, seconds, who, filters: report(
        number,
        at,
        table,
        kind,
        **dict(zip((*OF_SCANS.values(), "rows", "read_bytes"), numbers, strict=True)),
        duration_seconds=seconds[0],
        wall_seconds=seconds[1],
        snapshot_id=who[0],
        engine=who[1],
        job_name=who[2],
        user=who[3],
        operation=who[4],
        application_id=who[5],
        source=who[6],
        filter_columns=filters,
    ),
    st.integers(1, 12),
    st.integers(-2 * HOUR, HOUR),
    st.sampled_from(["u", "v"]),
    st.sampled_from(["scan", "scan", "query", "commit"]),
    st.lists(NUMBER, min_size=8, max_size=8),
    st.tuples(SECONDS, SECONDS),
    st.tuples(
        st.none() | st.integers(1, 3),
        st.none() | st.sampled_from(["spark", "trino"]),
        st.none() | st.just("nightly"),
        st.none() | st.sampled_from(["ana", "bo"]),
        st.none() | st.just("append"),
        st.none() | st.just("app-1"),
        st.none() | st.sampled_from(["spark", "openlineage", "iceberg-rest"]),
    ),
    st.none() | st.lists(st.sampled_from(["day", "customer_id"]), max_size=3),
)
HISTORIES = st.lists(FACTS, max_size=14, unique_by=lambda fact: fact.event_id)
LIVE = {1: 10, 2: 50_000}


@settings(max_examples=100, deadline=None)
@given(HISTORIES)
def test_hours_equal_a_plain_evaluation_of_the_reports(facts: list[ReportFact]) -> None:
    found = roll_reads(reads([*facts, *facts[:3]], LIVE), Stamp(7, 5, 123))
    assert unstamped(found.to_dicts()) == unstamped(oracle(facts, LIVE))
    assert found.columns == [column.name for column in READS_HOURLY.columns]


@settings(max_examples=50, deadline=None)
@given(HISTORIES, st.sampled_from([(), ("table_uuid",), ("engine",), ("engine", "job_name")]))
def test_hours_added_up_equal_the_sum_of_the_reports(facts: list[ReportFact], keys: tuple[str, ...]) -> None:
    """All but percentiles, which come from histograms: those are within a bin of the next value."""
    whole = sum_reads(reads(facts, LIVE), keys).to_dicts()
    added = merge_reads(roll_reads(reads(facts, LIVE), Stamp(7, 5, 123)), keys).to_dicts()
    for one, other in zip(sorted(whole, key=repr), sorted(added, key=repr), strict=True):
        for name, value in one.items():
            if name.endswith("_sum"):
                assert other[name] == pytest.approx(value)
            elif not name.endswith(("_p50", "_p95", "_bin")) and name not in {"catalog", "namespace", "table"}:
                assert other[name] == value, name


@given(st.lists(st.floats(0.001, 4_000), min_size=1, max_size=50), st.sampled_from([0.5, 0.95]))
def test_a_quantile_of_a_histogram_is_within_a_bin_of_a_value(values: list[float], share: float) -> None:
    counts = [0] * (len(SECONDS_EDGES) + 1)
    for value in values:
        counts[bisect_right(SECONDS_EDGES, value)] += 1
    found = quantile(counts, max(values), share)
    near = float(np.quantile(values, share, method="inverted_cdf"))
    assert found is not None
    assert near / 1.2 <= found <= near * 1.2


def test_a_quantile_of_nothing_is_unknown() -> None:
    assert quantile([0] * 90, None, 0.5) is None


def rolled(world: World) -> list[Row]:
    return unstamped([row for row in world.read(READS_HOURLY) if row["scans"] or row["queries"]])


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("report"), st.integers(1, 9), st.integers(0, 30), st.sampled_from("uvw")),
        st.tuples(st.just("named"), st.integers(1, 3), st.integers(0, 30), st.sampled_from("uvw")),
        st.just(("roll", 0, 0, "")),
    ),
    max_size=14,
)


@settings(max_examples=40, deadline=None)
@given(EVENTS)
def test_a_roll_up_in_any_pieces_equals_the_roll_up_of_everything(events: list[Any]) -> None:
    world, whole = World(), World()
    for number, (what, value, hours, name) in enumerate(events):
        for each in (world, whole):
            if what == "report":
                each.reports(report(number, NOW - hours * HOUR, name, user=f"user{value}"))
            elif what == "named":
                each.named(f"series{value}", NOW - hours * HOUR, name)
        if what == "roll":
            world.read_rollups().run()
    world.read_rollups().run()
    whole.read_rollups().run()
    assert rolled(world) == rolled(whole)


def test_a_report_that_was_appended_twice_counts_once() -> None:
    world = World()
    world.named("u", NOW - DAY)
    world.reports(report(1, files := NOW, result_data_files=5))
    assert world.read_rollups().run() == 1
    world.reports(report(1, files, result_data_files=5), report(2, NOW + 1, result_data_files=7))
    world.read_rollups().run()
    assert [(row["scans"], row["files_opened"]) for row in rolled(world)] == [(2, 12)]


def test_a_scan_that_two_sources_report_counts_once() -> None:
    both = [
        report(number, application_id="app", source=source, result_data_files=4)
        for number, source in enumerate(["iceberg-rest", "iceberg-rest", "spark", "spark"])
    ]
    other = report(9, application_id="other", source="iceberg-rest", result_data_files=3)
    trino = report(10, source="iceberg-rest", result_data_files=2)
    (row,) = roll_reads(reads([*both, other, trino]), Stamp(7, 5, 123)).to_dicts()
    assert (row["scans"], row["files_opened"]) == (4, 13)


def test_a_second_run_merges_nothing_and_is_not_due() -> None:
    world = World()
    world.named("u", NOW - DAY)
    world.reports(report(1))
    made = world.read_rollups()
    assert (made.behind(), made.run(), made.behind(), made.run()) == (True, 1, False, 0)
    assert world.upkeep.calls.count(("merge", READS_HOURLY.name)) == 1


def test_a_report_of_an_unknown_table_counts_once_its_name_is_known() -> None:
    world = World()
    world.reports(report(1, NOW - HOUR, "orders"))
    assert world.read_rollups().run() == 0
    world.named("series1", NOW, "orders")
    world.read_rollups().run()
    assert [(row["table_uuid"], row["scans"]) for row in rolled(world)] == [("series1", 1)]


def test_reports_belong_to_the_table_that_had_the_name_then() -> None:
    world = World()
    world.named("old", NOW - 9 * HOUR, "orders")
    world.reports(report(1, NOW - 3 * HOUR, "orders"), report(2, NOW - HOUR, "orders"))
    world.read_rollups().run()
    world.named("new", NOW - 2 * HOUR, "orders")
    world.read_rollups().run()
    assert [(row["table_uuid"], row["hour"]) for row in rolled(world)] == [
        ("new", (NOW - HOUR) // HOUR * HOUR),
        ("old", (NOW - 3 * HOUR) // HOUR * HOUR),
    ]


def test_live_files_come_from_the_snapshot_that_was_read() -> None:
    world = World()
    world.named("u", NOW - DAY)
    world.commit(7, NOW - 2 * HOUR, total_data_files=100)
    world.reports(report(1, snapshot_id=7, result_data_files=20), report(2, snapshot_id=8, result_data_files=20))
    world.read_rollups().run()
    row = rolled(world)[0]
    assert (row["live_scans"], row["live_files_opened"], row["live_files"], row["files_opened"]) == (1, 20, 100, 40)


@pytest.mark.parametrize("name", around(("merge_reads", "mark_reads")))
def test_a_roll_up_that_dies_anywhere_is_completed_by_the_next(name: str) -> None:
    world = World()
    world.named("u", NOW - DAY)
    world.reports(report(1), report(2, NOW - HOUR))
    with pytest.raises(FailpointReached):
        world.read_rollups(f"{name}:1:raise").run()
    world.read_rollups().run()
    assert [row["scans"] for row in rolled(world)] == [1, 1]
    assert world.read_rollups().behind() is False


def test_reports_are_kept_for_seven_days_and_their_hours_for_longer() -> None:
    world = World()
    world.named("u", NOW - 30 * DAY)
    old = [report(number, NOW - number * DAY) for number in range(12)]
    world.reports(*old)
    before = world.report_retention()
    assert before.old()
    assert before.run().reports == 4
    assert len(world.read(REPORTS, "event_id", "at")) == 8
    assert len(rolled(world)) == 12
    assert not world.report_retention().old()
    world.reports(report(99, NOW - 10 * DAY), report(100, NOW))
    world.read_rollups().run()
    assert sum(row["scans"] for row in rolled(world)) == 13  # a report that is older than the floor is too late


@pytest.mark.parametrize("name", around(("close_reports", "delete_reports")))
def test_a_deletion_that_dies_anywhere_is_completed_by_the_next(name: str) -> None:
    world = World()
    world.named("u", NOW - 30 * DAY)
    world.reports(report(1, NOW - 9 * DAY), report(2))
    with pytest.raises(FailpointReached):
        world.report_retention(f"{name}:1:raise").run()
    world.report_retention().run()
    assert [row["event_id"] for row in world.read(REPORTS, "event_id", "at")] == ["e2"]
    assert [row["scans"] for row in rolled(world)] == [1, 1]


def test_the_steps_roll_up_reads_and_delete_old_reports() -> None:
    world = World()
    world.named("u", NOW - 30 * DAY)
    world.reports(report(1, NOW - 9 * DAY), report(2))
    done = {(step.kind, step.table) for step in world.settle() if step.did}
    assert {("rollup", READS_HOURLY.name), ("retention", REPORTS.name)} <= done
    assert not any(step.did for step in world.settle())
