"""A driver that is really killed after every durable step, one after another on one lake: each run heals what the one
before left and dies at the next step; in the end everything is there once.

After a step its rows are there and nothing records it yet: that is where rows double. `make nightly` kills before each
step as well, where rows are lost; every day tests of the services raise there, in memory.

Every day there are three chains, and their drivers connect to a JVM that outlives them: what a step leaves half done is
the driver's, and a JVM that has loaded Spark already saves ten seconds a death. Drivers and Spark's Python workers are
forked by an interpreter that has imported what they import, which saves five more. One driver has a JVM and an
interpreter of its own, which go with it. `make nightly` kills such drivers at every step, in one chain.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from crash_lake import CHEAP, CrashLake
from limnograph.domain.facts.meta_tables import RUNS
from limnograph.domain.failpoints import INBOX_STEPS, PASS_STEPS, REPAIR_STEPS, STEPS, UPKEEP_STEPS, around
from limnograph.ports.meta_store import keys_of
from standing_jvm import StandingJvm, standing_jvm
from warm_python import warm_python

REPORT = ["run_id", "tables_seen", "tables_changed", "snapshots_appended", "gaps", "unreadable", "seconds"]
HALF = len(UPKEEP_STEPS) // 2
CHAINS = {
    "passes-and-inbox": PASS_STEPS + INBOX_STEPS,
    "rollups-and-files": UPKEEP_STEPS[:HALF],
    "floors-and-repair": UPKEEP_STEPS[HALF:] + REPAIR_STEPS,
}
OWN_JVM = "after_append_snapshots"
IMPORTED = (
    "limnograph.adapters.spark.extraction",
    "limnograph.adapters.spark.store",
    "limnograph.cli.pipeline",
    "limnograph.services.pipeline.passes",
    "limnograph.wiring.observe",
    "pyspark.sql.worker.create_data_source",
    "pyspark.sql.worker.plan_data_source_read",
    "pyspark.worker",
)
"""By drivers and Spark's Python workers. Without polars, which starts a thread: a process that forks has no other."""
pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def jvm() -> Iterator[StandingJvm]:
    """For the drivers of all chains of a process."""
    with standing_jvm(CHEAP) as standing:
        yield standing


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An interpreter for the drivers of all chains of a process, and for their workers."""
    with warm_python(tmp_path_factory.mktemp("warm"), IMPORTED) as warm:
        yield warm


@pytest.mark.xdist_group("deaths")
@pytest.mark.parametrize("steps", CHAINS.values(), ids=CHAINS)
def test_a_chain_of_deaths_at_every_step_ends_exact(
    tmp_path: Path, jvm: StandingJvm, python: Path, steps: tuple[str, ...]
) -> None:
    die_and_heal(CrashLake(tmp_path, jvm=jvm, python=python), steps, [f"after_{step}" for step in steps])


def test_the_chains_cover_every_step() -> None:
    assert sorted(step for steps in CHAINS.values() for step in steps) == sorted(STEPS)


@pytest.mark.nightly
@pytest.mark.parametrize("steps", [PASS_STEPS + INBOX_STEPS, UPKEEP_STEPS + REPAIR_STEPS], ids=["passes", "upkeep"])
def test_one_chain_of_drivers_with_jvms_of_their_own_ends_exact(tmp_path: Path, steps: tuple[str, ...]) -> None:
    die_and_heal(CrashLake(tmp_path), steps, around(steps))


def die_and_heal(world: CrashLake, steps: tuple[str, ...], deaths: Iterable[str]) -> None:
    """A death at each failpoint, and a run that lives."""
    if PASS_STEPS[0] not in steps:
        if REPAIR_STEPS[0] in steps:
            world.hide()
        first = world.run()
        assert first.returncode == 0, first.stderr[-2000:]
    for name in deaths:
        world.work_for(name)
        died = world.run(f"{name}:1:kill", own_jvm=name == OWN_JVM)
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
    assert world.unforecast() == []
    assert sorted(keys_of(RUNS, world.exact.rows(RUNS, None, RUNS.key))) == world.accepted()
    assert world.inbox.waiting(("run",), 9) == []
