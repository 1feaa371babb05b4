"""Housekeeping by a virtual clock: what is due when, that failures end nothing, and what is written down."""

from __future__ import annotations

import pytest

from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.errors import Conflict, SourceUnavailable
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.facts.meta_tables import CHANGES, HOURLY, MAINTENANCE, REPORTS, SNAPSHOTS, MetaTable
from limnograph.domain.failpoints import FailpointReached, around
from limnograph.jobs.housekeeping import STEPS_AT_ONCE, run_due_steps
from limnograph.ports.meta_upkeep import MetaTableState, PartitionFiles
from limnograph.services.housekeeping import schedule
from limnograph.services.pipeline.repair import RepairReport
from limnograph.services.rollups.fold import DAY, HOUR
from upkeep_world import NOW, World

MINUTE = 60_000_000


def kinds(world: World) -> list[str]:
    return [f"{report.kind} {report.table}" for report in world.settle()]


def busy(world: World, commits: int, first: int = 1) -> None:
    """A commit a minute."""
    for number in range(first, first + commits):
        world.commit(number, world.clock.micros, total_records=number)
        world.clock.micros += MINUTE


def test_three_idle_hours_still_roll_up_compact_and_expire() -> None:
    world = World()
    busy(world, 30)
    world.clock.micros += 3 * HOUR
    done = kinds(world)
    assert {"rollup snapshots_hourly", "compact snapshots", "expire snapshots", "expire changes"} <= set(done)
    assert len(world.upkeep.standing(SNAPSHOTS).committed) <= schedule.SNAPSHOTS_KEPT + 3
    assert world.upkeep.standing(SNAPSHOTS).files == 1
    assert sum(row["commits"] for row in world.hours("commits")) == 30
    assert kinds(world) == []


