"""What the launcher derives before a JVM starts: the Java, the jars, who reaches the driver, how work is shared."""

from __future__ import annotations

from pathlib import Path

import pytest

from limnograph.adapters.spark.java import java_home
from limnograph.adapters.spark.session import _conf, find_jars, on_this_machine
from limnograph.domain.errors import EnvironmentFault
from limnograph.domain.metadata.due import DueTable


def jdk(folder: Path, version: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (folder / "release").write_text(f'JAVA_VERSION="{version}"\n')
    return folder


def test_a_configured_java_or_one_on_the_path_is_used_if_it_is_17(tmp_path: Path) -> None:
    right = jdk(tmp_path / "right", "17.0.15")
    assert java_home({"JAVA_HOME": str(right), "PATH": ""}) == str(right)
    link = tmp_path / "links"
    link.mkdir()
    (link / "java").symlink_to(right / "bin" / "java")
    assert java_home({"PATH": str(link)}) == str(right.resolve())


def test_a_java_of_another_version_is_skipped(tmp_path: Path) -> None:
    wrong, right = jdk(tmp_path / "wrong", "25.0.1"), jdk(tmp_path / "right", "17")
    assert java_home({"JAVA_HOME": str(wrong), "PATH": str(right / "bin")}) == str(right)


def test_without_java_17_the_error_names_the_found_versions_and_the_command(tmp_path: Path) -> None:
    wrong = jdk(tmp_path / "wrong", "25.0.1")
    with pytest.raises(EnvironmentFault, match=r"wrong is 25\)\. Debian.*openjdk-17"):
        java_home({"JAVA_HOME": str(wrong), "PATH": ""}, folders=())


def test_jars_come_from_the_named_folder_and_their_absence_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="make setup"):
        find_jars(str(tmp_path))
    (tmp_path / "a.jar").touch()
    assert find_jars(str(tmp_path)) == [tmp_path / "a.jar"]


@pytest.mark.parametrize(
    ("master", "near"),
    [
        ("local[*]", True),
        ("local-cluster[2,1,1024]", True),
        ("spark://127.0.0.1:7077", True),
        ("spark://localhost:7077", True),
        ("spark://master.example:7077", False),
        ("yarn", False),
        ("k8s://https://kubernetes.default.svc", False),
    ],
)
def test_only_executors_of_this_machine_reach_the_driver_by_loopback(master: str, *, near: bool) -> None:
    assert on_this_machine(master) is near


def test_on_kubernetes_jars_come_from_the_image_and_elsewhere_from_the_driver(tmp_path: Path) -> None:
    (tmp_path / "a.jar").touch()
    assert _conf({}, "k8s://https://k", str(tmp_path), {})["spark.jars"] == f"local://{tmp_path}/a.jar"
    assert _conf({}, "spark://m:7077", str(tmp_path), {})["spark.jars"] == f"{tmp_path}/a.jar"


def test_settings_of_spark_submit_take_precedence_and_its_jars_are_not_searched_for(tmp_path: Path) -> None:
    given = {"spark.jars": "mine.jar", "spark.driver.memory": "4g", "spark.sql.catalog.lake.cache-enabled": "true"}
    found = _conf({"lake": {"uri": "http://r"}}, "yarn", str(tmp_path / "none"), given)
    assert found.keys() & given.keys() == set()
    assert found["spark.sql.catalog.lake.uri"] == "http://r"
    assert "spark.driver.host" not in found


def test_work_is_spread_by_its_size() -> None:
    from limnograph.adapters.spark.source import PlacedTable, shares

    def due(place: int, count: int) -> PlacedTable:
        table = DueTable(
            catalog="c",
            namespace="n",
            table="t",
            table_uuid=str(count),
            metadata_location="x",
            snapshot_ids=[*range(count)],
        )
        return PlacedTable(place, table)

    found = shares([due(place, count) for place, count in enumerate((5, 90, 40, 50))], 2)
    assert [sorted(len(placed.due.snapshot_ids) for placed in share) for share in found] == [[5, 90], [40, 50]]
    assert [sorted(placed.place for placed in share) for share in found] == [[0, 1], [2, 3]]
    assert shares([due(0, 1)], 8) == [[due(0, 1)]]
