"""Property: whatever writers do before and during maintenance, the rows are those of the model, every file of every
retained snapshot exists, no deleted row returns, and no pinned reader fails.

A short set of seeds every day; `make nightly` continues for an hour at LIMNOGRAPH_STEPS=20000, from LIMNOGRAPH_SEED.
The figures are printed as a line of JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakes import Lake
from limnograph.domain.failpoints import MAINTAIN_FAILPOINTS
from maintain_site import MaintainSite, summary
from maintenance_history import MaintenanceHistory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
STEPS = int(os.environ.get("LIMNOGRAPH_STEPS", "20000"))
ZERO = ("lost_rows", "resurrected_rows", "missing_files", "failed_readers")
SECONDS_A_STEP = 0.18
STEPS_OF_A_TABLE = 40
"""Then another table begins: its history would only grow."""


def tell(history: MaintenanceHistory, seed: int) -> None:
    figures = {name: history.figures[name] for name in ZERO} | dict(sorted(history.figures.items()))
    print(json.dumps({"seed": seed, **figures}), file=sys.stderr)


@pytest.mark.parametrize("seed", [1, 4])
def test_random_histories_beside_the_executor(
    spark: SparkSession, shared_lake: Lake, tmp_path: Path, seed: int
) -> None:
    history = MaintenanceHistory(MaintainSite(tmp_path, shared_lake), spark, seed)
    for prepare in (history.delete_rows, history.append, history.overwrite, history.append, history.age):
        prepare()
    for rival in (history.delete_rows, history.append):
        history.maintain(rival)
        history.check()
    for _ in range(4):
        history.step()
    tell(history, seed)
    assert {name: history.figures[name] for name in ZERO} == dict.fromkeys(ZERO, 0)


@pytest.mark.nightly
def test_long_random_histories_beside_the_executor(spark: SparkSession, shared_lake: Lake, tmp_path: Path) -> None:
    seed = int(os.environ.get("LIMNOGRAPH_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
    end_at, table = time.monotonic() + SECONDS_A_STEP * STEPS, 0
    while time.monotonic() < end_at:
        table += 1
        folder = tmp_path / str(table)
        folder.mkdir()
        history = MaintenanceHistory(MaintainSite(folder, shared_lake), spark, seed + table)
        try:
            for _ in range(STEPS_OF_A_TABLE):
                if time.monotonic() < end_at:
                    history.step()
        finally:
            tell(history, seed + table)
        assert {name: history.figures[name] for name in ZERO} == dict.fromkeys(ZERO, 0)


@pytest.mark.nightly
def test_random_deaths_of_the_command_beside_writers(spark: SparkSession, tmp_path: Path) -> None:
    """Through the command line, with a JVM of its own each time; the writers use the session of the tests only for row
    deletes, which are left out here.
    """
    seed = int(os.environ.get("LIMNOGRAPH_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
    site, dice = MaintainSite(tmp_path), random.Random(seed)
    history = MaintenanceHistory(site, spark, seed)
    for _ in range(max(3, STEPS // 1_000)):
        for _ in range(3):
            history.append()
        failpoint = dice.choice(MAINTAIN_FAILPOINTS)
        died = site.run(f"{failpoint}:1:kill")
        assert died.returncode in {0, -signal.SIGKILL}, died.stderr[-3000:]
        history.check()
    lived = site.run()
    assert lived.returncode == 0, (summary(lived), lived.stderr[-3000:])
    history.check()
    tell(history, seed)
