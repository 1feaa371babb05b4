"""What the launcher derives before a JVM starts: the Java, the jars, Spark's form of every catalog."""

from __future__ import annotations

from pathlib import Path

import pytest

from limnograph.adapters.spark.catalogs import spark_catalog
from limnograph.adapters.spark.java import java_home
from limnograph.adapters.spark.session import find_jars
from limnograph.domain.due import DueTable
from limnograph.domain.errors import EnvironmentFault, SettingsError


def jdk(folder: Path, version: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (folder / "release").write_text(f'JAVA_VERSION="{version}"\n')
    return folder


def test_the_java_that_is_named_or_on_the_path_is_taken_when_it_is_17(tmp_path: Path) -> None:
    right = jdk(tmp_path / "right", "17.0.15")
    assert java_home({"JAVA_HOME": str(right), "PATH": ""}) == str(right)
    link = tmp_path / "links"
    link.mkdir()
    (link / "java").symlink_to(right / "bin" / "java")
    assert java_home({"PATH": str(link)}) == str(right.resolve())


def test_a_wrong_java_is_passed_over_for_a_right_one(tmp_path: Path) -> None:
    wrong, right = jdk(tmp_path / "wrong", "25.0.1"), jdk(tmp_path / "right", "17")
    assert java_home({"JAVA_HOME": str(wrong), "PATH": str(right / "bin")}) == str(right)


def test_without_a_17_one_sentence_names_what_is_there_and_the_command(tmp_path: Path) -> None:
    wrong = jdk(tmp_path / "wrong", "25.0.1")
    with pytest.raises(EnvironmentFault, match=r"wrong is 25\)\. Debian.*openjdk-17"):
        java_home({"JAVA_HOME": str(wrong), "PATH": ""}, folders=())


def test_jars_come_from_the_named_folder_and_their_absence_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="make setup"):
        find_jars(str(tmp_path))
    (tmp_path / "a.jar").touch()
    assert find_jars(str(tmp_path)) == [tmp_path / "a.jar"]


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        (
            {"type": "sql", "uri": "sqlite:////x/c.db", "warehouse": "file:///w"},
            {"type": "jdbc", "uri": "jdbc:sqlite:file:/x/c.db", "warehouse": "file:///w", "jdbc.schema-version": "V1"},
        ),
        (
            {"type": "sql", "uri": "postgresql+psycopg2://me:p%40ss@db:5544/limno"},
            {"type": "jdbc", "uri": "jdbc:postgresql://db:5544/limno", "jdbc.user": "me", "jdbc.password": "p@ss"},
        ),
        (
            {"type": "sql", "uri": "postgresql://m%40e@db/limno?sslmode=verify-full&sslrootcert=/a b.pem"},
            {
                "uri": "jdbc:postgresql://db:5432/limno?sslmode=verify-full&sslrootcert=%2Fa+b.pem",
                "jdbc.user": "m@e",
            },
        ),
        (
            {"type": "rest", "uri": "http://r", "s3.endpoint": "e"},
            {"type": "rest", "uri": "http://r", "s3.endpoint": "e"},
        ),
        ({"uri": "http://r", "warehouse": "w"}, {"type": "rest", "warehouse": "w"}),
        ({"type": "hive", "uri": "thrift://h"}, {"type": "hive", "uri": "thrift://h"}),
    ],
)
def test_sparks_form_of_a_catalog(properties: dict[str, str], expected: dict[str, str]) -> None:
    found = spark_catalog("lake", properties)
    assert found["spark.sql.catalog.lake"] == "org.apache.iceberg.spark.SparkCatalog"
    assert found["spark.sql.catalog.lake.cache-enabled"] == "false"
    assert {key: found[f"spark.sql.catalog.lake.{key}"] for key in expected} == expected


@pytest.mark.parametrize("properties", [{"type": "sql", "uri": "mysql://x"}, {"type": "sql"}, {"type": "dynamodb"}])
def test_a_catalog_that_spark_cannot_open_names_its_key(properties: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"catalogs\.lake"):
        spark_catalog("lake", properties)


def test_work_is_spread_by_its_size() -> None:
    from limnograph.adapters.spark.source import shares

    def due(count: int) -> DueTable:
        return DueTable(
            catalog="c",
            namespace="n",
            table="t",
            table_uuid=str(count),
            metadata_location="x",
            snapshot_ids=[*range(count)],
        )

    found = shares([due(5), due(90), due(40), due(50)], 2)
    assert [sorted(len(t.snapshot_ids) for t in share) for share in found] == [[5, 90], [40, 50]]
    assert shares([due(1)], 8) == [[due(1)]]
