"""What every TableMaintainer promises: an action does what its request names, on the state that was opened."""

from __future__ import annotations

import pytest

from limnograph.domain.errors import ActionCancelled, ActionConflict, InvalidInput, LimnographError, NotFound
from limnograph.domain.ids import normalise_location
from limnograph.ports.table_maintainer import ActionRequest
from maintained_tables import (
    ONE_BY_ONE,
    MaintainedWorld,
    MemoryWorld,
    SparkWorld,
    execute,
    ignore,
    never,
    now_ms,
    on,
    region,
    request,
    total,
)

OUTPUTS, COMMITTED, DELETED = "maintain.outputs-written", "maintain.committed", "maintain.files-deleted"


@pytest.fixture(scope="module", params=["memory", pytest.param("spark", marks=pytest.mark.spark)])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> MaintainedWorld:
    if request.param == "memory":
        return MemoryWorld()
    spark, lake = request.getfixturevalue("spark"), request.getfixturevalue("shared_lake")
    return SparkWorld(spark, lake, tmp_path_factory.mktemp("maintain-state"))


def test_an_open_table_is_pinned_at_its_metadata_file(world: MaintainedWorld) -> None:
    name = world.table()
    opened = world.maintainer.open(name)
    assert opened.name == name
    assert opened.head_id == world.snapshots(name)[-1]
    assert normalise_location(opened.metadata_location).startswith(normalise_location(opened.location))
    world.append(name)
    assert world.maintainer.stamped(opened, "p") == []
    assert world.maintainer.open(name).metadata_location != opened.metadata_location
    assert world.maintainer.open(name).table_uuid == opened.table_uuid


def test_an_unknown_table_is_not_found(world: MaintainedWorld) -> None:
    known = world.table()
    for unknown in ("absent", "files"):
        with pytest.raises(NotFound):
            world.maintainer.open(known._replace(table=unknown))


def test_a_rewrite_of_a_partition_stamps_its_commit_and_keeps_rows_and_other_files(world: MaintainedWorld) -> None:
    name = world.table()
    before, points = world.live(name), []
    opened = world.maintainer.open(name)
    asked = request("p1", where=world.condition("a"), partitions=[region("a")])
    done = world.maintainer.run(opened, asked, points.append, never)
    assert (done.files_in, done.files_out) == (2, 1)
    assert points == [OUTPUTS, COMMITTED]
    after = world.maintainer.open(name)
    assert world.maintainer.stamped(after, "p1") == [*done.snapshot_ids] == [after.head_id]
    assert world.maintainer.stamped(after, "p2") == []
    assert len({*before} & {*world.live(name)}) == 2
    assert total(world, name) == 4
    assert world.maintainer.rows(after, done.snapshot_ids[0], world.condition("b")) == 2


def test_partial_progress_commits_each_group_with_the_stamp(world: MaintainedWorld) -> None:
    name, points = world.table(), []
    opened = world.maintainer.open(name)
    done = world.maintainer.run(opened, request("pp", options=ONE_BY_ONE), points.append, never)
    assert sorted(points) == [COMMITTED, COMMITTED, OUTPUTS, OUTPUTS]
    assert len(done.snapshot_ids) == 2
    assert (done.files_in, done.files_out) == (4, 2)


def test_a_rewrite_of_manifests_stamps_its_commit(world: MaintainedWorld) -> None:
    name = world.table()
    done = execute(world, name, request("m", "rewrite_manifests", spec_id=0))
    assert world.maintainer.stamped(world.maintainer.open(name), "m") == [*done.snapshot_ids]
    assert len(done.snapshot_ids) == 1
    assert total(world, name) == 4


def test_an_append_between_planning_and_commit_is_kept(world: MaintainedWorld) -> None:
    name = world.table()
    opened = world.maintainer.open(name)
    world.append(name)
    done = world.maintainer.run(opened, request("p"), on(OUTPUTS, lambda: world.append(name)), never)
    assert (done.files_in, done.files_out) == (4, 2), "what was appended after the table was opened is not rewritten"
    assert total(world, name) == 6
    assert len(world.live(name)) == 4


@pytest.mark.parametrize("rival", ["overwrite", "delete_row"])
def test_a_rival_that_changes_the_files_first_wins(world: MaintainedWorld, rival: str) -> None:
    name = world.table(merge_on_read=True)
    opened, act = world.maintainer.open(name), getattr(world, rival)
    with pytest.raises(ActionConflict):
        world.maintainer.run(opened, request("p"), on(OUTPUTS, lambda: act(name)), never)
    assert world.maintainer.stamped(world.maintainer.open(name), "p") == []
    assert total(world, name) == 3


