"""Hazards of maintenance (docs/maintenance.md): what Iceberg's own call does to a table, and that ours does not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lakes import SCHEMA, Lake
from limnograph.adapters.spark.maintenance.jvm import IcebergJvm
from limnograph.adapters.spark.maintenance.orphans import free_files
from limnograph.domain.errors import ActionConflict, MetadataError, SourceRejected
from limnograph.domain.ids import TableName
from maintained_tables import (
    ONE_BY_ONE,
    SparkWorld,
    execute,
    ignore,
    local,
    never,
    now_ms,
    on,
    request,
    total,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
OUTPUTS, COMMITTED = "maintain.outputs-written", "maintain.committed"
FAR_MS = 4_102_444_800_000
"""The year 2100."""


@pytest.fixture(scope="module")
def world(spark: SparkSession, shared_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> SparkWorld:
    return SparkWorld(spark, shared_lake, tmp_path_factory.mktemp("maintain-state"))


@pytest.fixture(scope="module")
def jvm(spark: SparkSession) -> IcebergJvm:
    return IcebergJvm(spark)


class Nothing:
    """Deletes nothing."""

    class Java:
        implements = ("java.util.function.Consumer",)

    def accept(self, _location: str) -> None:
        pass


def raw_orphans(jvm: IcebergJvm, name: TableName, older_than_ms: int = FAR_MS, *, deleting: bool = False) -> list[str]:
    """What Iceberg's action takes for orphans."""
    table = jvm.load(name)
    action = jvm.actions.deleteOrphanFiles(table).olderThan(older_than_ms)
    if not deleting:
        action = action.deleteWith(Nothing())
    return [*action.execute().orphanFileLocations()]


def staged(jvm: IcebergJvm, name: TableName) -> int:
    """Stage an empty commit for publication (write-audit-publish)."""
    table = jvm.load(name)
    before = {each.snapshotId() for each in table.snapshots()}
    table.newAppend().set("wap.id", "w1").stageOnly().commit()
    return next(each.snapshotId() for each in table.snapshots() if each.snapshotId() not in before)


def short_tag(jvm: IcebergJvm, name: TableName, snapshot_id: int) -> None:
    """A tag that is past its own maximum age."""
    table = jvm.load(name)
    table.manageSnapshots().createTag("short", snapshot_id).setMaxRefAgeMs("short", 1).commit()


def refs(world: SparkWorld, name: TableName) -> set[str]:
    return {*world.load(name).metadata.refs}


def test_h1_ids_alone_also_expire_by_age(world: SparkWorld, jvm: IcebergJvm) -> None:
    name = world.table(**{"history.expire.max-snapshot-age-ms": "1"})
    first, *others = [*world.snapshots(name), world.append(name)]
    raw = jvm.load(name).expireSnapshots().expireSnapshotId(first).apply()
    assert len(raw) > 1, "the raw call would also expire others by the age of the table's property"
    execute(world, name, request("h1", "expire_snapshots", snapshots=[first]))
    assert world.snapshots(name) == others


def test_h3_an_expiry_drops_a_staged_commit_and_a_tag_past_its_age(world: SparkWorld, jvm: IcebergJvm) -> None:
    raw, ours = world.table(), world.table()
    for name in (raw, ours):
        first, second = world.snapshots(name)
        short_tag(jvm, name, second)
        waiting = staged(jvm, name)
        world.append(name)
        if name is raw:
            expiry = jvm.load(name).expireSnapshots().expireSnapshotId(first)
            expiry.expireOlderThan(FAR_MS).retainLast(5).cleanExpiredFiles(False).commit()
            assert waiting not in world.snapshots(name)
            assert refs(world, name) == {"main"}
        else:
            execute(world, name, request("h3", "expire_snapshots", snapshots=[first]))
            assert {second, waiting} <= {*world.snapshots(name)}
            assert first not in world.snapshots(name)
            assert refs(world, name) == {"main", "short"}


def test_h3_even_with_an_age_in_1970_a_tag_past_its_age_is_dropped(world: SparkWorld, jvm: IcebergJvm) -> None:
    name = world.table()
    first, second = world.snapshots(name)
    short_tag(jvm, name, second)
    world.append(name)
    jvm.load(name).expireSnapshots().expireSnapshotId(first).expireOlderThan(0).cleanExpiredFiles(False).commit()
    assert refs(world, name) == {"main"}


def test_h4_a_branch_that_appears_before_the_commit_keeps_its_snapshot(world: SparkWorld) -> None:
    name = world.table()
    first = world.snapshots(name)[0]
    opened = world.maintainer.open(name)
    with world.load(name).manage_snapshots() as manage:
        manage.create_branch(first, "audit")
    with pytest.raises(ActionConflict, match="audit"):
        world.maintainer.run(opened, request("h4", "expire_snapshots", snapshots=[first]), ignore, never)
    assert first in world.snapshots(name)


