"""Shared worlds: small real lakes made with PyIceberg, and ONE Spark session for every test that needs one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakes import Lake
from worker_groups import pytest_configure_node, pytest_xdist_make_scheduler, write_groups  # noqa: F401, hooks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STEPS_ENV = "LIMNOGRAPH_STEPS"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake with an SQLite catalog named `lake`, that Spark could open too."""
    return Lake(tmp_path)


@pytest.fixture(scope="session")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folder of the lake that the shared session can reach as catalog `shared`."""
    folder = tmp_path_factory.mktemp("shared-lake")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def spark(spark_home: Path) -> Iterator[SparkSession]:
    """The one Spark session. Catalog `shared` is a real lake; a namespace a test keeps tests apart.

    In a new checkout its JVM leaves the archive of classes with which all others, of later runs too, start faster.
    """
    from limnograph.adapters.spark.session import DRIVER_JVM, JVM_OPTIONS, start_session
    from quick_jvm import archived_classes
    from standing_jvm import end_jvm

    shared = Lake(spark_home, name="shared")
    conf = {"spark.driver.memory": "1g", "spark.default.parallelism": "2"}
    with archived_classes() as classes:
        conf[JVM_OPTIONS] = f"{DRIVER_JVM} {classes}"
        catalogs = {"shared": shared.properties}
        session = start_session(catalogs, master="local[2]", conf=conf, app_name="limnograph-tests")
        gateway = session.sparkContext._gateway
        yield session
        session.stop()
        end_jvm(gateway)


@pytest.fixture(scope="session")
def shared_lake(spark: SparkSession, spark_home: Path) -> Lake:
    """The lake behind catalog `shared`."""
    return Lake(spark_home, name="shared")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Nightly tests run only where somebody says how large they are."""
    if item.get_closest_marker("nightly") and STEPS_ENV not in os.environ:
        pytest.skip(f"a matter of hours: make nightly sets {STEPS_ENV}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run side by side (`-n 3`), all tests of the one Spark session go to one process, and so do those of a file that
    share a world: two processes would build it twice. What takes minutes begins first: begun last it would leave the
    others idle.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None and (group := _shares(item)):
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=_begins)
    write_groups(config, items)


def _shares(item: pytest.Item) -> str:
    """What a test shares with others that is dear to build."""
    if not isinstance(item, pytest.Function):
        return ""
    asked = item.callspec.params.values() if hasattr(item, "callspec") else ()
    if "spark" in item.fixturenames or "spark" in asked:
        return "spark"
    fixtures = item._fixtureinfo.name2fixturedefs.values()
    return str(item.path.name) if any(found[-1].scope == "module" for found in fixtures) else ""


def _begins(item: pytest.Item) -> int:
    group = item.get_closest_marker("xdist_group")
    name = str(group.args[0]) if group else ""
    if name == "deaths":
        return 0
    return 1 if name == "spark" else 2 if item.get_closest_marker("slow") else 3