def test_todays_files_are_rewritten_hourly_and_yesterdays_once() -> None:
    world = World(NOW // DAY * DAY + 20 * HOUR)
    compacted: list[str] = []
    for number in range(1, 9 * 6 + 1):
        world.commit(number, world.clock.micros)
        world.clock.micros += 10 * MINUTE
        compacted += [r.subject or "" for r in world.settle() if r.kind == "compact" and r.table == "snapshots"]
    yesterday, today = "2024-10-04", "2024-10-05"
    assert compacted.count(yesterday) in {3, 4}
    assert compacted.count("closed") == 1
    assert compacted.count(today) in {4, 5}


def test_hundreds_of_backfilled_days_are_compacted_by_one_run_in_few_calls() -> None:
    world = World()
    for half in range(2):
        world.rows(*(world.fact(2 * day + half, NOW - day * DAY) for day in range(300)))
    reports = run_due_steps(world.housekeeping(), lambda _line: None)
    assert len(reports) < STEPS_AT_ONCE
    assert sum(part.files > 1 for part in world.upkeep.standing(SNAPSHOTS).parts) < schedule.CLOSED_EXCESS
    world.clock.micros += HOUR
    run_due_steps(world.housekeeping(), lambda _line: None)  # the last few waited for the hour
    closed = [part for part in world.upkeep.standing(SNAPSHOTS).parts if part.end is not None and part.end <= NOW]
    assert (len(closed), {part.files for part in closed}) == (299, {1})
    assert world.upkeep.calls.count(("compact", "snapshots")) <= 300 // schedule.BATCH_PARTS + 2
    assert sum(row["commits"] for row in world.days("commits")) == 600


def test_one_call_runs_one_step_and_an_idle_check_is_not_repeated_immediately() -> None:
    world = World()
    busy(world, 30)
    world.clock.micros += 3 * HOUR
    housekeeping = world.housekeeping()
    report = housekeeping.run_due()
    assert report is not None
    assert (report.kind, report.did, report.problem) == ("rollup", True, None)
    world.settle(housekeeping)
    reads: list[str] = []
    standing = world.upkeep.standing
    world.upkeep.standing = lambda table: (reads.append(table.name), standing(table))[1]  # type: ignore[method-assign]
    assert housekeeping.run_due() is None
    assert reads == []
    world.clock.micros += 11_000_000
    housekeeping.run_due()
    assert reads


def test_a_restarted_pipeline_reads_finished_steps_from_the_meta_tables() -> None:
    world = World()
    busy(world, 30)
    world.clock.micros += 3 * HOUR
    world.settle()
    busy(world, 9, first=100)
    assert kinds(world) == []  # an hour has not passed, nor ten minutes since the roll-up
    world.clock.micros += 2 * MINUTE
    assert kinds(world)[0] == "rollup snapshots_hourly"


def test_a_clock_that_jumps_back_does_not_stop_housekeeping_until_it_has_caught_up() -> None:
    world = World()
    busy(world, 30)
    world.clock.micros += 3 * HOUR
    world.settle()
    world.clock.micros -= 2 * DAY
    busy(world, 30, first=100)
    assert {"rollup snapshots_hourly", "compact snapshots"} <= set(kinds(world))
    assert kinds(world) == []
    assert schedule.passed(NOW + MINUTE, NOW, schedule.HOUR_SECONDS) is False  # another machine's clock


def test_a_step_that_fails_is_recorded_backs_off_and_does_not_hold_up_the_others() -> None:
    world = World()
    busy(world, 30)
    world.clock.micros += 3 * HOUR

    def refuse(call: str, table: MetaTable) -> None:
        if call == "merge" and table is HOURLY:
            raise Conflict("somebody else")

    world.upkeep.before = refuse
    housekeeping = world.housekeeping()
    reports = world.settle(housekeeping)
    assert [r.kind for r in reports].count("rollup") == 1
    assert "Conflict: somebody else" in (reports[0].problem or "")
    assert {"expire", "compact"} <= {r.kind for r in reports}
    rows = [row for row in world.read(MAINTENANCE) if row["status"] == "failed"]
    assert [(row["kind"], row["problem"]) for row in rows] == [("rollup", "Conflict: somebody else")]
    world.clock.micros += 4 * MINUTE
    assert [r.kind for r in world.settle(housekeeping)] == []
    world.upkeep.before = lambda _call, _table: None
    world.clock.micros += 7 * MINUTE
    assert "rollup" in [r.kind for r in world.settle(housekeeping)]


def test_a_row_of_maintenance_has_the_counts_before_and_after() -> None:
    world = World()
    busy(world, 30)
    world.clock.micros += 3 * HOUR
    world.settle()
    rows = {(row["kind"], row["table"]): row for row in world.read(MAINTENANCE)}
    compact = rows["compact", "snapshots"]
    assert (compact["status"], compact["files_before"], compact["files_after"]) == ("ok", 30, 1)
    assert (compact["catalog"], compact["namespace"], compact["subject"]) == ("lake", "limnograph", "2024-10-04")
    assert rows["rollup", "snapshots_hourly"]["rows"] == 2
    assert rows["expire", "changes"]["snapshots_before"] > rows["expire", "changes"]["snapshots_after"]
    assert len({row["run_id"] for row in world.read(MAINTENANCE)}) == len(world.read(MAINTENANCE))


def test_orphans_are_searched_daily_from_the_second_day_and_counted_before_deletion() -> None:
    world = World()
    busy(world, 2)
    world.settle()
    assert "orphans" not in {row["kind"] for row in world.read(MAINTENANCE)}
    world.upkeep.orphaned[CHANGES.name] = 7
    world.clock.micros += DAY + HOUR
    world.settle()
    rows = {row["table"]: row for row in world.read(MAINTENANCE) if row["kind"] == "orphans"}
    assert (rows["changes"]["rows"], rows["changes"]["detail"]) == (7, '{"found":7,"removed":7}')
    assert rows["snapshots"]["rows"] == 0
    assert world.upkeep.calls.count(("orphans", "snapshots")) == 1  # nothing found: the dry run alone
    assert world.upkeep.calls.count(("orphans", "changes")) == 2


def test_retention_is_due_daily_when_rows_are_old_enough() -> None:
    world = World()
    world.commit(1, NOW - 40 * DAY)
    world.lake["u"] = set()
    assert "retention snapshots" in kinds(world)
    assert world.left() == []
    world.commit(2, NOW - 39 * DAY, series="v")
    world.lake["v"] = set()
    assert "retention snapshots" not in kinds(world)
    world.clock.micros += DAY + HOUR
    assert "retention snapshots" in kinds(world)


@pytest.mark.parametrize(
    "name",
    around(("merge_hours", "merge_days", "mark_rolled", "compact", "expire", "delete_raw", "append_maintenance")),
)
def test_housekeeping_that_dies_anywhere_is_completed_by_the_next_process(name: str) -> None:
    world = World()
    world.commit(1, NOW - 40 * DAY)
    world.lake["u"] = set()
    busy(world, 30, first=2)
    world.clock.micros += 3 * HOUR
    with pytest.raises(FailpointReached):
        world.settle(world.housekeeping(f"{name}:1:raise"))
    world.clock.micros += DAY + HOUR
    world.settle()
    assert sum(row["commits"] for row in world.days("commits")) == 31
    assert 1 not in world.left()
    assert world.upkeep.standing(SNAPSHOTS).files <= 2
    assert len(world.upkeep.standing(SNAPSHOTS).committed) <= schedule.SNAPSHOTS_KEPT + 3


def test_large_partitions_may_have_more_than_one_file_and_batches_are_bounded() -> None:
    gib = 1024**3
    assert schedule.excess(PartitionFiles(0, DAY, 1, 1)) == 0
    assert schedule.excess(PartitionFiles(0, DAY, 5, gib)) == 0
    assert schedule.excess(PartitionFiles(0, DAY, 9, gib)) == 4
    parts = tuple(PartitionFiles(n * DAY, (n + 1) * DAY, 9, gib // 5) for n in range(50))
    standing = MetaTableState(position=None, parts=parts, manifests=1, committed=(), properties={})
    batch = schedule.closed_batch(standing, None, 50 * DAY)
    assert batch == PartitionFiles(45 * DAY, 50 * DAY, 45, 5 * (gib // 5))
    assert schedule.closed_batch(standing, None, 0) is None


class Doctor:
    """Repairs that count, and fail when they are told to."""

    def __init__(self, damaged: int) -> None:
        self.hurt, self.made, self.down = damaged, 0, False

    def damaged(self) -> int:
        return self.hurt

    def retry_damaged(self) -> RepairReport:
        self.made += 1
        if self.down:
            raise SourceUnavailable("meta store", "down")
        numbers = {"tables_seen": 1, "tables_changed": 1, "unreadable": 0, "seconds": 0.1}
        return RepairReport(run_id="r", snapshots_replaced=self.hurt, **numbers)


def test_damaged_rows_are_retried_once_a_day_whichever_process_runs() -> None:
    world, doctor = World(), Doctor(2)
    for _ in range(3):
        world.settle(world.housekeeping(repairs=doctor))
    assert doctor.made == 1
    (run,) = [row for row in world.read(MAINTENANCE, "kind", "rows", "status") if row["kind"] == "repair"]
    assert (run["rows"], run["status"]) == (2, "ok")
    world.clock.micros += DAY
    world.settle(world.housekeeping(repairs=doctor))
    assert doctor.made == 2


def test_filters_of_older_versions_are_cleared_once_and_never_again() -> None:
    world = World()
    assert kinds(world) == []
    old = ReportFact(event_id="e", at=world.clock.micros, filter="name = 'secret'")
    world.store.append(REPORTS, arrow_table(REPORTS, [old]), world.store.head(REPORTS), "run")
    assert "repair reports" in kinds(world)
    assert world.read(REPORTS, "event_id", "filter") == [{"event_id": "e", "filter": None}]
    world.clock.micros += 2 * DAY
    assert "repair reports" not in kinds(world)
    assert world.upkeep.calls.count(("clear_literals", "reports")) == 1


def test_a_failed_repair_is_retried_sooner_and_one_with_nothing_to_do_writes_nothing() -> None:
    world, doctor = World(), Doctor(1)
    doctor.down = True
    kept = world.housekeeping(repairs=doctor)
    assert [report.problem for report in world.settle(kept)] == ["SourceUnavailable: meta store: down"]
    doctor.down = False
    world.clock.micros += DAY + HOUR
    assert ("repair", None) in [(report.kind, report.problem) for report in world.settle(kept)]
    healthy = World()
    healthy.settle(healthy.housekeeping(repairs=Doctor(0)))
    assert healthy.read(MAINTENANCE, "kind") == []
