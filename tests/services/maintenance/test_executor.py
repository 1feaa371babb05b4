"""Rounds of the executor on real metadata: what it runs, in which order, and what it records."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from lakes import path_of
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.moves import following
from limnograph.domain.maintenance.policy import OrphanRule, PolicyReader, RetainedSnapshots
from limnograph.services.maintenance.dry_run import MaintenanceDryRun
from limnograph.services.plans.desk import PlanDesk
from maintained_lake import DAY_MS, DAY_US, HOUR_MS, NAME, MaintainedLake, aged, policy, rule

COMPACT = frozenset({"compact"})
EXPIRE = rule(
    actions=frozenset({"expire"}), retain=RetainedSnapshots(DAY_US, 2), readers=(PolicyReader("churn", DAY_US),)
)


@pytest.fixture
def lake(tmp_path: Path) -> MaintainedLake:
    return MaintainedLake(tmp_path)


def desk(lake: MaintainedLake) -> PlanDesk:
    return PlanDesk(lake.states, list)


def approve(lake: MaintainedLake, action: str = "rewrite_data_files", actor: str = "ann") -> str:
    (fact,) = (each for each in lake.states.plans({"proposed"}) if each.action == action)
    desk(lake).approve(fact.plan_id, fact.arguments_sha256 or "", fact.seq, actor)
    return fact.plan_id


def test_auto_compacts_and_verifies(lake: MaintainedLake) -> None:
    table = lake.add(files=6)
    report = lake.executor(policy("auto", rule(actions=COMPACT))).round()
    assert report.troubles == []
    done = report.plans[0]
    assert (done.action, done.state, done.policy, done.problem) == ("rewrite_data_files", "verified", "all", None)
    assert (done.files_in, done.files_out) == (6, 1)
    assert len(table.files()) == 1
    fact = lake.states.plan(done.id)
    assert fact is not None
    assert (fact.approved_by, fact.snapshot_ids) == ("policy:all", [table.head()])
    assert lake.states.holders() == []
    assert not report.failed


def test_actions_run_in_order_until_nothing_is_due(lake: MaintainedLake) -> None:
    lake.add(files=30)
    executor = lake.executor()
    report = executor.round()
    assert [each.action for each in report.plans if each.state == "verified"] == [
        "rewrite_data_files",
        "rewrite_manifests",
    ]
    lake.later(HOUR_MS)
    assert [each.state for each in executor.round().plans] == []


def test_expiry_removes_exactly_the_named_snapshots(lake: MaintainedLake) -> None:
    table = lake.add(files=4)
    deleted = table.delete(*table.files()[:2])
    lake.append(table, "eu")
    lake.later(6 * DAY_MS)
    report = lake.executor(policy("auto", EXPIRE)).round()
    (done,) = report.plans
    assert (done.action, done.state, done.problem) == ("expire_snapshots", "verified", None)
    assert set(table.snapshots) == {table.head(), deleted}


def test_an_expiry_without_declared_readers_waits_for_a_user(lake: MaintainedLake) -> None:
    table = lake.add(files=4)
    table.delete(*table.files()[:2])
    lake.append(table, "eu")
    lake.later(6 * DAY_MS)
    chosen = policy("auto", rule(actions=frozenset({"expire"}), retain=RetainedSnapshots(DAY_US, 2)))
    (waits,) = lake.executor(chosen).round().plans
    assert (waits.state, waits.would) == ("proposed", "wait")
    approve(lake, "expire_snapshots")
    (done,) = lake.executor(chosen).round().plans
    assert done.state == "verified"


def test_mode_approve_proposes_and_runs_what_a_user_approved(lake: MaintainedLake) -> None:
    lake.add(files=6)
    executor = lake.executor(policy("approve", rule(actions=COMPACT)))
    assert [(each.state, each.would) for each in executor.round().plans if each.rule == "compact"] == [
        ("proposed", "wait")
    ]
    plan_id = approve(lake)
    (done,) = executor.round(plan_id).plans
    assert (done.id, done.state) == (plan_id, "verified")


def test_an_approved_expiry_keeps_what_became_old_meanwhile(lake: MaintainedLake) -> None:
    table = lake.add(files=4)
    table.delete(*table.files()[:2])
    lake.append(table, "eu")
    lake.later(6 * DAY_MS)
    chosen = policy("approve", EXPIRE)
    lake.executor(chosen).round()
    plan_id = approve(lake, "expire_snapshots")
    named = lake.states.plan(plan_id).arguments  # type: ignore[union-attr]
    lake.append(table, "eu")
    young = table.head()
    lake.append(table, "eu")
    lake.append(table, "eu")
    lake.later(6 * DAY_MS)
    report = lake.executor(chosen).round(plan_id)
    assert [each.state for each in report.plans] == ["verified"]
    assert str(young) not in (named or "")
    assert young in table.snapshots


def test_a_plan_for_a_partition_survives_work_in_another(lake: MaintainedLake) -> None:
    table = lake.add(files=6, regions=("eu",))
    for _ in range(6):
        lake.append(table, "us")
    chosen = policy("approve", rule(actions=COMPACT, quiet_us=DAY_US))
    lake.later(DAY_MS)
    lake.executor(chosen).round()
    plan_id = approve(lake)
    lake.append(table, "us")
    lake.later(HOUR_MS)
    (done,) = lake.executor(chosen).round(plan_id).plans
    # The approved plan was for both partitions: `us` is written now.
    assert (done.state, done.problem) == ("superseded", "plan_moved")
    proposed = lake.states.plans({"proposed"})
    assert [each.files_in for each in proposed] == [6]
    approve(lake)
    lake.later(2 * DAY_MS)
    (done,) = (each for each in lake.executor(chosen).round(proposed[0].plan_id).plans)
    assert (done.state, done.files_in, done.files_out) == ("verified", 6, 1)
    assert len([file for file in table.files() if file.partition == ("us",)]) == 7


def test_unreferenced_files_are_removed_after_an_approval(lake: MaintainedLake, tmp_path: Path) -> None:
    table = lake.add(files=3)
    lake.later(8 * DAY_MS)
    old = aged(tmp_path / "orders/data/left.parquet", 8, lake.clock.micros)
    young = aged(tmp_path / "orders/data/fresh.parquet", 1, lake.clock.micros)
    own = rule(actions=frozenset({"orphans"}), orphans=OrphanRule(longest_run_us=DAY_US))
    lake.executor(policy("auto", own)).round()
    plan_id = approve(lake, "remove_orphan_files")
    later = aged(tmp_path / "orders/data/later.parquet", 7.5, lake.clock.micros)
    (done,) = lake.executor(policy("auto", own)).round(plan_id).plans
    assert (done.state, done.problem) == ("verified", None)
    assert not old.exists()
    assert young.exists()
    assert later.exists()
    assert all(path_of(file.path).exists() for file in table.files())


def test_one_damaged_table_never_stops_the_others(lake: MaintainedLake) -> None:
    lake.add("broken", files=6)
    lake.add("whole", files=6)
    lake.maintainer.broken = {TableName("lake", "sales", "broken")}
    report = lake.executor(policy("auto", rule(actions=COMPACT))).round()
    assert [trouble.table for trouble in report.troubles] == ["lake.sales.broken"]
    assert [(each.table, each.state) for each in report.plans] == [("lake.sales.whole", "verified")]
    assert report.failed


def test_a_conflict_is_retried_later_with_a_new_plan(lake: MaintainedLake) -> None:
    table = lake.add(files=6)
    executor = lake.executor(policy("auto", rule(actions=COMPACT)))
    lake.maintainer.during = lambda: table.overwrite([table.file("eu", size=1)], table.files()[:1])
    (done,) = (each for each in executor.round().plans if each.rule == "compact")
    assert (done.state, done.problem) == ("queued", "conflict")
    fact = lake.states.plan(done.id)
    assert fact is not None
    assert fact.not_before == lake.clock.micros + 900_000_000
    lake.maintainer.during = lambda: None
    lake.materialise(table)
    lake.later(2 * HOUR_MS)
    states = {each.id: each.state for each in executor.round().plans}
    assert states.pop(done.id) == "superseded"
    assert list(states.values()) == ["verified"]


def test_a_user_cancels_a_running_action(lake: MaintainedLake) -> None:
    table = lake.add(files=6)
    head = table.head()

    def cancel() -> None:
        (fact,) = lake.states.plans({"running"})
        desk(lake).cancel(fact.plan_id, fact.seq, "ann")
        threading.Event().wait(2.1)  # the executor asks every two seconds

    lake.maintainer.during = cancel
    (done, *_) = lake.executor(policy("auto", rule(actions=COMPACT))).round().plans
    assert (done.state, done.problem) == ("cancelled", "cancelled")
    assert table.head() == head


def test_a_stop_of_the_program_queues_the_running_plan(lake: MaintainedLake) -> None:
    lake.add(files=6)
    stop = threading.Event()
    lake.maintainer.during = stop.set
    chosen = policy("auto", rule(actions=COMPACT))
    (done,) = lake.executor(chosen, stopping=stop.is_set).round().plans
    assert (done.state, done.problem) == ("queued", "interrupted")
    lake.maintainer.during = lambda: None
    (done,) = lake.executor(chosen).round().plans
    assert done.state == "verified"


def test_an_approval_ages_while_its_plan_is_queued_again(lake: MaintainedLake) -> None:
    lake.add(files=6)
    stop = threading.Event()
    chosen = policy("approve", rule(actions=COMPACT))
    lake.executor(chosen).round()
    plan_id = approve(lake)
    lake.later(4 * DAY_MS)
    lake.maintainer.during = stop.set
    (done,) = lake.executor(chosen, stopping=stop.is_set).round(plan_id).plans
    assert (done.state, done.problem) == ("queued", "interrupted")
    lake.maintainer.during = lambda: None
    lake.later(4 * DAY_MS)
    (done,) = lake.executor(chosen).round(plan_id).plans
    assert (done.state, done.problem) == ("refused", "approval_expired")


def test_plans_that_no_one_decides_on_expire(lake: MaintainedLake) -> None:
    lake.add(files=6)
    chosen = policy("approve", rule(actions=COMPACT))
    lake.executor(chosen).round()
    lake.later(8 * DAY_MS)
    report = lake.executor(chosen).round()
    assert report.expired == 1
    (fact,) = lake.states.plans()
    assert (fact.state, fact.attempt) == ("proposed", 2)  # it is still due


def test_a_hold_out_and_a_window_wait(lake: MaintainedLake) -> None:
    lake.add(files=6)
    from limnograph.domain.maintenance.policy import DailyWindow

    minute = lake.clock.micros // 60_000_000 % 1_440
    window = DailyWindow((minute + 60) % 1_440, (minute + 120) % 1_440)
    report = lake.executor(policy("auto", rule(actions=COMPACT, windows=(window,)))).round()
    assert [(each.state, each.would) for each in report.plans] == [("proposed", "wait")]


def test_the_budget_of_a_day_is_shared(lake: MaintainedLake) -> None:
    lake.add("one", files=6)
    lake.add("two", files=6)
    chosen = policy("auto", rule(actions=COMPACT), bytes_per_day=130 << 20)
    report = lake.executor(chosen).round()
    assert sorted(each.state or "" for each in report.plans) == ["proposed", "verified"]


def test_two_people_are_checked_by_the_executor(lake: MaintainedLake) -> None:
    lake.add(files=6)
    chosen = policy("approve", rule(actions=COMPACT), two_people=True)
    lake.executor(chosen).round()
    (fact,) = lake.states.plans({"proposed"})
    lake.states.record([replace(following(fact, "withdrawn", "ann"))])
    again = desk(lake).propose(fact.plan_id, "ann")
    desk(lake).approve(fact.plan_id, again.arguments_sha256 or "", again.seq, "ann")
    (done, *_) = lake.executor(chosen).round(fact.plan_id).plans
    assert (done.state, done.problem) == ("refused", "two_people")


def test_a_dry_run_says_what_it_would_do_and_changes_nothing(lake: MaintainedLake) -> None:
    lake.add(files=6)
    parts = lake.executor(policy("auto", rule(actions=COMPACT)))._parts
    report = MaintenanceDryRun(parts).report()
    would = {each.rule: (each.would, each.policy) for each in report.plans}
    assert would["compact"] == ("run", "all")
    assert would["manifests"][0] == "advise"
    assert lake.states.plans() == []
    assert lake.maintainer.ran == []
    advised = MaintenanceDryRun(lake.executor(policy("advise"))._parts).report()
    assert {each.would for each in advised.plans} == {"advise"}
    assert [each.rule for each in advised.unplanned if each.rule == "orphans"] == ["orphans"]


def test_two_executors_run_a_plan_once(lake: MaintainedLake) -> None:
    lake.add(files=6)
    chosen, together = policy("auto", rule(actions=COMPACT)), threading.Barrier(2)
    lake.executor(policy("approve", rule(actions=COMPACT))).round()
    approve(lake)
    reports = []

    def run(executor_id: str) -> None:
        together.wait()
        reports.append(lake.executor(chosen, executor_id=executor_id).round())

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([ran for ran in lake.maintainer.ran if ran[0] == "rewrite_data_files"]) == 1
    assert [fact.state for fact in lake.states.plans()] == ["verified"]
    assert NAME in lake.tables


def test_what_a_user_took_back_or_a_guard_refused_is_not_proposed_at_once(lake: MaintainedLake) -> None:
    lake.add(files=6)
    chosen = policy("approve", rule(actions=COMPACT))
    lake.executor(chosen).round()
    (fact,) = lake.states.plans({"proposed"})
    (fact,) = lake.states.record([following(fact, "withdrawn", "ann")])
    lake.executor(chosen).round()
    assert [each.state for each in lake.states.plans()] == ["withdrawn"]
    again = desk(lake).propose(fact.plan_id, "ann")
    (refused,) = lake.states.record([following(again, "refused", "limnograph")])
    lake.executor(chosen).round()
    assert [each.state for each in lake.states.plans()] == ["refused"]
    lake.later(2 * DAY_MS)
    lake.executor(chosen).round()
    assert [each.attempt for each in lake.states.plans({"proposed"})] == [(refused.attempt or 0) + 1]


def test_between_rounds_only_approved_plans_lead_to_the_catalogs(lake: MaintainedLake) -> None:
    lake.add(files=6)
    chosen, listings = policy("approve", rule(actions=COMPACT)), []

    def listing() -> object:
        listings.append(1)
        return lake.listing()

    executor = lake.executor(chosen, listing=listing)
    executor.round()
    assert executor.round(waiting_only=True).plans == []
    assert len(listings) == 1
    approve(lake)
    (done,) = executor.round(waiting_only=True).plans
    assert (done.state, len(listings)) == ("verified", 2)
