"""The hot store: what it holds, what it reads cold, what the watcher adds."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator

import msgspec
import polars as pl

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.answers.tables import SourceStatus
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.ports.query_engine import MetaHead
from limnograph.services.lake.lake import Facts
from limnograph.services.lake.sheets import passes_of
from limnograph.services.lake.store import STUCK, HotStore
from limnograph.wiring.server import build_services
from limnograph.wiring.server_metrics import own_metrics
from limnograph.wiring.server_options import ServerOptions
from serving_kit import HOUR, NOW, SECOND, UUID, FixedClock, MemoryInbox, change, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")


def store(engine, clock=None) -> HotStore:
    made = HotStore(engine, clock or FixedClock())
    made.refresh()
    return made


class Hanging(MemoryEngine):
    """Its catalog hangs until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = threading.Event(), threading.Event()
        self.go.set()

    def head(self) -> MetaHead:
        self.asked.set()
        self.go.wait(30)
        return super().head()


@contextlib.contextmanager
def hanging(made: HotStore, engine: Hanging) -> Iterator[None]:
    """A refresh that began and does not end."""
    engine.go.clear()
    engine.asked.clear()
    refresh = threading.Thread(target=made.refresh)
    refresh.start()
    try:
        assert engine.asked.wait(30)
        yield
    finally:
        engine.go.set()
        refresh.join(30)


def meta_status(made) -> SourceStatus:
    status = asyncio.run(made.backend.status.status())
    assert status.hourly_days == 400
    return next(source for source in status.sources if source.kind == "meta")


def test_a_hanging_read_is_reported_with_its_start_until_it_ends() -> None:
    clock, engine = FixedClock(), Hanging()
    engine.append([row(1, NOW - HOUR, 7)], [moved(1, NOW - HOUR)])
    made = parts(engine, clock=clock)
    with hanging(made.store, engine):
        clock.micros += STUCK - SECOND
        assert meta_status(made).status == "ok"
        clock.micros += SECOND
        told = meta_status(made)
        assert (told.status, told.age_s) == ("stale", 60.0)
        assert told.detail == "meta: the read that started at 2026-11-21T10:00:00+00:00 has not finished"
        assert own_metrics(made)["limnograph_meta_up"] == 0
        versions = made.backend.versions
        assert versions.of(NAME) == versions.of(NAME)  # pages are kept, and shared by those who wait for one
        assert made.store.reading.lake.find(NAME).main_at(NOW).total_data_files == 7
    assert (meta_status(made).status, meta_status(made).detail) == ("ok", None)


def test_a_server_whose_first_read_hangs_serves_available_data() -> None:
    clock, engine = FixedClock(), Hanging()
    made = build_services(ServerOptions(engine, MemoryInbox(), clock))
    with hanging(made.store, engine):
        assert made.backend.status.waiting_for()
        clock.micros += STUCK
        assert made.backend.status.waiting_for() is None
        assert meta_status(made).status == "error"


def test_the_state_before_the_window_is_carried_in() -> None:
    old = NOW - 100 * HOUR
    made = store(lake([row(1, old, 7)], [moved(1, old)]))
    assert made.reading.lake.find(NAME).main_at(NOW).total_data_files == 7


def test_the_state_before_the_window_is_carried_in_without_a_log() -> None:
    made = store(lake([row(1, NOW - 101 * HOUR, 6), row(2, NOW - 100 * HOUR, 7)]))
    assert [r.snapshot_id for r in made.reading.lake.find(NAME).ordered] == [2]


def test_a_rollback_to_a_snapshot_older_than_the_window_is_known() -> None:
    old = NOW - 100 * HOUR
    log = [moved(1, old), moved(2, NOW - 2 * HOUR), moved(1, NOW - HOUR)]
    made = store(lake([row(1, old, 7), row(2, NOW - 2 * HOUR, 9)], log))
    assert made.reading.lake.find(NAME).column("total_data_files") == [7, 9, 7]


def test_a_range_across_the_hot_edge_has_no_overlap_and_no_gap() -> None:
    times = [NOW - hours * HOUR for hours in range(90, 0, -1)]
    rows = [row(i + 1, at, i) for i, at in enumerate(times)]
    made = store(lake(rows, [moved(i + 1, at) for i, at in enumerate(times)]))
    found = made.since(NOW - 80 * HOUR, (UUID,)).lake.find(NAME)
    inside = [entry for entry in found.main if entry[0] >= NOW - 80 * HOUR]
    assert [snapshot_id for _, snapshot_id in inside] == list(range(11, 91))
    assert None not in found.column("total_data_files")


