"""Rounds of the executor on real metadata: what it runs, in which order, and what it records."""

from __future__ import annotations

from pathlib import Path

import pytest

from maintained_lake import MaintainedLake


@pytest.fixture
def lake(tmp_path: Path) -> MaintainedLake:
    return MaintainedLake(tmp_path)


def test_auto_compacts_and_verifies(lake: MaintainedLake) -> None:
    table = lake.add(files=6)
    report = lake.executor().round()
    assert report.troubles == []
    (done,) = report.plans
    assert (done.action, done.state, done.policy, done.problem) == ("rewrite_data_files", "verified", "all", None)
    assert (done.files_in, done.files_out) == (6, 1)
    assert len(table.files()) == 1
    fact = lake.states.plan(done.id)
    assert fact is not None
    assert fact.approved_by == "policy:all"
    assert fact.snapshot_ids == [table.head()]
    assert lake.states.holders() == []


def test_a_second_round_has_nothing_to_do(lake: MaintainedLake) -> None:
    lake.add(files=6)
    executor = lake.executor()
    executor.round()
    assert executor.round().plans == []
    assert len(lake.maintainer.ran) == 1
