"""One suite over every MetaUpkeep: memory, and Spark on real Iceberg tables."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import polars as pl
import pyarrow as pa
import pytest

from lakes import FixedClock
from limnograph.adapters.embedded import frames
from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.errors import Conflict
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.facts.housekeeping import MaintenanceFact
from limnograph.domain.facts.meta_tables import (
    CHANGES,
    DAILY,
    HOURLY,
    MAINTENANCE,
    READS_HOURLY,
    REPORTS,
    SNAPSHOTS,
    ChangeFact,
    SnapshotFact,
)
from limnograph.domain.facts.reads import NameCount, ReadsFact
from limnograph.ports.meta_store import MetaStore
from limnograph.ports.meta_upkeep import MetaUpkeep, Position, Where
from limnograph.services.rollups.fold import DAY, HOUR, MOVE_COLUMNS, ROW_COLUMNS, Stamp, fold_days, roll_hours
from memory_meta import MemoryMetaStore
from memory_upkeep import MemoryUpkeep

if TYPE_CHECKING:
    from lakes import Lake

KEY = ("table_uuid", "snapshot_id", "committed_at")


class Kept(NamedTuple):
    """A store and its upkeep; `again` opens another upkeep of the same tables, as a second process would."""

    store: MetaStore
    upkeep: MetaUpkeep
    again: Callable[[], MetaUpkeep]


@pytest.fixture(params=["memory", pytest.param("spark", marks=pytest.mark.spark)])
def kept(request: pytest.FixtureRequest) -> Kept:
    if request.param == "memory":
        memory = MemoryMetaStore()
        upkeep = MemoryUpkeep(memory, FixedClock())
        memory.ensure()
        return Kept(memory, upkeep, lambda: upkeep)
    from limnograph.adapters.spark.housekeeping import SparkUpkeep
    from limnograph.adapters.spark.store import SparkMetaStore

    session: Any = request.getfixturevalue("spark")
    lake: Lake = request.getfixturevalue("shared_lake")
    namespace = f"meta_{uuid4().hex[:8]}"
    store = SparkMetaStore(session, lambda: lake.catalog, namespace)
    store.ensure()
    return Kept(
        store,
        SparkUpkeep(session, lambda: lake.catalog, namespace),
        lambda: SparkUpkeep(session, lambda: lake.catalog, namespace),
    )


def snapshot(snapshot_id: int, at: int = 0, series: str = "u", **columns: Any) -> SnapshotFact:
    return SnapshotFact(table_uuid=series, snapshot_id=snapshot_id, committed_at=at, **columns)


def put(kept: Kept, *facts: SnapshotFact) -> None:
    kept.store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, facts), kept.store.head(SNAPSHOTS), "run")


def at(kept: Kept, table: Any = SNAPSHOTS) -> Position:
    position = kept.again().standing(table).position
    assert position is not None
    return position


def ids(frame: pl.DataFrame) -> list[int]:
    return sorted(frame["snapshot_id"].to_list())


def rolled(hour: int, source: int, changes: int = 1, series: str = "u", **states: int) -> pl.DataFrame:
    row = dict.fromkeys(ROW_COLUMNS) | {
        "table_uuid": series,
        "snapshot_id": source,
        "committed_at": hour * HOUR,
        **states,
    }
    text = {"table_uuid", "operation", "catalog", "namespace", "table", "format"}
    rows = pl.DataFrame([row], schema={name: pl.String if name in text else pl.Int64 for name in ROW_COLUMNS})
    moves = {"table_uuid": [series], "at": [hour * HOUR], "place": [0], "snapshot_id": [source]}
    return roll_hours(rows, pl.DataFrame(moves).select(MOVE_COLUMNS), rows, Stamp(source, changes, 9))


def hourly(kept: Kept, *columns: str) -> list[tuple[Any, ...]]:
    position = kept.again().standing(HOURLY).position
    return sorted(kept.again().rows(HOURLY, position, ("hour", *columns), Where()).iter_rows())


def test_empty_tables_are_listed_as_empty_and_have_no_rows(kept: Kept) -> None:
    standing = kept.upkeep.standing(SNAPSHOTS)
    assert (standing.position, standing.files, standing.committed) == (None, 0, ())
    assert kept.upkeep.rows(SNAPSHOTS, None, KEY, Where(tables=frozenset({"u"}))).is_empty()


def test_literals_that_older_versions_stored_are_cleared_in_place(kept: Kept) -> None:
    old = ReportFact(
        event_id="old",
        at=DAY,
        filter='{"type":"eq","term":"name","value":"secret"}',
        metadata={"engine-name": "spark", "query": "secret"},
        metrics={"attempts": "2"},
    )
    loose = ReportFact(event_id="loose", at=DAY, metadata={"query": "secret"})
    clean = ReportFact(event_id="new", at=DAY, filter_columns=["name"], metadata={"app-id": "a"})
    kept.store.append(REPORTS, arrow_table(REPORTS, [old, loose, clean]), kept.store.head(REPORTS), "run")
    for _ in range(2):
        kept.upkeep.clear_literals()
        columns = ("event_id", "filter", "filter_columns", "metadata", "metrics")
        rows = kept.again().rows(REPORTS, at(kept, REPORTS), columns, Where()).sort("event_id").to_dicts()
        assert "secret" not in str(rows)
        assert [row["filter"] for row in rows] == [None] * 3
        assert [row["metadata"] for row in rows] == [None, {"app-id": "a"}, {"engine-name": "spark"}]
        assert rows[2]["metrics"] == {"attempts": "2"}
        assert rows[1]["filter_columns"] == ["name"]


def test_fresh_rows_are_those_after_a_sequence_number_regardless_of_compaction(kept: Kept) -> None:
    put(kept, snapshot(1, 5), snapshot(2, 3 * DAY))
    first = at(kept)
    assert ids(kept.upkeep.fresh(SNAPSHOTS, first, 0, KEY)) == [1, 2]
    assert kept.upkeep.fresh(SNAPSHOTS, first, first.sequence, KEY).is_empty()
    put(kept, snapshot(3, 6))
    second = at(kept)
    assert second.sequence > first.sequence
    fresh = kept.upkeep.fresh(SNAPSHOTS, second, first.sequence, KEY)
    assert fresh.rows() == [("u", 3, 6)]
    day = next(part for part in kept.upkeep.standing(SNAPSHOTS).parts if part.start == 0)
    assert (day.end, day.files) == (DAY, 2)
    kept.upkeep.compact(SNAPSHOTS, day, whole=False)
    third = at(kept)
    assert kept.again().fresh(SNAPSHOTS, third, second.sequence, KEY).is_empty()
    assert 3 in ids(kept.again().fresh(SNAPSHOTS, second, first.sequence, KEY))
    assert ids(kept.again().fresh(SNAPSHOTS, third, 0, KEY)) == [1, 2, 3]
    parts = {part.start: part.files for part in kept.again().standing(SNAPSHOTS).parts}
    assert parts == {0: 1, 3 * DAY: 1}


def test_rows_are_found_by_table_id_time_and_text(kept: Kept) -> None:
    put(kept, snapshot(1, 5), snapshot(2, 3 * DAY), snapshot(2**62 + 1, 3 * DAY + 7, "v", engine="spark"))
    head = at(kept)

    def found(**where: Any) -> list[int]:
        return ids(kept.upkeep.rows(SNAPSHOTS, head, ("snapshot_id",), Where(**where)))

    assert found() == [1, 2, 2**62 + 1]
    assert found(tables=frozenset({"v"})) == [2**62 + 1]
    assert found(tables=frozenset()) == []
    assert found(ids=frozenset({1, 2**62 + 1})) == [1, 2**62 + 1]
    assert found(start=3 * DAY, end=3 * DAY + 7) == [2]
    assert found(equal={"engine": "spark"}) == [2**62 + 1]


def test_a_merge_inserts_new_spans_and_replaces_only_those_of_older_heads(kept: Kept) -> None:
    january, march = 0, 60 * 24
    kept.upkeep.merge(HOURLY, pl.concat([rolled(january, 5, total_records=1), rolled(march, 5, total_records=2)]))
    assert hourly(kept, "total_records_last") == [(0, 1), (march * HOUR, 2)]
    kept.upkeep.merge(HOURLY, rolled(january, 4, total_records=7))
    kept.upkeep.merge(HOURLY, rolled(january, 5, total_records=7))
    assert hourly(kept, "total_records_last")[0] == (0, 1)
    kept.upkeep.merge(HOURLY, rolled(january, 5, 2, total_records=8))
    assert hourly(kept, "total_records_last", "changes_sequence")[0] == (0, 8, 2)
    kept.upkeep.merge(HOURLY, pl.concat([rolled(january, 6, 2, total_records=9), rolled(1, 6, 2, total_records=3)]))
    assert hourly(kept, "total_records_last") == [(0, 9), (HOUR, 3), (march * HOUR, 2)]
    stamp = Stamp(6, 2, 9)
    position = kept.again().standing(HOURLY).position
    columns = tuple(column.name for column in HOURLY.columns)
    kept.upkeep.merge(DAILY, fold_days(kept.upkeep.rows(HOURLY, position, columns, Where(end=DAY)), stamp))
    days = kept.upkeep.rows(DAILY, kept.again().standing(DAILY).position, ("day", "main_moves"), Where())
    assert days.rows() == [(0, 2)]


def test_rows_whose_key_has_nulls_are_replaced_too(kept: Kept) -> None:
    def merge(source: int, *rows: tuple[str | None, int]) -> None:
        facts = [ReadsFact(table_uuid="u", hour=0, engine=engine, scans=scans, users=[NameCount("ana", scans)])
                 for engine, scans in rows]  # fmt: skip
        frame = frames.frame("reads_hourly", facts)
        kept.upkeep.merge(
            READS_HOURLY,
            frame.with_columns(
                pl.lit(value, pl.Int64).alias(name)
                for name, value in (("source_sequence", source), ("changes_sequence", 0), ("rolled_at", 9))
            ),
        )

    merge(1, (None, 1), ("spark", 2))
    merge(2, (None, 3), ("trino", 4))
    merge(1, ("trino", 9))
    columns = ("engine", "scans", "users")
    rows = kept.again().rows(READS_HOURLY, at(kept, READS_HOURLY), columns, Where()).sort("engine").rows()
    assert [(engine, scans, users[0]["count"]) for engine, scans, users in rows] == [
        (None, 3, 3),
        ("spark", 2, 2),
        ("trino", 4, 4),
    ]


def test_racing_merges_of_one_span_keep_the_newest_and_duplicate_no_key(kept: Kept) -> None:
    failures: list[BaseException] = []

    def race(source: int) -> None:
        try:
            kept.again().merge(HOURLY, rolled(0, source, total_records=source))
        except Conflict:
            pass
        except BaseException as error:  # noqa: BLE001 - the test must see it
            failures.append(error)

    for lowest in (1, 4):  # into the empty table, and onto a row that is there
        racers = [threading.Thread(target=race, args=(source,)) for source in range(lowest, lowest + 3)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
        assert failures == []
        assert len(hourly(kept)) == 1
    kept.upkeep.merge(HOURLY, rolled(0, 6, total_records=6))
    assert hourly(kept, "total_records_last") == [(0, 6)]


def test_an_append_during_a_compaction_wins_and_loses_no_row(kept: Kept) -> None:
    for number in range(1, 5):
        put(kept, snapshot(number, number))
    part = kept.upkeep.standing(SNAPSHOTS).parts[0]
    failures: list[BaseException] = []

    def compact() -> None:
        try:
            kept.again().compact(SNAPSHOTS, part, whole=True)
        except Conflict:
            pass
        except BaseException as error:  # noqa: BLE001 - the test must see it
            failures.append(error)

    rival = threading.Thread(target=compact)
    head = kept.store.head(SNAPSHOTS)
    rival.start()
    for number in range(5, 8):
        kept.store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, [snapshot(number, number)]), head, "run")
        head = kept.store.head(SNAPSHOTS)
    rival.join()
    assert failures == []
    assert ids(kept.again().rows(SNAPSHOTS, at(kept), ("snapshot_id",), Where())) == [1, 2, 3, 4, 5, 6, 7]


def test_rows_are_deleted_by_key_and_partitions_by_time(kept: Kept) -> None:
    put(kept, snapshot(1, 5), snapshot(2, 6), snapshot(1, 7, "v"), snapshot(9, 3 * DAY))
    before = at(kept)
    keys = kept.upkeep.rows(SNAPSHOTS, before, KEY, Where(tables=frozenset({"u"}), ids=frozenset({1, 9})))
    kept.upkeep.delete(keys)
    left = kept.again().rows(SNAPSHOTS, at(kept), ("table_uuid", "snapshot_id"), Where())
    assert sorted(left.rows()) == [("u", 2), ("v", 1)]
    assert ids(kept.again().rows(SNAPSHOTS, before, ("snapshot_id",), Where())) == [1, 1, 2, 9]
    february = 31 * 24
    kept.upkeep.merge(HOURLY, pl.concat([rolled(3, 5), rolled(february, 5)]))
    kept.upkeep.delete_before(HOURLY, 31 * DAY)
    assert hourly(kept) == [(february * HOUR,)]


def test_expiry_keeps_the_newest_snapshots_and_every_row(kept: Kept) -> None:
    for number in range(1, 6):
        put(kept, snapshot(number, number))
    standing = kept.upkeep.standing(SNAPSHOTS)
    assert len(standing.committed) == 5
    kept.upkeep.expire(SNAPSHOTS, standing.committed[0], 2)
    assert len(kept.again().standing(SNAPSHOTS).committed) == 5
    kept.upkeep.expire(SNAPSHOTS, standing.committed[-1] + DAY, 2)
    assert len(kept.again().standing(SNAPSHOTS).committed) == 2
    assert ids(kept.again().rows(SNAPSHOTS, at(kept), ("snapshot_id",), Where())) == [1, 2, 3, 4, 5]


def test_properties_are_kept_manifests_are_rewritten_and_nothing_live_is_an_orphan(kept: Kept) -> None:
    for number in range(1, 4):
        put(kept, snapshot(number, number))
    kept.upkeep.set_properties(SNAPSHOTS, {"limnograph.raw-floor": "2026-01-02"})
    assert kept.again().standing(SNAPSHOTS).properties["limnograph.raw-floor"] == "2026-01-02"
    kept.upkeep.rewrite_manifests(SNAPSHOTS)
    now = kept.again().standing(SNAPSHOTS).committed[-1]
    assert kept.upkeep.orphans(SNAPSHOTS, now - 3 * DAY, remove=False) == 0
    assert kept.upkeep.orphans(SNAPSHOTS, now - 3 * DAY, remove=True) == 0
    assert ids(kept.again().rows(SNAPSHOTS, at(kept), ("snapshot_id",), Where())) == [1, 2, 3]


def test_changes_and_runs_of_maintenance_are_read_like_the_others(kept: Kept) -> None:
    change = ChangeFact(table_uuid="u", kind="ref", subject="main", to_value="1", at=5)
    kept.store.append(CHANGES, arrow_table(CHANGES, [change]), None, "run")
    found = kept.upkeep.rows(CHANGES, at(kept, CHANGES), ("to_value", "at"), Where(equal={"kind": "ref"}))
    assert found.rows() == [("1", 5)]
    run = MaintenanceFact(run_id="r", status="ok", kind="expire", started_at=7, seconds=0.5)
    kept.store.append(MAINTENANCE, arrow_table(MAINTENANCE, [run]), None, "run")
    found = kept.upkeep.rows(MAINTENANCE, at(kept, MAINTENANCE), ("kind", "started_at", "seconds"), Where())
    assert found.rows() == [("expire", 7, 0.5)]
    assert isinstance(arrow_table(MAINTENANCE, [run]), pa.Table)