def test_a_new_pass_is_seen_at_the_next_refresh() -> None:
    engine = lake([row(1, NOW - HOUR, 10)], [moved(1, NOW - HOUR)])
    made = store(engine)
    engine.append([row(2, NOW - 60, 11)], [moved(2, NOW - 60)])
    assert made.refresh()
    assert made.reading.lake.find(NAME).head.snapshot_id == 2
    assert not made.refresh()


def test_a_commit_from_the_watcher_is_provisional_until_its_durable_row_arrives() -> None:
    engine = lake([row(1, NOW - HOUR, 10)], [moved(1, NOW - HOUR)])
    made = store(engine)
    made.apply(Facts([row(2, NOW - 60, 12)], [moved(2, NOW - 60)]))
    assert made.reading.lake.find(NAME).provisional == {2}
    assert made.reading.lake.find(NAME).head.total_data_files == 12
    engine.append([row(2, NOW - 60, 12)], [moved(2, NOW - 60)])
    made.refresh()
    assert made.reading.lake.find(NAME).provisional == frozenset()
    assert [entry[1] for entry in made.reading.lake.find(NAME).main] == [1, 2]


def test_a_null_of_the_durable_row_never_erases_a_value_from_the_watcher() -> None:
    engine = MemoryEngine()
    made = store(engine)
    made.apply(Facts([row(2, NOW - 60, 12, manifests=4)], [moved(2, NOW - 60)]))
    engine.append([row(2, NOW - 60, 12)], [moved(2, NOW - 60)])
    made.refresh()
    assert made.reading.lake.find(NAME).head.manifests == 4


def test_a_durable_number_replaces_a_provisional_one() -> None:
    engine = MemoryEngine()
    made = store(engine)
    made.apply(Facts([row(2, NOW - 60, 12)], []))
    engine.append([row(2, NOW - 60, 13)], [])
    made.refresh()
    assert made.reading.lake.find(NAME).head.total_data_files == 13


def test_a_failing_source_keeps_the_last_lake_and_says_so() -> None:
    engine = lake([row(1, NOW - HOUR, 10)])
    made = store(engine)
    engine.failure = SourceUnavailable("meta", "catalog is down")
    made.refresh()
    assert made.reading.error is engine.failure
    assert made.reading.lake.find(NAME).head.total_data_files == 10
    engine.failure = None
    made.refresh()
    assert made.reading.error is None


def test_a_renamed_table_is_found_under_both_names() -> None:
    renamed = change("named", NOW - HOUR, "lake.sales.orders_v2", table="orders_v2")
    first = change("named", NOW - 9 * HOUR, "lake.sales.orders")
    made = store(lake([row(1, NOW - 9 * HOUR, 10)], [first, renamed]))
    assert made.reading.lake.find(NAME).name.table == "orders_v2"
    assert made.reading.lake.find(TableName("lake", "sales", "orders_v2")).uuid == UUID


def test_nothing_observed_means_no_watermark() -> None:
    assert store(MemoryEngine()).watermark is None


def test_the_watermark_is_the_newest_observation_and_a_later_probe_moves_it() -> None:
    made = store(lake([msgspec.structs.replace(row(1, NOW - HOUR), observed_at=NOW - 500)]))
    assert made.watermark == NOW - 500
    made.probed(NOW - 3, ["lake"], [])
    assert made.watermark == NOW - 3


def test_the_watermark_of_a_long_pass_is_its_start_and_not_its_end() -> None:
    rows = [row(i, NOW - HOUR, run_id="r1", observed_at=NOW - 900 + i) for i in range(1, 5)]
    made = store(lake([*rows, row(9, NOW - 2 * HOUR, run_id="r0", observed_at=NOW - 5_000)]))
    assert made.watermark == NOW - 899


def test_without_a_pipeline_rows_that_left_the_window_leave_memory_but_for_the_state_at_its_edge() -> None:
    clock = FixedClock(NOW)
    made = store(MemoryEngine(), clock)
    made.apply(Facts([row(i, NOW - (40 - i) * HOUR, i) for i in range(1, 30)], []))
    clock.micros = NOW + 24 * HOUR
    made.refresh()
    kept = [r.snapshot_id for r in made.reading.lake.find(NAME).ordered]
    assert kept == list(range(15, 30)), kept


def test_facts_of_one_table_leave_the_others_as_they_are() -> None:
    made = store(lake([row(1, NOW - HOUR, 10), row(5, NOW - HOUR, 5, table_uuid="other", table="other")]))
    before = made.reading.lake.tables["other"]
    made.apply(Facts([row(2, NOW - 60, 11)], []))
    assert made.reading.lake.tables["other"] is before
    assert made.reading.lake.find(NAME).head.total_data_files == 11
    assert [history.name.table for history in made.reading.lake.current()] == ["orders", "other"]


