"""The maintainer's contract in a REST catalog on disk (Iceberg's own server), and its file access on S3."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pyiceberg.catalog import load_catalog

from maintained_tables import SparkWorld, execute, now_ms, request, total
from test_table_maintainer import (  # noqa: F401 - the contract
    test_a_cancelled_action_commits_nothing_more,
    test_a_referenced_snapshot_is_not_expired,
    test_a_rewrite_of_a_partition_stamps_its_commit_and_keeps_rows_and_other_files,
    test_a_rewrite_of_manifests_stamps_its_commit,
    test_a_rival_that_changes_the_files_first_wins,
    test_an_append_between_planning_and_commit_is_kept,
    test_an_interrupted_expiry_is_finished,
    test_an_open_table_is_pinned_at_its_metadata_file,
    test_an_unknown_table_is_not_found,
    test_expiry_removes_exactly_the_named_snapshots_and_what_only_they_reach,
    test_unreferenced_files_are_listed_by_age_and_only_the_named_ones_are_removed,
    test_with_partial_progress_the_commits_of_other_partitions_stand,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Catalogs = dict[str, dict[str, str]]


def rest_world(name: str, catalogs: Catalogs, spark: SparkSession, folder: Path) -> SparkWorld:
    """Tables of one of the catalogs, written by PyIceberg."""
    lake: Any = SimpleNamespace(name=name, catalog=load_catalog(name, **catalogs[name]))
    return SparkWorld(spark, lake, folder)


@pytest.fixture(scope="module")
def world(rest_catalogs: Catalogs, rest_spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkWorld:
    return rest_world("disk", rest_catalogs, rest_spark, tmp_path_factory.mktemp("maintain-state"))


def test_on_s3_files_are_listed_and_deleted_by_the_catalogs_own_client(
    rest_catalogs: Catalogs, rest_spark: SparkSession, tmp_path: Path
) -> None:
    world = rest_world("s3", rest_catalogs, rest_spark, tmp_path)
    name, beside = world.table(table="orders"), world.table(table="orders2")
    io, root = world.load(name).io, world.load(name).location()
    old, ids = world.live(name), world.snapshots(name)
    execute(world, name, request("p"))
    execute(world, name, request("e", "expire_snapshots", snapshots=ids))
    assert not any(io.new_input(each).exists() for each in old)
    assert total(world, name) == 4
    stray = f"{root}/data/stray.parquet"
    with io.new_output(stray).create() as file:
        file.write(b"stray")
    opened = world.maintainer.open(name)
    found = world.maintainer.unreferenced(opened, now_ms() + 60_000)
    assert [(file.location, file.size) for file in found] == [(stray, 5)]
    asked = request("o", "remove_orphan_files", files=[stray, *world.live(beside)], older_than_ms=now_ms() + 60_000)
    assert execute(world, name, asked).deleted_files == 1
    assert not io.new_input(stray).exists()
    assert (total(world, name), total(world, beside)) == (4, 4)
