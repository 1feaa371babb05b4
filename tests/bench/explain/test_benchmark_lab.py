"""The lab does to real tables what it says, and its labels follow from what it did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from explain.lab import CLOCKS, experiment
from explain.lab_table import LabTable
from pyiceberg.catalog.sql import SqlCatalog


@pytest.fixture
def table(tmp_path: Path) -> LabTable:
    catalog = SqlCatalog("lab", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("lab")
    return LabTable(catalog, tmp_path / "t", "lab.t", np.random.default_rng(1), files=3, rows=200)


def test_every_action_is_visible_in_the_extracted_commits(table: LabTable) -> None:
    table.note(0.0)
    table.append()
    table.note(1.0)
    before = table.load().scan().to_arrow().num_rows
    files = len(list(table.load().scan().plan_files()))
    table.delete_files(4)
    table.note(2.0)
    assert table.load().scan().to_arrow().num_rows == before - 5 * files, "the deletes are real"
    table.small_files(7)
    table.note(3.0)
    table.flood(3)
    assert len(table.note(4.0)) == 3
    table.set_property()
    assert table.note(5.0) == []
    table.widen()
    table.note(6.0)
    table.bad_partition_spec(6)
    table.note(7.0)
    commits = table.commits()
    assert [each["added_data_files"] for each in commits][2:6] == [0, 7, 1, 1]
    assert [each["added_delete_files"] for each in commits[:3]] == [0, 0, 4]
    assert [each["schema_changed"] for each in commits][-2:] == [True, False]
    assert [each["spec_changed"] for each in commits][-2:] == [False, True]
    assert (commits[-1]["added_data_files"], commits[-1]["changed_partitions"]) == (6, 6)
    assert [each["committed_at"] for each in commits] == sorted(each["committed_at"] for each in commits)


def test_fixes_fix_and_expiry_makes_no_commit(table: LabTable) -> None:
    table.small_files(9)
    table.note(0.0)
    rows = table.load().scan().to_arrow().num_rows
    table.compact()
    made = table.note(1.0)
    assert made
    assert len(list(table.load().scan().plan_files())) == 1
    assert table.load().scan().to_arrow().num_rows == rows
    table.expire()
    assert table.note(2.0) == []
    assert len(table.load().snapshots()) == 1


def test_an_experiment_blames_its_action_and_a_placebo_nothing(tmp_path: Path) -> None:
    for folder in ("cause", "placebo"):
        (tmp_path / folder).mkdir()
    small = {"scale": 0.1, "runs": 10, "files": 4, "rows": 500}
    cause = experiment("200 delete files", 1, tmp_path / "cause", **small)
    placebo = experiment("placebo: append", 1, tmp_path / "placebo", **small)
    assert set(cause) == set(placebo) == set(CLOCKS)
    for clock in CLOCKS:
        case, truth = cause[clock].case, cause[clock].truth
        (effect,) = truth.effects
        (guilty,) = [each for each in case["commits"] if each["id"] in truth.guilty]
        assert guilty["added_delete_files"] == 20
        assert guilty["committed_at"] < effect.onset
        assert effect.onset in case["job"]["times"]
        assert len(case["job"]["times"]) == len(case["controls"][0]["times"]) == 10
        assert placebo[clock].truth.effects == []
    assert cause["cpu"].truth.effects[0].effect_ratio > 1.1