def test_h5_an_expiry_beside_partial_progress_ends_as_success_with_half_done(
    world: SparkWorld, jvm: IcebergJvm
) -> None:
    raw, ours = world.table(), world.table()

    def expire(name: TableName) -> None:
        world.append(name)
        ids = world.snapshots(name)[:-1]
        jvm.load(name).expireSnapshots().expireSnapshotId(ids[0]).expireSnapshotId(ids[1]).expireOlderThan(0).commit()

    opened: Any = world.maintainer.open(raw)
    table = jvm.tools.gated(opened.handle.table, Once(lambda: expire(raw)))
    done = jvm.actions.rewriteDataFiles(table).options(ONE_BY_ONE).execute()
    assert (done.failedDataFilesCount(), done.rewrittenDataFilesCount()) == (0, 2), "of 4: reported as a success"
    written = {local(each) for each in world.live(raw)}
    assert [file for file in world.folder(raw).glob("data/region=*/*.parquet") if file not in written], "left behind"
    outcome = world.maintainer.run(
        world.maintainer.open(ours), request("h5", options=ONE_BY_ONE), on(OUTPUTS, lambda: expire(ours)), never
    )
    assert (len(outcome.snapshot_ids), outcome.left_behind) == (1, None), "one of two commits, files left: unknown"
    assert total(world, ours) == 5


class Once:
    """A gate that lets every commit pass and acts before the first one."""

    class Java:
        implements = ("java.util.function.Predicate",)

    def __init__(self, act: Any) -> None:
        self.act = act

    def test(self, _phase: str) -> bool:
        act, self.act = self.act, lambda: None
        act()
        return True


def test_h6_a_file_that_is_not_yet_committed_is_an_orphan_of_the_action(world: SparkWorld, jvm: IcebergJvm) -> None:
    name = world.table()
    written = world.stray(name, age_days=0)
    floor = now_ms() - 3 * 86_400_000
    asked = request("h6", "remove_orphan_files", files=[written], older_than_ms=floor)
    assert execute(world, name, asked).deleted_files == 0
    assert world.exists(written)
    raw_orphans(jvm, name, now_ms() + 60_000, deleting=True)
    assert not world.exists(written)


@pytest.mark.parametrize("inner", ["iceberg", "delta"])
def test_h7_the_files_of_a_nested_table_are_not_listed(world: SparkWorld, jvm: IcebergJvm, inner: str) -> None:
    name = world.table()
    nested = world.folder(name) / "nested"
    if inner == "iceberg":
        path = (world.namespace, f"nested_{name.table}")
        made = world.lake.catalog.create_table(path, world.load(name).schema(), location=f"file://{nested}")
        made.append(world.rows_of("a"))
        live = [task.file.file_path for task in made.refresh().scan().plan_files()]
        assert {local(each) for each in raw_orphans(jvm, name)} >= {local(each) for each in live}
    else:
        (nested / "_delta_log").mkdir(parents=True)
        (nested / "_delta_log" / "0.json").write_text("{}")
    with pytest.raises(MetadataError, match="another table"):
        world.maintainer.unreferenced(world.maintainer.open(name), FAR_MS)


def test_h7_an_expiry_spares_a_file_that_was_imported_from_another_table(world: SparkWorld, jvm: IcebergJvm) -> None:
    for expire in ("ours", "raw"):
        owner, guest = world.table(), world.table()
        file = jvm.load(owner).newScan().planFiles().iterator().next().file()
        jvm.load(guest).newAppend().appendFile(file).commit()
        for region in ("a", "b"):
            world.overwrite(guest, region)
        lost = [each for each in world.live(owner) if not world.exists(each)]
        assert lost == []
        if expire == "ours":
            ids = world.snapshots(guest)[:-1]
            done = execute(world, guest, request("h7e", "expire_snapshots", snapshots=ids))
            assert (done.left_behind, world.snapshots(guest)[:-1]) == ([file.location()], [])
            assert done.deleted_files
            assert all(map(world.exists, world.live(owner)))
        else:
            jvm.actions.expireSnapshots(jvm.load(guest)).expireOlderThan(FAR_MS).retainLast(1).execute()
            assert not world.exists(file.location()), "Iceberg's own expiry deleted a live file of the owner"


