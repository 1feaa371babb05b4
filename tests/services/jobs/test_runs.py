"""Pushed runs and the inbox they rest in."""

import asyncio
import itertools
from typing import Any

import msgspec
import pytest

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.ports.inbox import InboxItem
from limnograph.services.jobs.discovery import _united
from limnograph.services.jobs.run_log import RunRecord
from limnograph.services.jobs.runs import RunRegistry
from serving_kit import HOUR, NOW, FixedClock, parts

NAME = TableName("lake", "sales", "orders")
RUN = RunFact(
    run_id="r",
    status="ok",
    job_name="churn",
    started_at=NOW - HOUR,
    ended_at=NOW,
    tables=[RunTable(catalog="lake", namespace="sales", table="orders", role="reads")],
)


def test_an_item_that_is_not_a_run_is_skipped_and_the_others_are_restored() -> None:
    inbox = MemoryInbox()
    asyncio.run(RunRegistry(inbox).accept([RUN]))
    inbox.put([InboxItem("run", "bad", b"{", 0), InboxItem("run", "worse", b"\xff\xfe", 1)])
    runs = RunRegistry(inbox)
    runs.restore()
    assert [run.job for run in asyncio.run(runs.of_table(NAME, NOW - HOUR, NOW))] == ["churn"]


def test_the_state_of_the_inbox_follows_its_last_operation() -> None:
    made = parts()

    def shown() -> tuple[str, str | None]:
        status = asyncio.run(made.backend.status.status())
        return next((s.status, s.detail) for s in status.sources if s.id == "inbox")

    made.runs._inbox.failure = SourceUnavailable("inbox", "disk is full")
    with pytest.raises(SourceUnavailable):
        asyncio.run(made.runs.accept([RUN]))
    assert shown() == ("error", "inbox: disk is full")
    made.runs._inbox.failure = None
    asyncio.run(made.runs.accept([RUN]))
    assert shown() == ("ok", None)


DAY = 24 * HOUR
READS = [RunTable(catalog="lake", namespace="sales", table="orders", role="reads")]


def told(name: str, status: str, at: int, **fields: Any) -> RunFact:
    """A transition as OpenLineage tells it: the end does not know the start."""
    times = {"started_at": at} if status == "running" else {"ended_at": at}
    return RunFact(run_id=name, status=status, job_name="churn", at=at, observed_at=at, **{**times, **fields})


def shown(runs: RunRegistry, start: int = NOW - DAY, end: int = NOW) -> list[tuple[int, int | None, str]]:
    found = asyncio.run(runs.of_table(NAME, start, end))
    return [(run.started_at, run.ended_at, run.status) for run in found]


TOLD = [
    told("a", "running", NOW - HOUR, application_id="app-1"),
    told("a", "ok", NOW - 5, tables=[msgspec.structs.replace(READS[0], read_snapshot_id=7)]),
    told("b", "running", NOW - 2 * HOUR, tables=READS),
    told("b", "failed", NOW - HOUR),
    told("c", "running", NOW - 3 * HOUR, tables=READS),
]


@pytest.mark.parametrize("order", list(itertools.permutations(range(5)))[::7])
def test_transitions_in_any_order_and_repeated_result_in_the_same_runs(order: tuple[int, ...]) -> None:
    runs = RunRegistry(MemoryInbox(), MemoryEngine(), FixedClock())
    for place in (*order, *order[:3]):
        asyncio.run(runs.accept([TOLD[place]]))
    assert shown(runs) == [
        (NOW - 3 * HOUR, None, "running"),
        (NOW - 2 * HOUR, NOW - HOUR, "failed"),
        (NOW - HOUR, NOW - 5, "ok"),
    ]
    assert asyncio.run(runs.of_table(NAME, NOW - DAY, NOW))[2].read_snapshot_id == 7
    assert runs.job_of_application("app-1") == "churn"


def totals(runs: RunRegistry) -> list[int | None]:
    return [run.read_bytes for run in asyncio.run(runs.of_table(NAME, NOW - DAY, NOW))]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_transition_without_read_bytes_does_not_erase_them(order: tuple[int, ...]) -> None:
    runs = RunRegistry(MemoryInbox(), MemoryEngine(), FixedClock())
    transitions = [
        told("a", "running", NOW - HOUR, tables=READS),
        told("a", "failed", NOW - 9, read_bytes=2**63 - 1),
        told("a", "ok", NOW - 5),
    ]
    for place in (*order, *order):
        asyncio.run(runs.accept([transitions[place]]))
    assert totals(runs) == [2**63 - 1]


def test_read_bytes_are_those_of_the_whole_run_and_0_is_a_number() -> None:
    runs = RunRegistry(MemoryInbox(), MemoryEngine(), FixedClock())
    both = [*READS, msgspec.structs.replace(READS[0], role="writes")]
    asyncio.run(runs.accept([told("a", "ok", NOW - 5, tables=both, read_bytes=70)]))
    asyncio.run(runs.accept([told("b", "running", NOW - 4, read_bytes=9), told("b", "ok", NOW - 3, read_bytes=0)]))
    asyncio.run(runs.accept([told("b", "failed", NOW - 9, tables=READS), told("c", "ok", NOW - 2, tables=READS)]))
    assert totals(runs) == [70, 70, 0, None]


