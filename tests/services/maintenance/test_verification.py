"""Actions of a defective engine: the table does not confirm them, and the action stops for the fleet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakes import path_of
from limnograph.domain.maintenance.policy import PolicyReader, RetainedSnapshots
from maintained_lake import DAY_MS, DAY_US, MaintainedLake, policy, rule

COMPACT = policy("auto", rule(actions=frozenset({"compact"})))
EXPIRE = policy(
    "auto",
    rule(actions=frozenset({"expire"}), retain=RetainedSnapshots(DAY_US, 2), readers=(PolicyReader("churn", DAY_US),)),
)


@pytest.fixture
def lake(tmp_path: Path) -> MaintainedLake:
    return MaintainedLake(tmp_path)


def lose_rows(_removed: list[Any], added: list[Any]) -> None:
    added[0] = added[0]._replace(records=added[0].records - 1)


def spare_a_file(removed: list[Any], added: list[Any]) -> None:
    gone = removed.pop()
    added[0] = added[0]._replace(records=added[0].records - gone.records)


@pytest.mark.parametrize(
    ("tamper", "problem", "named"),
    [(lose_rows, "rows_differ", "60 rows"), (spare_a_file, "unapproved_files", "5 files")],
)
def test_a_defective_rewrite_stops_the_action_for_all_tables(
    lake: MaintainedLake, tamper: Any, problem: str, named: str
) -> None:
    lake.add("one", files=6)
    lake.add("two", files=6)
    lake.maintainer.tamper = tamper
    report = lake.executor(COMPACT).round()
    failed = next(each for each in report.plans if each.state == "failed")
    assert failed.problem == problem
    assert named in (failed.text or "")
    assert report.failed
    (breaker,) = lake.states.breakers()
    assert (breaker.key, breaker.half_open_at) == ("action:rewrite_data_files:verification", None)
    assert len(lake.maintainer.ran) == 1
    lake.maintainer.tamper = lambda _removed, _added: None
    assert lake.executor(COMPACT).round().plans[0].would == "wait"
    lake.states.close_breaker(breaker.key)
    assert "verified" in [each.state for each in lake.executor(COMPACT).round().plans]


def test_a_missing_file_is_named(lake: MaintainedLake) -> None:
    table = lake.add(files=6)
    lake.maintainer.tamper = lambda _removed, added: added.append(table.file("us", records=0, size=1))
    lake.maintainer.during = lambda: [
        path_of(file).unlink() for file in map(str, (path_of(table.location) / "data").glob("*"))
    ]
    (done,) = (each for each in lake.executor(COMPACT).round().plans if each.state == "failed")
    assert done.problem == "missing_files"
    assert ".parquet" in (done.text or "")


def test_an_expiry_that_takes_more_than_was_named_is_found(lake: MaintainedLake) -> None:
    table = lake.add(files=4)
    table.delete(*table.files()[:2])
    lake.append(table, "eu")
    lake.later(6 * DAY_MS)
    lost = table.retained()[1]
    lake.maintainer.during = lambda: table.expire(lost)
    (done,) = lake.executor(EXPIRE).round().plans
    assert (done.state, done.problem) == ("failed", "snapshots_lost")
    assert str(lost) in (done.text or "")
    assert [each.subject for each in lake.states.breakers()] == ["expire_snapshots"]


def test_an_expiry_that_deletes_a_live_file_is_found(lake: MaintainedLake) -> None:
    table = lake.add(files=4)
    table.delete(*table.files()[:2])
    lake.append(table, "eu")
    lake.later(6 * DAY_MS)
    victim = table.files()[0].path
    lake.maintainer.during = lambda: path_of(victim).unlink()
    (done,) = lake.executor(EXPIRE).round().plans
    assert (done.state, done.problem) == ("failed", "missing_files")
    assert victim.rpartition("/")[2] in (done.text or "")