def test_h8_live_files_of_a_twin_are_unreferenced_files_of_the_first(world: SparkWorld) -> None:
    """Nothing in the table or below its location tells: only a comparison of all tables of the catalogs does."""
    name = world.table()
    twin = name._replace(table=f"twin_{name.table}")
    world.lake.catalog.register_table(world.path(twin), world.load(name).metadata_location)
    world.append(twin)
    opened, other = world.maintainer.open(name), world.maintainer.open(twin)
    assert (opened.table_uuid, opened.location) == (other.table_uuid, other.location)
    theirs = {*world.live(twin)} - {*world.live(name)}
    assert theirs < {file.location for file in world.maintainer.unreferenced(opened, FAR_MS)}


def test_h9_live_files_below_a_location_with_a_doubled_slash_are_referenced(world: SparkWorld, tmp_path: Path) -> None:
    """Hadoop writes `a/b` for `a//b`; the table's location keeps both slashes."""
    name = TableName.of(world.lake.name, [world.namespace], "odd")
    made = world.lake.catalog.create_table(world.path(name), SCHEMA, location=f"file://{tmp_path}//odd")
    made.append(world.rows_of("a"))
    world.spark.sql(f"INSERT INTO {world.sql(name)} VALUES (2, 'b')")
    assert {"//" in each.removeprefix("file://") for each in world.live(name)} == {True, False}
    assert world.maintainer.unreferenced(world.maintainer.open(name), FAR_MS) == []


def frame(jvm: IcebergJvm, *locations: str) -> DataFrame:
    return jvm.named(locations, 0).selectExpr("location", "kind", "1L AS size", "0L AS modified_at_ms")


@pytest.mark.parametrize(
    ("listed", "reached"),
    [
        ("file:/lake/t/data/a", "file:///lake/t/data/a"),
        ("/lake/t/data/a", "file:///lake/t/data/a"),
        ("s3://lake/t/a", "s3a://lake/t/a"),
        ("s3n://lake/t/a%20b=1", "s3://lake/t/a%20b=1"),
        ("file:///lake//t/data/a", "file:/lake/t/data/a"),
        ("hdfs://nn1/lake//t/data/a", "hdfs://nn1/lake/t/data/a"),
    ],
)
def test_h9_another_spelling_is_the_same_file(jvm: IcebergJvm, listed: str, reached: str) -> None:
    assert free_files(frame(jvm, listed), frame(jvm, reached)) == []


@pytest.mark.parametrize(
    ("listed", "reached"),
    [
        ("hdfs://nn2/lake/t/a", "hdfs://nn1/lake/t/a"),
        ("s3://lake/t/a", "gs://lake/t/a"),
        ("hdfs://nn1/lake/t/a", "/lake/t/a"),
    ],
)
def test_h9_a_live_file_under_another_authority_refuses_the_listing(jvm: IcebergJvm, listed: str, reached: str) -> None:
    with pytest.raises(MetadataError, match="scheme or authority"):
        free_files(frame(jvm, listed, "hdfs://nn2/lake/t/b"), frame(jvm, reached))


def test_h9_an_unreached_file_is_free(jvm: IcebergJvm) -> None:
    found = free_files(frame(jvm, "s3://lake/t/a", "s3://lake/t/b"), frame(jvm, "s3://lake/t/a", "s3://lake/t/a"))
    assert [file.location for file in found] == ["s3://lake/t/b"]


