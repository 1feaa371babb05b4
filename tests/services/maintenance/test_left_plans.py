"""Plans whose executor died while something else changed: their policy, their table, other tables, their own state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.failpoints import FailpointReached
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.moves import following
from limnograph.domain.maintenance.policy import MaintenancePolicy, PolicyReader, RetainedSnapshots
from limnograph.ports.table_maintainer import STAMP
from limnograph.services.maintenance.known import RecordedFacts
from maintained_lake import DAY_MS, DAY_US, NAME, MaintainedLake, policy, rule
from metadata_writer import MetadataTable

COMPACT = policy("auto", rule(actions=frozenset({"compact"})))
CHURN = (PolicyReader("churn", DAY_US),)
EXPIRE = rule(actions=frozenset({"expire"}), retain=RetainedSnapshots(DAY_US, 2), readers=CHURN)
ELSEWHERE = policy("auto", rule(tables="lake.other.*"))


@pytest.fixture
def lake(tmp_path: Path) -> MaintainedLake:
    return MaintainedLake(tmp_path)


def die(lake: MaintainedLake, chosen: MaintenancePolicy, failpoint: str) -> None:
    with pytest.raises(FailpointReached):
        lake.executor(chosen, f"{failpoint}:1:raise").round()


def interrupted_expiry(lake: MaintainedLake) -> tuple[MetadataTable, set[str]]:
    """A table whose snapshots are gone, with the files that only they reached, which are still there."""
    table = lake.add(files=4)
    freed = {file.path for file in table.files()[:2]}
    table.delete(*table.files()[:2])
    lake.append(table, "eu")
    lake.later(6 * DAY_MS)
    die(lake, policy("auto", EXPIRE), "maintain.committed")
    assert not freed & lake.maintainer.removed
    return table, freed


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"hold": True}, "legal hold"),
        ({"mode": "advise"}, 'has mode "advise"'),
        ({"mode": "approve"}, "needs the approval of a user"),
        ({"actions": frozenset({"compact"})}, "does not permit expire_snapshots"),
    ],
)
def test_an_interrupted_expiry_deletes_nothing_that_the_policy_protects_now(
    lake: MaintainedLake, change: dict[str, Any], why: str
) -> None:
    _, freed = interrupted_expiry(lake)
    lake.executor(policy("auto", EXPIRE._replace(**change))).round()
    (fact,) = lake.states.plans()
    assert fact.state == "verified"
    assert why in (fact.reason or "")
    assert "are not deleted" in (fact.reason or "")
    assert not freed & lake.maintainer.removed


def test_an_interrupted_expiry_spares_what_a_restored_copy_may_need(lake: MaintainedLake) -> None:
    table, freed = interrupted_expiry(lake)
    lake.add("backup", files=1, table_uuid=table.table_uuid)
    lake.executor(policy("auto", EXPIRE)).round()
    (fact,) = [each for each in lake.states.plans() if each.table == "orders"]
    assert (fact.state, "lake.sales.backup has the same table uuid" in (fact.reason or "")) == ("verified", True)
    assert not freed & lake.maintainer.removed


def test_a_table_that_forbids_deletion_now_keeps_the_files_of_an_interrupted_expiry(lake: MaintainedLake) -> None:
    table, freed = interrupted_expiry(lake)
    table.set_property("gc.enabled", "false")
    lake.executor(policy("auto", EXPIRE)).round()
    assert not freed & lake.maintainer.removed


@pytest.mark.parametrize("failpoint", ["maintain.outputs-written", "maintain.committed"])
def test_a_plan_that_no_policy_names_any_more_is_recovered(lake: MaintainedLake, failpoint: str) -> None:
    table = lake.add(files=6)
    die(lake, COMPACT, failpoint)
    report = lake.executor(ELSEWHERE).round()
    assert (report.recovered, report.troubles) == (1, [])
    (fact,) = lake.states.plans()
    # What did not run waits for an executor whose policy permits it.
    assert fact.state == ("verified" if failpoint == "maintain.committed" else "queued")
    assert lake.states.holders() == []
    assert len([each for each in table.snapshots.values() if STAMP in each["summary"]]) == (fact.state == "verified")


@pytest.mark.parametrize(("failpoint", "state"), [("maintain.leased", "superseded"), ("maintain.committed", "failed")])
def test_a_plan_of_a_table_that_was_dropped_ends(lake: MaintainedLake, failpoint: str, state: str) -> None:
    lake.add(files=6)
    die(lake, COMPACT, failpoint)
    del lake.tables[NAME]
    lake.executor(COMPACT).round()
    (fact,) = lake.states.plans()
    assert (fact.state, fact.problem) == (state, "table_gone")
    assert lake.states.breakers() == []


def test_a_plan_of_a_table_that_another_one_replaced_ends_and_does_nothing_to_it(lake: MaintainedLake) -> None:
    lake.add(files=6)
    die(lake, COMPACT, "maintain.outputs-written")
    del lake.tables[NAME]
    lake.add("orders", files=1, table_uuid="00000000-0000-4000-8000-000000000000")
    lake.executor(COMPACT).round()
    fact = next(each for each in lake.states.plans() if each.state == "failed")
    assert fact.problem == "another_table"
    assert len(lake.maintainer.ran) == 1


def test_a_plan_of_another_executors_catalog_is_left_alone(lake: MaintainedLake) -> None:
    lake.add(files=6)
    die(lake, COMPACT, "maintain.committed")
    (fact,) = lake.states.plans()
    del lake.tables[NAME]
    elsewhere = lake.listing()._replace(pointers=(), complete=frozenset({"archive"}))
    lake.executor(COMPACT, listing=lambda: elsewhere).round()
    assert lake.states.plans() == [fact]


def test_a_part_that_was_not_verified_is_verified_later(lake: MaintainedLake) -> None:
    """The metadata could not be read after a part of the groups had been committed."""
    table = lake.add(files=6)
    executor = lake.executor(COMPACT)

    class Unreachable:
        def evidence(self, *_: object) -> None:
            raise SourceUnavailable("storage", "it does not respond")

    cut_short = lake.executor(COMPACT, evidence=Unreachable())
    assert cut_short.round().troubles
    (fact,) = lake.states.plans()
    assert fact.state == "committed"
    lake.states._plans[fact.plan_id] = replace(fact, state="partly")
    report = executor.round()
    assert report.recovered == 1
    (fact,) = lake.states.plans()
    assert (fact.state, report.failed) == ("verified", False)
    assert [each["summary"].get(STAMP) for each in table.snapshots.values()].count(fact.plan_id) == 1


def test_without_all_recorded_decisions_nothing_is_executed(lake: MaintainedLake) -> None:
    lake.add(files=6)
    with pytest.raises(SourceUnavailable, match="meta table `plans`"):
        lake.executor(COMPACT, rebuilt=lambda: False).round()
    assert lake.maintainer.ran == []


def test_a_copy_under_a_name_that_another_table_had_is_recognised(lake: MaintainedLake) -> None:
    """The meta tables still say whose the name was: the copy was registered since then, from metadata elsewhere."""
    table = lake.add(files=4)
    table.delete(*table.files()[:2])
    lake.append(table, "eu")
    lake.later(6 * DAY_MS)
    lake.add("backup", files=1, table_uuid=table.table_uuid)
    name = TableName("lake", "sales", "backup")
    assert lake.recorded is not None
    old = (name, "the-uuid-of-another-table", "file:///elsewhere/backup/metadata/v1.metadata.json")
    lake.recorded = RecordedFacts({}, {}, lake.recorded.saved, [old])
    lake.executor(policy("auto", EXPIRE)).round()
    assert lake.maintainer.ran == []


def test_a_catalog_that_does_not_respond_ends_nothing(lake: MaintainedLake) -> None:
    lake.add(files=6)
    die(lake, COMPACT, "maintain.committed")

    class Silent:
        def __getattr__(self, name: str) -> Any:
            return getattr(lake.maintainer, name)

        def open(self, name: TableName) -> Any:
            raise SourceUnavailable("catalog", f"{name}: it does not respond")

    lake.executor(COMPACT, maintainer=Silent()).round()
    assert [fact.state for fact in lake.states.plans()] == ["running"]


@pytest.mark.parametrize("is_replaced", [True, False])
def test_an_approved_plan_does_not_outlive_its_table(lake: MaintainedLake, is_replaced: bool) -> None:
    chosen = policy("approve", rule(actions=frozenset({"compact"})))
    lake.add(files=6)
    lake.executor(chosen).round()
    (fact,) = lake.states.plans()
    lake.states.record([following(fact, "approved", "ann")])
    del lake.tables[NAME]
    if is_replaced:
        lake.add("orders", files=1, table_uuid="00000000-0000-4000-8000-000000000000")
    lake.executor(chosen).round()
    last = lake.states.plan(fact.plan_id)
    assert last is not None
    assert (last.state, last.problem) == ("superseded", "another_table" if is_replaced else "table_gone")
    assert lake.maintainer.ran == []