def test_with_partial_progress_the_commits_of_other_partitions_stand(world: MaintainedWorld) -> None:
    name = world.table()
    opened = world.maintainer.open(name)
    done = world.maintainer.run(
        opened, request("p", options=ONE_BY_ONE), on(OUTPUTS, lambda: world.overwrite(name, "b")), never
    )
    assert len(done.snapshot_ids) == 1, "the table's stamps are believed, not the engine's result"
    assert total(world, name) == 3


def test_a_cancelled_action_commits_nothing_more(world: MaintainedWorld) -> None:
    name, cancelled = world.table(), []
    opened = world.maintainer.open(name)
    before = world.snapshots(name)
    with pytest.raises(ActionCancelled):
        world.maintainer.run(opened, request("p"), on(OUTPUTS, lambda: cancelled.append(1)), lambda: bool(cancelled))
    assert world.snapshots(name) == before
    assert total(world, name) == 4
    with pytest.raises(ActionCancelled):
        world.maintainer.run(opened, request("p"), ignore, lambda: True)
    assert world.snapshots(name) == before


def test_expiry_removes_exactly_the_named_snapshots_and_what_only_they_reach(world: MaintainedWorld) -> None:
    name = world.table()
    first, second = world.snapshots(name)
    old = world.live(name)
    execute(world, name, request("p"))
    third = world.append(name)
    points: list[str] = []
    opened = world.maintainer.open(name)
    world.maintainer.run(opened, request("e", "expire_snapshots", snapshots=[second]), points.append, never)
    assert points == [COMMITTED, DELETED]
    assert second not in world.snapshots(name)
    assert {first, third} <= {*world.snapshots(name)}
    kept = [file for file in old if world.exists(file)]
    assert len(kept) == 2, "the first snapshot still reaches its files"
    assert all(map(world.exists, world.live(name)))
    done = execute(world, name, request("e2", "expire_snapshots", snapshots=[first]))
    assert not any(map(world.exists, old))
    assert [*(done.left_behind or ())] == []
    assert total(world, name) == 5


def test_a_referenced_snapshot_is_not_expired(world: MaintainedWorld) -> None:
    name = world.table()
    first, second = world.snapshots(name)
    opened = world.maintainer.open(name)
    world.tag(name, "audit", first)
    for ids in ([first], [second]):
        with pytest.raises(ActionConflict):
            world.maintainer.run(opened, request("e", "expire_snapshots", snapshots=ids), ignore, never)
    assert world.snapshots(name) == [first, second]


def test_an_interrupted_expiry_is_finished(world: MaintainedWorld) -> None:
    name = world.table()
    old = world.live(name)
    execute(world, name, request("p"))
    opened = world.maintainer.open(name)
    asked = request("e", "expire_snapshots", snapshots=world.snapshots(name)[:2])

    def stop(_point: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.maintainer.run(opened, asked, stop, never)
    assert len(world.snapshots(name)) == 1
    assert all(map(world.exists, old)), "nothing was deleted yet"
    again = world.maintainer.open(name)
    done = world.maintainer.finish(again, asked, opened.metadata_location)
    assert done.deleted_files is not None
    assert done.deleted_files >= 4
    assert not any(map(world.exists, old))
    assert world.maintainer.finish(again, asked, opened.metadata_location).deleted_files == 0
    assert all(map(world.exists, world.live(name)))


def test_unreferenced_files_are_listed_by_age_and_only_the_named_ones_are_removed(world: MaintainedWorld) -> None:
    name = world.table()
    old, young, kept = world.stray(name), world.stray(name, age_days=0), world.stray(name)
    opened = world.maintainer.open(name)
    floor = now_ms() - 7 * 86_400_000
    found = world.maintainer.unreferenced(opened, floor)
    assert {file.location for file in found} == {old, kept}
    assert all(file.size > 0 and file.modified_at_ms < floor for file in found)
    live = world.live(name)
    asked = request("o", "remove_orphan_files", files=[old, young, live[0]], older_than_ms=floor)
    done = world.maintainer.run(opened, asked, ignore, never)
    assert done.deleted_files == 1
    assert {*(done.left_behind or ())} == {young, live[0]}
    assert not world.exists(old)
    assert all(map(world.exists, [young, kept, *live]))


def test_an_unknown_action_is_refused(world: MaintainedWorld) -> None:
    opened = world.maintainer.open(world.table())
    with pytest.raises(InvalidInput):
        world.maintainer.run(opened, ActionRequest("p", "drop_table"), ignore, never)


def test_rows_of_a_snapshot_that_is_gone_are_an_error(world: MaintainedWorld) -> None:
    with pytest.raises(LimnographError):
        world.maintainer.rows(world.maintainer.open(world.table()), 42)
