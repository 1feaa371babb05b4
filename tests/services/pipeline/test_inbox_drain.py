"""The inbox becomes rows of the meta tables: each key once, through deaths, rivals, lost replies and odd items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.events import AlertFact, LabelFact, ReportFact, RunFact, RunTable
from limnograph.domain.facts.meta_tables import ALERTS, EFFECTS, LABELS, NOTES, PLANS, REPORTS, RUNS, MetaTable
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.failpoints import INBOX_STEPS, FailpointReached, Failpoints, around
from limnograph.ports.inbox import KEEP, InboxItem, item_key
from limnograph.services.pipeline import drain as draining
from limnograph.services.pipeline.drain import Drain
from memory_meta import MemoryMetaStore
from serving_kit import HOUR, NOW, FixedClock

TABLES = [RunTable(catalog="lake", namespace="sales", table="orders", role="reads", read_snapshot_id=2**62)]

MEASURED: dict[str, Any] = {
    "table_uuid": "u",
    "operation_id": "1",
    "job_name": "churn",
    "measure": "duration",
    "runs_after": 8,
}


def run_item(name: str, status: str = "ok", at: int = NOW, **fields: Any) -> InboxItem:
    fact = RunFact(run_id=name, status=status, started_at=at - 5, ended_at=at, tables=TABLES, observed_at=at, **fields)
    return InboxItem("run", item_key(name, status), msgspec.json.encode(fact), at)


def drain(inbox: MemoryInbox, store: MemoryMetaStore, failpoint: str = "", clock: FixedClock | None = None) -> Drain:
    return Drain(inbox, store, clock or FixedClock(), arrow_table, failpoints=Failpoints(failpoint))


def held(store: MemoryMetaStore, table: MetaTable = RUNS) -> list[tuple[Any, ...]]:
    rows = store.rows(table)
    return sorted(zip(*(rows.column(name).to_pylist() for name in table.key), strict=True))


def filled(*items: InboxItem) -> MemoryInbox:
    inbox = MemoryInbox()
    inbox.put(items)
    return inbox


def waiting(inbox: MemoryInbox) -> list[str]:
    return [item.key for item in inbox.waiting(draining.TARGETS, 99)]


def test_every_kind_is_written_to_its_own_table_once() -> None:
    facts: list[tuple[str, MetaTable, Any]] = [
        ("alert", ALERTS, AlertFact(fingerprint="f", starts_at=NOW, status="firing", labels={"severity": "page"})),
        ("report", REPORTS, ReportFact(event_id="e", kind="scan", at=NOW, metrics={"attempts": "1"})),
        ("label", LABELS, LabelFact(event_id="l", kind="confirmed", at=NOW)),
        ("plan", PLANS, PlanFact(plan_id="p", seq=1, state="proposed", because=["small_files"], cost_mid=0.5, at=NOW)),
        ("note", NOTES, NoteFact(event_id="n", kind="note", scope="table", text="so it is", at=NOW)),
        ("effect", EFFECTS, EffectFact(**MEASURED, committed_at=NOW, ratio_low=0.8, others=["7"])),
    ]
    inbox, store = filled(run_item("r")), MemoryMetaStore()
    inbox.put([InboxItem(kind, "k", msgspec.json.encode(fact), NOW) for kind, _, fact in facts])
    report = drain(inbox, store).run()
    assert (report.appended, report.committed, report.set_aside, report.more) == (7, 7, 0, False)
    assert held(store) == [("r", "ok")]
    assert all(store.rows(table).num_rows == 1 for _, table, _ in facts)
    assert store.rows(RUNS).to_pylist()[0]["tables"][0]["read_snapshot_id"] == 2**62
    assert drain(inbox, store).run().appended == 0
    assert waiting(inbox) == []


def test_an_item_stays_for_an_hour_after_its_commit() -> None:
    inbox, store, clock = filled(run_item("r")), MemoryMetaStore(), FixedClock()
    drain(inbox, store, clock=clock).run()
    clock.micros += KEEP
    assert drain(inbox, store, clock=clock).run().purged == 0
    assert len(inbox.items("run")) == 1
    clock.micros += 1
    assert drain(inbox, store, clock=clock).run().purged == 1
    inbox.put([run_item("r", at=clock.micros)])
    assert drain(inbox, store, clock=clock).run() == draining.DrainReport(committed=1)
    assert held(store) == [("r", "ok")]


@pytest.mark.parametrize("name", around(INBOX_STEPS))
@pytest.mark.parametrize("nth", [1, 2])
def test_a_drain_that_dies_anywhere_is_completed_exactly_by_the_next(name: str, nth: int) -> None:
    inbox, store = filled(run_item("a"), run_item("b")), MemoryMetaStore()
    inbox.put([InboxItem("report", "e", msgspec.json.encode(ReportFact(event_id="e", at=NOW)), NOW)])
    try:
        drain(inbox, store, f"{name}:{nth}:raise").run()
        assert (nth, "purge" in name) == (2, True)
    except FailpointReached:
        pass
    drain(inbox, store).run()
    assert held(store) == [("a", "ok"), ("b", "ok")]
    assert held(store, REPORTS) == [("e",)]
    assert waiting(inbox) == []


def test_a_rival_that_drains_between_difference_and_append_duplicates_nothing() -> None:
    inbox, store = filled(run_item("a"), run_item("b")), MemoryMetaStore()

    def rival(_table: MetaTable) -> None:
        store.before_append = lambda _table: None
        drain(inbox, store).run()
        inbox.put([run_item("c")])

    store.before_append = rival
    assert drain(inbox, store).run().appended == 0
    assert held(store) == [("a", "ok"), ("b", "ok")]
    drain(inbox, store).run()
    assert held(store) == [("a", "ok"), ("b", "ok"), ("c", "ok")]


def test_a_lost_reply_is_resolved_by_reading_again() -> None:
    inbox, store = filled(run_item("a")), MemoryMetaStore()

    def lose(_table: MetaTable) -> None:
        store.after_append = lambda _table: None
        raise SourceUnavailable("meta store", "connection reset")

    store.after_append = lose
    report = drain(inbox, store).run()
    assert (report.appended, report.committed) == (0, 1)
    assert held(store) == [("a", "ok")]


def test_an_invalid_item_is_set_aside_and_does_not_block_others() -> None:
    bad = [
        InboxItem("run", "broken", b"{", 1),
        InboxItem("run", "latin", b'{"run_id":"\xff","status":"ok"}', 2),
        InboxItem("run", "deep", b'{"run_id":"x","status":"ok","new":' + b"[" * 100_000, 3),
        InboxItem("run", "huge", b'{"run_id":"h","status":"ok","at":' + b"9" * 30 + b"}", 4),
        InboxItem("unknown to this version", "later", b"{}", 5),
    ]
    inbox, store = filled(*bad, run_item("a")), MemoryMetaStore()
    report = drain(inbox, store).run()
    assert (report.appended, report.set_aside, report.committed) == (1, 4, 1)
    assert held(store) == [("a", "ok")]
    assert drain(inbox, store).run().set_aside == 0


def test_a_full_inbox_is_drained_in_batches() -> None:
    inbox, store = filled(*(run_item(f"r{i:05}") for i in range(2 * draining.BATCH + 7))), MemoryMetaStore()
    report = drain(inbox, store).run()
    assert (report.appended, report.more) == (2 * draining.BATCH + 7, False)
    assert len(store.versions["runs"]) == 3


def test_runs_from_an_older_server_have_the_time_of_their_event() -> None:
    inbox, store = filled(run_item("a"), run_item("b", "running")), MemoryMetaStore()
    drain(inbox, store).run()
    times = {row["run_id"]: row["at"] for row in arrow_micros(store)}
    assert times == {"a": NOW, "b": NOW - 5}


def arrow_micros(store: MemoryMetaStore) -> Iterable[dict[str, Any]]:
    import pyarrow as pa

    rows = store.rows(RUNS)
    at = rows.column("at").cast(pa.int64())
    return rows.set_column(rows.column_names.index("at"), "at", at).to_pylist()


STEPS = st.one_of(
    st.tuples(st.just("tell"), st.integers(0, 5), st.sampled_from(["running", "ok"])),
    st.tuples(st.just("drain"), st.sampled_from(["", *around(INBOX_STEPS)]), st.integers(1, 2)),
    st.tuples(st.just("wait"), st.just(2 * HOUR), st.just(0)),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(STEPS, max_size=25))
def test_each_key_has_one_row_in_whatever_order_events_arrive_and_are_drained(
    steps: list[tuple[Any, Any, Any]],
) -> None:
    inbox, store, clock, told = MemoryInbox(), MemoryMetaStore(), FixedClock(), set()
    for what, one, two in steps:
        if what == "tell":
            inbox.put([run_item(f"r{one}", two, clock.micros)])
            told.add((f"r{one}", two))
        elif what == "wait":
            clock.micros += one
        else:
            try:
                drain(inbox, store, f"{one}:{two}:raise" if one else "", clock).run()
            except FailpointReached:
                continue
        in_inbox = {tuple(msgspec.json.decode(item.key)) for item in inbox.items("run")}
        assert in_inbox | set(held(store)) == told
    drain(inbox, store, clock=clock).run()
    assert held(store) == sorted(told)