def test_read_bytes_survive_a_restart_and_the_eviction_of_their_run() -> None:
    inbox, engine, clock = MemoryInbox(), MemoryEngine(), FixedClock()
    row = told("a", "ok", NOW - HOUR, tables=READS, read_bytes=70)
    engine.append([], [], [row])
    asyncio.run(RunRegistry(inbox).accept([told("b", "ok", NOW - 9, tables=READS, read_bytes=80)]))
    runs = RunRegistry(inbox, engine, clock)
    runs.restore()
    assert totals(runs) == [70, 80]
    clock.micros = NOW + 3 * DAY
    inbox.mark(inbox.items("run"), NOW)
    runs.catch_up()
    assert runs._runs == {}
    assert totals(runs) == [70]


@pytest.mark.parametrize(("source", "read_bytes"), [("openlineage", None), ("runs", 70)])
def test_a_sum_over_inputs_is_unknown_once_another_event_adds_an_input(source: str, read_bytes: int | None) -> None:
    runs = RunRegistry(MemoryInbox(), MemoryEngine(), FixedClock())
    asyncio.run(runs.accept([told("a", "ok", NOW - 5, tables=READS, read_bytes=70, source=source)]))
    asyncio.run(runs.accept([told("a", "running", NOW - HOUR, tables=READS, source=source)]))
    assert totals(runs) == [70]
    more = [msgspec.structs.replace(READS[0], table="carts"), msgspec.structs.replace(READS[0], role="writes")]
    asyncio.run(runs.accept([told("a", "failed", NOW - 9, tables=more[1:], source=source)]))
    assert totals(runs) == [70, 70]
    asyncio.run(runs.accept([told("b", "ok", NOW - 3, tables=READS, read_bytes=70, source=source)]))
    asyncio.run(runs.accept([told("b", "running", NOW - 4, tables=more, source=source)]))
    assert totals(runs)[2:] == [read_bytes, read_bytes]


def test_a_run_that_takes_its_start_from_metrics_keeps_its_read_bytes() -> None:
    pushed = RunRecord("churn", "reads", None, NOW, "ok", "app-1", read_bytes=70)
    seen = RunRecord("churn", "reads", NOW - HOUR, NOW + 400, "ok", "app-1", measured=True)
    later = seen._replace(ended_at=NOW + HOUR)
    found = _united([pushed], [seen, later])
    assert [(run.started_at, run.read_bytes) for run in found] == [(NOW - HOUR, 70), (NOW - HOUR, None)]


def test_a_restart_merges_the_meta_table_with_the_inbox_by_key() -> None:
    inbox, engine = MemoryInbox(), MemoryEngine()
    engine.append([], [], [TOLD[2], msgspec.structs.replace(TOLD[3], message="as it stands in the row")])
    asyncio.run(RunRegistry(inbox).accept([TOLD[3], *TOLD[:2]]))
    runs = RunRegistry(inbox, engine, FixedClock())
    runs.restore()
    assert [status for _, _, status in shown(runs)] == ["failed", "ok"]
    assert runs._runs["b"].message == "as it stands in the row"


def test_a_meta_table_that_is_unavailable_at_startup_is_read_once_it_responds() -> None:
    engine = MemoryEngine()
    engine.append([], [], TOLD[2:4])
    engine.failure = SourceUnavailable("meta", "down")
    runs = RunRegistry(MemoryInbox(), engine, FixedClock())
    runs.restore()
    assert shown(runs) == []
    engine.failure = None
    runs.catch_up()
    assert len(shown(runs)) == 1


def test_runs_accepted_by_another_server_are_shown_too() -> None:
    inbox = MemoryInbox()
    mine, other = RunRegistry(inbox, MemoryEngine(), FixedClock()), RunRegistry(inbox)
    mine.restore()
    asyncio.run(other.accept(TOLD[2:4]))
    mine.catch_up()
    asyncio.run(other.accept(TOLD[:2]))
    mine.catch_up()
    assert len(shown(mine)) == 2


def test_memory_holds_the_hot_window_and_older_ranges_come_from_the_meta_table() -> None:
    inbox, engine, clock = MemoryInbox(), MemoryEngine(), FixedClock()
    runs = RunRegistry(inbox, engine, clock)
    asyncio.run(runs.accept(TOLD))
    engine.append([], [], TOLD)
    clock.micros = NOW + 3 * DAY
    inbox.mark(inbox.items("run"), NOW)
    runs.catch_up()
    assert set(runs._runs) == {"c"}
    assert runs.job_of_application("app-1") is None
    assert [status for _, _, status in shown(runs)] == ["running", "failed", "ok"]
    assert shown(runs, NOW + 2 * DAY, clock.micros) == [(NOW - 3 * HOUR, None, "running")]
    engine.failure = SourceUnavailable("meta", "down")
    assert [status for _, _, status in shown(runs)] == ["running"]
    clock.micros = NOW + 10 * DAY
    runs.catch_up()
    assert (runs._runs, runs._told, dict(runs._of_table)) == ({}, {}, {})


def test_memory_is_bounded_by_the_number_of_runs_too() -> None:
    runs = RunRegistry(MemoryInbox(), MemoryEngine(), FixedClock(), most=200)
    many = [told(f"r{i:06}", "ok", NOW - HOUR + i, tables=READS, started_at=NOW - DAY) for i in range(203)]
    asyncio.run(runs.accept(many))
    runs.catch_up()
    assert len(runs._runs) == 200
    assert min(runs._runs) == "r000003"