def test_a_name_belongs_to_the_table_that_took_it_last() -> None:
    old = [change("named", NOW - 9 * HOUR, subject="lake.sales.orders")]
    new = [change("named", NOW - HOUR, subject="lake.sales.orders", table_uuid="new")]
    made = store(lake([row(1, NOW - 9 * HOUR, 1), row(2, NOW - HOUR, 2, table_uuid="new")], [*old, *new]))
    assert made.reading.lake.find(NAME).uuid == "new"
    made.apply(Facts([row(3, NOW - 60, 3)], []))
    assert made.reading.lake.find(NAME).uuid == "new"


def test_rows_deleted_from_the_meta_tables_disappear_at_the_next_refresh() -> None:
    engine = lake([row(1, NOW - 2 * HOUR, 10), row(2, NOW - HOUR, 11)])
    made = store(engine)
    engine._snapshots = engine._snapshots[:1]
    engine.append([], [change("property", NOW, "x", subject="write.a")])
    made.refresh()
    assert [r.snapshot_id for r in made.reading.lake.find(NAME).ordered] == [1]


def test_a_row_that_was_extracted_again_replaces_the_one_in_memory() -> None:
    engine = lake([row(1, NOW - HOUR, None, observed_at=NOW - 50, run_id="a")])
    made = store(engine)
    engine._snapshots = []
    engine.append([row(1, NOW - HOUR, 10, observed_at=NOW - 5, run_id="b")], [])
    made.refresh()
    assert made.reading.lake.find(NAME).head.total_data_files == 10


def test_the_watermark_of_an_unreadable_table_falls_behind_alone() -> None:
    made, other = store(MemoryEngine()), TableName("lake", "sales", "broken")
    made.probed(NOW - 9, ["lake"], [])
    made.probed(NOW - 6, ["lake"], ["lake.sales.broken"])
    made.probed(NOW - 3, ["lake"], ["lake.sales.broken"])
    assert (made.known_until(other), made.known_until(NAME), made.watermark) == (NOW - 9, NOW - 3, NOW - 3)
    made.probed(NOW - 1, ["lake"], [])
    assert made.known_until(other) == NOW - 1


def test_a_table_that_was_never_read_has_no_watermark() -> None:
    made = store(MemoryEngine())
    made.probed(NOW - 3, ["lake"], [str(NAME)])
    assert made.known_until(NAME) is None


def test_tables_of_an_unresponsive_catalog_fall_behind_and_others_do_not() -> None:
    made = store(MemoryEngine())
    made.probed(NOW - 9, ["lake", "pond"], [])
    made.probed(NOW - 3, ["pond"], [])
    assert made.known_until(NAME) == NOW - 9
    assert made.known_until(TableName("pond", "a", "b")) == NOW - 3


class Bug(MemoryEngine):
    """An engine that breaks in a way that no port knows."""

    def head(self):
        raise ZeroDivisionError


def test_an_unexpected_error_of_a_refresh_is_shown_on_the_pages() -> None:
    made = store(Bug())
    assert made.attempted
    assert made.reading.error.source == "meta"


def test_a_pass_over_other_tables_does_not_move_the_watermark_of_an_unreadable_one() -> None:
    other = {"table_uuid": "other", "table": "fine"}
    rows = [row(1, NOW - HOUR, observed_at=NOW - 500), row(2, NOW - HOUR, observed_at=NOW - 5, run_id="r", **other)]
    made = store(lake(rows))
    made.probed(NOW - 9, ["lake"], [str(NAME)])
    assert made.known_until(NAME) == NOW - 500
    assert made.known_until(TableName("lake", "sales", "fine")) == NOW - 5
    made.probed(NOW - 2, [], [])
    assert made.known_until(NAME) == NOW - 500
    assert made.known_until(TableName("lake", "sales", "fine")) == NOW - 5
    made.probed(NOW - 1, ["lake"], [])
    assert made.known_until(NAME) == NOW - 1


def test_the_watermark_of_a_catalog_that_never_responded_is_that_of_its_own_rows() -> None:
    pond = {"catalog": "pond", "table_uuid": "other"}
    rows = [row(1, NOW - HOUR, observed_at=NOW - 500), row(2, NOW - HOUR, observed_at=NOW - 5, run_id="r", **pond)]
    made = store(lake(rows))
    made.probed(NOW - 2, ["pond"], [])
    assert made.known_until(NAME) == NOW - 500


def test_a_pass_is_as_old_as_its_first_row_and_rows_without_a_run_are_passes_of_their_own() -> None:
    runs = ["a", "b", "a", None, None, None, "b"]
    frame = pl.DataFrame({"run_id": runs, "observed_at": [5, 7, 3, 9, 9, None, None], "other": [0] * 7})
    assert passes_of(frame, frame.head(1)) == {"a": 3, "b": 7, "9": 9}
