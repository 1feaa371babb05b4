"""Executors that die at each failpoint: the next one reads the stamps. Nothing runs twice, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from limnograph.domain.failpoints import MAINTAIN_FAILPOINTS, FailpointReached
from limnograph.domain.maintenance.policy import OrphanRule, PolicyReader, RetainedSnapshots
from limnograph.ports.table_maintainer import STAMP
from maintained_lake import DAY_MS, DAY_US, HOUR_MS, MaintainedLake, aged, policy, rule
from metadata_writer import MetadataTable

COMPACT = policy("auto", rule(actions=frozenset({"compact"})))
EXPIRE = policy(
    "auto",
    rule(actions=frozenset({"expire"}), retain=RetainedSnapshots(DAY_US, 2), readers=(PolicyReader("churn", DAY_US),)),
)
MANIFESTS = policy("auto", rule(actions=frozenset({"manifests"})))


@pytest.fixture
def lake(tmp_path: Path) -> MaintainedLake:
    return MaintainedLake(tmp_path)


def stamps(table: MetadataTable) -> list[str]:
    return [each["summary"][STAMP] for each in table.snapshots.values() if STAMP in each["summary"]]


def die(lake: MaintainedLake, chosen: object, failpoint: str) -> None:
    with pytest.raises(FailpointReached):
        lake.executor(chosen, f"{failpoint}:1:raise").round()  # type: ignore[arg-type]


@pytest.mark.parametrize("failpoint", [each for each in MAINTAIN_FAILPOINTS if each != "maintain.files-deleted"])
def test_a_compaction_ends_once_whatever_died(lake: MaintainedLake, failpoint: str) -> None:
    table = lake.add(files=6)
    die(lake, COMPACT, failpoint)
    report = lake.executor(COMPACT).round()
    assert report.troubles == []
    (fact,) = lake.states.plans()
    assert fact.state == "verified"
    assert stamps(table) == [fact.plan_id]
    assert len(table.files()) == 1
    committed = failpoint in {"maintain.committed", "maintain.verified", "maintain.measured"}
    assert len(lake.maintainer.ran) == (1 if committed or failpoint in {"maintain.leased", "maintain.planned"} else 2)


def test_files_that_a_dead_executor_left_are_counted(lake: MaintainedLake) -> None:
    lake.add(files=6)
    die(lake, COMPACT, "maintain.outputs-written")
    executor = lake.executor(COMPACT)
    lake.maintainer.during = lambda: None
    report = executor.round()
    first = next(each for each in report.plans if each.state in {"queued", "verified"})
    assert first.left_behind_files is not None
    assert report.recovered == 1


@pytest.mark.parametrize("failpoint", [each for each in MAINTAIN_FAILPOINTS if each != "maintain.outputs-written"])
def test_an_expiry_is_finished_whatever_died(lake: MaintainedLake, failpoint: str) -> None:
    table = lake.add(files=4)
    removed = table.files()[:2]
    table.delete(*removed)
    lake.append(table, "eu")
    lake.later(6 * DAY_MS)
    die(lake, EXPIRE, failpoint)
    report = lake.executor(EXPIRE).round()
    assert report.troubles == []
    (fact,) = lake.states.plans()
    assert (fact.state, fact.problem) == ("verified", None)
    assert len(table.snapshots) == 2
    assert {file.path for file in removed} <= lake.maintainer.removed


def test_manifests_run_again_as_an_attempt_of_their_own(lake: MaintainedLake) -> None:
    table = lake.add(files=30)
    die(lake, MANIFESTS, "maintain.committed")
    lake.executor(MANIFESTS).round()
    for _ in range(30):
        lake.append(table, "eu")
    lake.later(2 * HOUR_MS)
    lake.executor(MANIFESTS).round()
    (fact,) = lake.states.plans()
    assert (fact.state, fact.attempt) == ("verified", 2)
    assert sorted(stamps(table)) == [fact.plan_id, f"{fact.plan_id}-2"]


def test_a_removal_of_unreferenced_files_is_repeated(lake: MaintainedLake, tmp_path: Path) -> None:
    lake.add(files=3)
    lake.later(9 * DAY_MS)
    left = aged(tmp_path / "orders/data/left.parquet", 8, lake.clock.micros)
    own = rule(actions=frozenset({"orphans"}), orphans=OrphanRule(mode="auto", longest_run_us=DAY_US))
    chosen = policy("auto", own._replace(readers=(PolicyReader("churn", DAY_US),)))
    die(lake, chosen, "maintain.planned")
    assert left.exists()
    lake.executor(chosen).round()
    assert not left.exists()
    assert [fact.state for fact in lake.states.plans()] == ["verified"]


def test_a_plan_that_kills_two_executors_is_not_tried_again(lake: MaintainedLake) -> None:
    lake.add(files=6)
    for _ in range(2):
        die(lake, COMPACT, "maintain.outputs-written")
    lake.executor(COMPACT).round()
    (fact,) = lake.states.plans()
    assert (fact.state, fact.problem) == ("failed", "interrupted")


def test_a_lost_database_does_not_run_a_plan_twice(lake: MaintainedLake) -> None:
    """The states fall back to `approved`, while the table has the commit."""
    table = lake.add(files=6)
    chosen = policy("approve", rule(actions=frozenset({"compact"})))
    lake.executor(chosen).round()
    (fact,) = lake.states.plans({"proposed"})
    from limnograph.domain.maintenance.moves import following

    (approved,) = lake.states.record([following(fact, "approved", "ann")])
    lake.executor(chosen).round()
    lake.states._plans[fact.plan_id] = approved
    lake.executor(chosen).round()
    assert stamps(table) == [fact.plan_id]
    assert [each.state for each in lake.states.plans()] == ["verified"]


def test_a_taken_over_lease_waits_and_reads_the_stamps_first(lake: MaintainedLake) -> None:
    table = lake.add(files=6)
    die(lake, COMPACT, "maintain.committed")
    (fact,) = lake.states.plans()
    assert lake.states.acquire(fact.table_uuid or "", "gone", fact.plan_id) is not None
    waited: list[float] = []
    executor = lake.executor(COMPACT, executor_id="two", pause=waited.append)
    assert executor.round().recovered == 0  # it is still held
    lake.clock.micros += 301_000_000
    lake.machine.micros = lake.clock.micros
    assert executor.round().recovered == 1
    assert waited == [0.0]
    assert stamps(table) == [fact.plan_id]
