"""What a pass, a drain and housekeeping tell a meter, and that nothing that is not known is told as 0."""

from __future__ import annotations

import pytest

from lakes import FixedClock
from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.prometheus.exporter import Exporter
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.meta_tables import SNAPSHOTS
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.pipeline import PIPELINE_METRICS
from limnograph.ports.catalog import TablePointer
from limnograph.ports.inbox import InboxItem
from limnograph.ports.lake import LakeListing
from limnograph.services.pipeline.backoff import BackOff
from limnograph.services.pipeline.drain import DrainReport
from limnograph.services.pipeline.metering import MeteredDrain, MeteredPasses, PassMeter
from limnograph.services.pipeline.report import PassReport
from limnograph.services.rollups.fold import DAY, HOUR
from upkeep_world import NOW, World

ORDERS, CLICKS = TableName("lake", "sales", "orders"), TableName("other", "web", "clicks")


def exporter() -> Exporter:
    return Exporter(PIPELINE_METRICS)


def value(found: Exporter, name: str, **labels: str) -> float | None:
    return found.registry.get_sample_value(f"limnograph_{name}", labels)


class Scripted:
    """Answers, or raises, what it was given."""

    def __init__(self, *answers: PassReport | Exception) -> None:
        self._answers = list(answers)

    def run(self) -> PassReport:
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def report(snapshots: int) -> PassReport:
    return PassReport(
        run_id="r",
        tables_seen=2,
        tables_changed=1,
        snapshots_appended=snapshots,
        gaps=2,
        unreadable=1,
        seconds=1.5,
    )


def test_a_pass_reports_its_numbers_and_a_failed_one_keeps_the_last_good_ones() -> None:
    found, clock, backoff = exporter(), FixedClock(NOW), BackOff()
    told = PassMeter(found, clock, backoff, ("lake", "other"))
    passes = MeteredPasses(Scripted(report(7), SourceUnavailable("meta store", "down")), told)
    backoff.settle([ORDERS, CLICKS], {ORDERS: "timeout"}, NOW)
    passes.run()
    clock.micros += HOUR
    with pytest.raises(SourceUnavailable):
        passes.run()
    assert value(found, "pipeline_passes_total", result="ok") == value(found, "pipeline_passes_total", result="failed")
    assert value(found, "pipeline_last_pass_snapshots") == 7
    assert value(found, "pipeline_last_pass_timestamp_seconds") == (NOW + 1) / 1e6
    assert value(found, "pipeline_gaps_total") == 2
    assert value(found, "pipeline_tables_failing", catalog="lake") == 1
    assert value(found, "pipeline_tables_waiting", catalog="lake") == 1
    assert value(found, "pipeline_tables_failing", catalog="other") == 0


def test_an_unresponsive_catalog_is_down_and_has_no_number_of_tables() -> None:
    found = exporter()
    told = PassMeter(found, FixedClock(NOW), BackOff(), ("lake", "other"))
    pointers = tuple(TablePointer(name, "iceberg", "/m") for name in (ORDERS, CLICKS))
    told.listed(LakeListing(pointers, frozenset(), frozenset(), answered=frozenset({"lake", "other"})))
    assert value(found, "pipeline_tables_seen", catalog="other") == 1
    told.listed(LakeListing(pointers[:1], frozenset(), frozenset(), ("other: down",), frozenset({"lake"})))
    assert value(found, "pipeline_tables_seen", catalog="lake") == 1
    assert value(found, "pipeline_tables_seen", catalog="other") is None
    assert value(found, "pipeline_catalog_up", catalog="other") == 0


class Drained:
    """Drains nothing."""

    def run(self) -> DrainReport:
        return DrainReport(set_aside=3)


def test_a_drain_reports_waiting_items_and_nothing_about_an_unresponsive_inbox() -> None:
    found, inbox = exporter(), MemoryInbox()
    inbox.put([InboxItem("run", "a", b"{}", 5_000_000), InboxItem("notification", "n", b"{}", 1, 1)])
    drain = MeteredDrain(Drained(), inbox, found)
    drain.run()
    assert value(found, "pipeline_inbox_items") == 1
    assert value(found, "pipeline_inbox_oldest_timestamp_seconds") == 5
    assert value(found, "pipeline_inbox_set_aside_total") == 3
    inbox.failure = SourceUnavailable("inbox", "locked")
    drain.run()
    assert value(found, "pipeline_inbox_items") is None


def test_housekeeping_reports_sizes_steps_and_the_raw_floor() -> None:
    world, found = World(), exporter()
    world.commit(1, NOW - 40 * DAY)
    world.lake["u"] = set()
    world.settle(world.housekeeping(meter=found))
    assert value(found, "housekeeping_steps_total", kind="rollup", result="ok") == 1
    assert value(found, "housekeeping_steps_total", kind="retention", result="failed") is None
    assert value(found, "meta_table_snapshots", table="snapshots") == len(world.upkeep.standing(SNAPSHOTS).committed)
    assert value(found, "meta_table_data_files", table="runs") is None  # it has no snapshot yet
    assert value(found, "housekeeping_late_facts") == 0
    floor = value(found, "housekeeping_raw_floor_timestamp_seconds")
    assert floor is not None
    assert (NOW - 40 * DAY) / 1e6 < floor <= (NOW - 39 * DAY) / 1e6
    looked = value(found, "housekeeping_looked_timestamp_seconds")
    assert looked == pytest.approx(NOW / 1e6)
