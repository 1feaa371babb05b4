"""`limnograph maintain` that is really killed at every failpoint, one after another on one lake: each run decides by
the stamps what the one before left, and dies at the next step. In the end nothing ran twice and nothing is lost.

Drivers connect to a JVM that outlives them and are forked by an interpreter that has imported what they need, as those
of the pipeline (test_spark_deaths.py). One has a JVM of its own, which goes with it; `make nightly` kills such ones at
every step.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from limnograph.domain.failpoints import MAINTAIN_FAILPOINTS
from maintain_site import CHEAP, MaintainSite, summary, until
from standing_jvm import StandingJvm, standing_jvm
from warm_python import warm_python

IMPORTED = (
    "limnograph.adapters.spark.maintenance.maintainer",
    "limnograph.cli.maintain",
    "limnograph.adapters.inbox.plan_states",
    "limnograph.settings.maintenance",
    "pyiceberg.catalog.sql",
    "pyspark.sql",
)
"""Without polars, which starts a thread: a process that forks has no other."""
OWN_JVM = "maintain.committed"
pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def jvm() -> Iterator[StandingJvm]:
    with standing_jvm(CHEAP) as standing:
        yield standing


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with warm_python(tmp_path_factory.mktemp("warm"), IMPORTED) as warm:
        yield warm


@pytest.mark.xdist_group("deaths")
def test_a_chain_of_deaths_runs_nothing_twice_and_loses_nothing(tmp_path: Path, jvm: StandingJvm, python: Path) -> None:
    die_and_recover(MaintainSite(tmp_path, jvm=jvm, python=python))


@pytest.mark.xdist_group("deaths")
def test_a_signal_ends_the_watch_and_leaves_no_lease(tmp_path: Path, jvm: StandingJvm, python: Path) -> None:
    site = MaintainSite(tmp_path, jvm=jvm, python=python)
    site.table("orders", files=4)
    with site.watching() as process:
        until(lambda: any(fact.state == "verified" for fact in site.states.plans()), 180)
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors[-3000:]
    assert json.loads(output.splitlines()[0])["plans"]
    assert site.states.holders() == []


@pytest.mark.nightly
def test_executors_with_jvms_of_their_own_run_nothing_twice(tmp_path: Path) -> None:
    die_and_recover(MaintainSite(tmp_path))


def die_and_recover(site: MaintainSite) -> None:
    """A death at each failpoint, each on a table of its own, and a run that lives."""
    names, rows = list[str](), dict[str, list[int]]()
    for number, failpoint in enumerate(MAINTAIN_FAILPOINTS):
        name = f"t{number}"
        site.table(name, files=4)
        if failpoint == "maintain.files-deleted":
            site.load(name).delete("id < 20")
            site.append(name, [100])
            site.age(name, 9)
        names.append(name)
        rows[name] = site.rows(name)
        died = site.run(f"{failpoint}:1:kill", own_jvm=failpoint == OWN_JVM)
        assert died.returncode == -signal.SIGKILL, (failpoint, died.stdout[-500:], died.stderr[-3000:])
    lived = site.run()
    assert lived.returncode == 0, (lived.stdout[-2000:], lived.stderr[-3000:])
    assert summary(lived)["troubles"] == []
    for name in names:
        assert site.rows(name) == rows[name], name
        assert site.missing(name) == [], name
    assert set(site.stamps(*names).values()) == {1}
    # A plan whose executor died may be superseded by what the table needs by then; none is left under way.
    plans = site.states.plans()
    assert {fact.state for fact in plans} <= {"verified", "superseded"}, plans
    assert {fact.table for fact in plans if fact.state == "verified"} == set(names)
    assert site.states.holders() == []


def test_usage_errors_exit_with_2(tmp_path: Path) -> None:
    site = MaintainSite(tmp_path, mode="advise")
    refused = site.run()
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "nothing may be executed" in refused.stderr
    assert _code(site, "--watch", "--dry-run") == 2


def _code(site: MaintainSite, *options: str) -> int:
    done: subprocess.CompletedProcess[str] = site.run("", *options)
    return done.returncode