def test_h11_an_expiry_that_was_stopped_is_not_repeated_by_the_next(world: SparkWorld, jvm: IcebergJvm) -> None:
    name = world.table()
    old, ids = world.live(name), world.snapshots(name)
    execute(world, name, request("p"))
    opened = world.maintainer.open(name)
    asked = request("h11", "expire_snapshots", snapshots=ids)

    def stop(_name: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.maintainer.run(opened, asked, stop, never)
    jvm.actions.expireSnapshots(jvm.load(name)).expireOlderThan(FAR_MS).retainLast(1).execute()
    assert all(map(world.exists, old)), "the raw call deletes nothing: no snapshot names the files any more"
    world.maintainer.finish(world.maintainer.open(name), asked, opened.metadata_location)
    assert not any(map(world.exists, old))


def test_h11_the_kept_list_survives_a_partial_deletion_and_spares_what_came_back(world: SparkWorld) -> None:
    name = world.table()
    ids, old = world.snapshots(name), world.live(name)
    execute(world, name, request("p"))
    opened = world.maintainer.open(name)
    asked = request("h11b", "expire_snapshots", snapshots=ids)

    def stop(point: str) -> None:
        if point == "maintain.files-deleted":
            raise KeyboardInterrupt

    kept = world.state / "expired-h11b.json"
    with pytest.raises(KeyboardInterrupt):
        world.maintainer.run(opened, asked, stop, never)
    assert not kept.exists()
    assert not any(map(world.exists, old))
    live = world.live(name)
    gone = world.stray(name)
    kept.write_text(f'["{gone}", "{live[0]}", "{old[0]}"]')
    done = world.maintainer.finish(world.maintainer.open(name), asked, opened.metadata_location)
    assert done.deleted_files == 2
    assert not world.exists(gone)
    assert all(map(world.exists, live))
    local(opened.metadata_location).unlink()
    done = world.maintainer.finish(world.maintainer.open(name), asked, opened.metadata_location)
    assert (done.deleted_files, done.left_behind) == (0, None), "what it reached is not known any more"


def test_h12_a_file_that_was_removed_and_added_in_one_commit_is_live(world: SparkWorld, jvm: IcebergJvm) -> None:
    raw, ours = world.table(), world.table()
    for name in (raw, ours):
        table = jvm.load(name)
        task = table.newScan().planFiles().iterator().next()
        rewrite = table.newRewrite()
        rewrite.deleteFile(task.file())
        rewrite.addFile(task.file())
        rewrite.commit()
        ids = world.snapshots(name)[:-1]
        world.append(name)
        if name is raw:
            jvm.load(name).expireSnapshots().expireOlderThan(FAR_MS).retainLast(1).commit()
            lost = [each for each in world.live(name) if not world.exists(each)]
            assert lost, "the raw call deleted a live file"
        else:
            execute(world, name, request("h12", "expire_snapshots", snapshots=ids))
            assert all(map(world.exists, world.live(name)))


def test_a_table_that_forbids_the_deletion_of_files_keeps_them(world: SparkWorld) -> None:
    name = world.table()
    first, stray = world.snapshots(name)[0], world.stray(name)
    opened = world.maintainer.open(name)
    with world.load(name).transaction() as tx:
        tx.set_properties(**{"gc.enabled": "false"})
    with pytest.raises(SourceRejected, match=r"gc\.enabled"):
        execute(world, name, request("g", "expire_snapshots", snapshots=[first]))
    with pytest.raises(SourceRejected, match=r"gc\.enabled"):
        world.maintainer.run(opened, request("g", "expire_snapshots", snapshots=[first]), ignore, never)
    asked = request("g", "remove_orphan_files", files=[stray], older_than_ms=FAR_MS)
    for each in (opened, world.maintainer.open(name)):
        with pytest.raises(SourceRejected, match=r"gc\.enabled"):
            world.maintainer.run(each, asked, ignore, never)
    assert world.exists(stray)


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A file of someone else, old enough."""
    file = tmp_path / "precious.parquet"
    file.write_bytes(b"precious")
    os.utime(file, (1, 1))
    yield file
    assert file.exists()


def test_symbolic_links_and_parents_lead_nowhere(world: SparkWorld, outside: Path, jvm: IcebergJvm) -> None:
    name = world.table()
    data = world.folder(name) / "data"
    (data / "linked").symlink_to(outside.parent)
    (data / "link.parquet").symlink_to(outside)
    assert any(each.endswith("precious.parquet") for each in raw_orphans(jvm, name))
    found = world.maintainer.unreferenced(world.maintainer.open(name), FAR_MS)
    assert found == []
    files = [
        f"file://{data}/linked/precious.parquet",
        f"file://{data}/link.parquet",
        f"file://{data}/../../../{outside}",
        f"file://{outside}",
        str(outside),
    ]
    done = execute(world, name, request("l", "remove_orphan_files", files=files, older_than_ms=FAR_MS))
    assert done.deleted_files == 0


def test_the_catalogs_client_lists_what_the_walk_of_a_local_folder_lists(world: SparkWorld, jvm: IcebergJvm) -> None:
    name = world.table()
    beside = world.folder(name).with_name(f"{name.table}2")
    beside.mkdir()
    (beside / "x").write_bytes(b"x")
    root = f"file://{world.folder(name)}"
    walked = {(local(row.location), *row[1:]) for row in jvm.walk(world.folder(name), root).collect()}
    listed = {(local(row.location), *row[1:]) for row in jvm.listing(jvm.load(name).io(), f"{root}/").collect()}
    assert {row for row in walked if not row[0].name.endswith(".crc")} == listed
    assert len(listed) > 4


def test_hidden_files_belong_to_others_but_hidden_partitions_do_not(world: SparkWorld) -> None:
    name = world.table()
    data = world.folder(name) / "data"
    for place in ("_spark_metadata/x", ".tmp/x", "_x", "region=a/.x.crc", "region=a/y"):
        (data / place).parent.mkdir(parents=True, exist_ok=True)
        (data / place).write_bytes(b"x")
    found = world.maintainer.unreferenced(world.maintainer.open(name), FAR_MS)
    assert [file.location.rpartition("/data/")[2] for file in found] == ["region=a/y"]
