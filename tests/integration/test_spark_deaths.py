"""A driver that is really killed at every failpoint, one after another on one lake: each run heals what the one before
left and dies at the next step; in the end everything is there once.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from crash_lake import CrashLake
from limnograph.domain.facts.meta_tables import RUNS
from limnograph.domain.failpoints import INBOX_STEPS, PASS_STEPS, REPAIR_STEPS, UPKEEP_STEPS, around
from limnograph.ports.meta_store import keys_of

REPORT = ["run_id", "tables_seen", "tables_changed", "snapshots_appended", "gaps", "unreadable", "seconds"]
pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(UPKEEP_STEPS + REPAIR_STEPS, id="housekeeping", marks=pytest.mark.xdist_group("deaths-in-upkeep")),
        pytest.param(
            PASS_STEPS + INBOX_STEPS, id="passes-and-inbox", marks=pytest.mark.xdist_group("deaths-in-passes")
        ),
    ],
)
def test_a_chain_of_deaths_at_every_step_ends_exact(tmp_path: Path, steps: tuple[str, ...]) -> None:
    world = CrashLake(tmp_path)
    if UPKEEP_STEPS[0] in steps:
        world.hide()
        assert world.run().returncode == 0
    for name in around(steps):
        world.work_for(name)
        died = world.run(f"{name}:1:kill")
        assert died.returncode == -signal.SIGKILL, (name, died.stdout[-500:], died.stderr[-2000:])
        if name != "before_create_tables":
            assert world.exact.doubled() == [], name
    world.work_for("merge_hours")
    healed = world.run()
    assert healed.returncode == 0, healed.stderr[-2000:]
    report = json.loads(healed.stdout.splitlines()[-1])
    assert list(report) == REPORT
    assert report["gaps"] == 0
    assert world.exact.wrong(*world.names) == []
    assert sorted(keys_of(RUNS, world.exact.rows(RUNS, None, RUNS.key))) == world.accepted()
    assert world.inbox.waiting(("run",), 9) == []
