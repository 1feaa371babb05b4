"""Histories that tables really have, pass by pass: upgrades, gaps, publishes, branches, new tables under old names."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from lakes import FixedClock
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS, ChangeFact
from limnograph.domain.failpoints import FailpointReached
from limnograph.domain.ids import location_uuid
from limnograph.domain.metadata.due import DueTable
from limnograph.services.pipeline.backoff import BackOff
from memory_meta import LocalExtraction, MemoryMetaStore, local_passes, run_all
from metadata_writer import MetadataTable
from pointed_lake import PointedLake


class Observed:
    """A lake, a store, and a process that makes passes."""

    def __init__(self, folder: Path) -> None:
        self.lake = PointedLake(folder)
        self.store = MemoryMetaStore()
        self.passes = local_passes(self.lake, self.store)

    def table(self, name: str = "sales.orders", **how: Any) -> MetadataTable:
        return self.lake.written(name, **how)

    def see(self, table: MetadataTable | None = None, name: str = "sales.orders") -> int:
        """Point the name at the table's newest metadata and make passes; snapshots appended."""
        if table is not None:
            self.lake.point(name, table)
        return run_all(self.passes)

    def changes(self, kind: str, subject: str | None = None) -> list[ChangeFact]:
        found = sorted(self.store.changes(self.store.head(CHANGES)), key=lambda row: row.at)
        return [row for row in found if row.kind == kind and (subject is None or row.subject == subject)]

    def rows(self) -> dict[int, dict[str, Any]]:
        found = self.store.rows(SNAPSHOTS).to_pylist()
        assert len({(row["table_uuid"], row["snapshot_id"]) for row in found}) == len(found)
        return {row["snapshot_id"]: row for row in found}

    def series(self) -> set[str]:
        return {row["table_uuid"] for row in self.store.rows(SNAPSHOTS).to_pylist()}


@pytest.fixture
def world(tmp_path: Path) -> Observed:
    return Observed(tmp_path)


# Upgrades ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("watched", [True, False])
def test_upgrades_are_dated_by_metadata_files_whether_they_were_observed_or_not(world: Observed, watched: bool) -> None:
    table = world.table(version=1)
    table.append(table.file("eu"))
    when = []
    for version in (2, 3):
        if watched:
            world.see(table)
        table.upgrade(version)
        when.append(table.now_ms * 1000)
        table.append(table.file("eu"))
    world.see(table)
    found = world.changes("upgraded")
    assert [(r.subject, r.from_value, r.to_value) for r in found] == [
        ("format-version", "1", "2"),
        ("format-version", "2", "3"),
    ]
    assert [row.at for row in found] == when
    assert all((row.not_before or 0) <= row.at for row in found)
    assert world.see() == 0
    assert len(world.changes("upgraded")) == 2


def test_the_format_version_at_first_sight_is_not_an_upgrade(world: Observed) -> None:
    table = world.table(version=3)
    table.append(table.file("eu"))
    world.see(table)
    assert world.changes("upgraded") == []


def test_a_table_that_gets_a_uuid_keeps_its_series(world: Observed) -> None:
    table = world.table(version=1, table_uuid=None)
    table.append(table.file("eu"))
    world.see(table)
    table.upgrade(2, "c0ffee00-0000-4000-8000-000000000001")
    table.append(table.file("us"))
    assert world.see(table) == 1
    assert world.series() == {location_uuid(table.location)}
    assert {(r.subject, r.from_value, r.to_value) for r in world.changes("upgraded")} == {
        ("format-version", "1", "2"),
        ("uuid", None, table.table_uuid),
    }
    assert world.see() == 0
    assert len(world.changes("upgraded", "uuid")) == 1


def test_a_uuid_that_came_before_the_first_pass_is_dated_by_an_older_file(world: Observed) -> None:
    table = world.table(version=1, table_uuid=None)
    table.append(table.file("eu"))
    table.upgrade(2, "c0ffee00-0000-4000-8000-000000000001")
    at = table.now_ms * 1000
    table.append(table.file("us"))
    world.see(table)
    assert world.series() == {table.table_uuid}
    assert [(row.to_value, row.at) for row in world.changes("upgraded", "uuid")] == [(table.table_uuid, at)]


# Gaps ----------------------------------------------------------------------------------------------------------------


def test_a_gap_records_how_many_commits_were_missed_and_between_which(world: Observed) -> None:
    table = world.table()
    last = table.append(table.file("eu"))
    last_at = table.now_ms * 1000
    world.see(table)
    missed = [table.append(table.file("eu")) for _ in range(4)]
    kept = table.append(table.file("us"))
    new = table.append(table.file("us"))
    table.expire(*missed)
    assert world.see(table) == 2
    (gap,) = world.changes("gap")
    assert (gap.subject, gap.from_value, gap.to_value) == (str(missed[-1]), str(last), str(kept))
    assert (gap.not_before, gap.at) == (last_at, world_ms(table, kept))
    assert json.loads(gap.detail or "") == {
        "missed_snapshots": 4,
        "last_known": {"snapshot_id": str(last), "committed_at": last_at},
        "first_new": {"snapshot_id": str(kept), "committed_at": world_ms(table, kept)},
    }
    assert set(world.rows()) == {last, kept, new}
    assert local_passes(world.lake, world.store).run().tables_changed == 0


def world_ms(table: MetadataTable, snapshot_id: int) -> int:
    return int(table.snapshots[snapshot_id]["timestamp-ms"]) * 1000


def test_commits_of_branches_count_as_missed_once(world: Observed) -> None:
    table = world.table()
    base = table.append(table.file("eu"))
    table.set_ref("audit", base)
    world.see(table)
    lost = [table.append(table.file("eu"), branch=branch) for branch in ("main", "audit", "main", "audit")]
    table.append(table.file("eu"), branch="main")
    table.append(table.file("eu"), branch="audit")
    table.expire(*lost)
    world.see(table)
    counts = [json.loads(row.detail or "")["missed_snapshots"] for row in world.changes("gap")]
    assert (len(counts), sum(counts)) == (2, 4)


def test_version_1_has_no_sequence_numbers_so_the_count_of_a_gap_is_not_known(world: Observed) -> None:
    table = world.table(version=1)
    last = table.append(table.file("eu"))
    world.see(table)
    missed = table.append(table.file("eu"))
    table.append(table.file("eu"))
    table.expire(missed)
    world.see(table)
    (gap,) = world.changes("gap")
    assert (gap.from_value, json.loads(gap.detail or "")["missed_snapshots"]) == (str(last), None)


def test_a_pass_that_dies_after_its_rows_has_recorded_the_gap(world: Observed) -> None:
    table = world.table()
    table.append(table.file("eu"))
    world.see(table)
    missed = table.append(table.file("eu"))
    table.append(table.file("eu"))
    table.expire(missed)
    world.lake.point("sales.orders", table)
    dying = local_passes(
        world.lake, world.store, "after_append_snapshots:1:raise", clock=FixedClock(1_900_000_000_000_000)
    )
    with pytest.raises(FailpointReached):
        dying.run()
    world.see()
    assert len(world.changes("gap")) == 1


@pytest.mark.parametrize("lost", [1, 3])
def test_history_seen_at_first_sight_and_expired_before_it_was_read_is_a_gap(world: Observed, lost: int) -> None:
    table = world.table()
    ids = [table.append(table.file("eu")) for _ in range(5)]
    world.lake.point("sales.orders", table)
    with pytest.raises(FailpointReached):
        local_passes(world.lake, world.store, "before_append_snapshots:1:raise", clock=FixedClock(1_000_000)).run()
    table.expire(*ids[:lost])
    assert world.see(table) == 5 - lost
    (gap,) = world.changes("gap")
    assert (gap.subject, gap.from_value, gap.to_value) == (str(ids[lost - 1]), None, str(ids[lost]))
    assert json.loads(gap.detail or "")["missed_snapshots"] is None
    table.append(table.file("eu"))
    world.see(table)
    assert len(world.changes("gap")) == 1


def test_commits_expired_before_the_first_sight_or_after_they_were_seen_are_not_a_gap(world: Observed) -> None:
    table = world.table()
    before = [table.append(table.file("eu")) for _ in range(3)]
    table.append(table.file("eu"))
    table.expire(*before)
    world.see(table)
    seen = table.append(table.file("eu"))
    world.see(table)
    table.append(table.file("eu"))
    table.expire(*(i for i in list(table.snapshots) if i != table.head()))
    assert world.see(table) == 1
    assert world.changes("gap") == []
    assert seen in world.rows()


# Main, branches, publishes -------------------------------------------------------------------------------------------


def test_main_follows_its_log_and_branch_commits_are_never_mains(world: Observed) -> None:
    table = world.table()
    first = table.append(table.file("eu"))
    table.set_ref("audit", first)
    aside = table.append(table.file("us"), branch="audit")
    second = table.append(table.file("eu"))
    table.set_main(first)
    third = table.append(table.file("asia"))
    world.see(table)
    moves = [row.to_value for row in world.changes("ref", "main")]
    assert moves == [str(i) for i in (first, second, first, third)]
    assert {i: row["on_main"] for i, row in world.rows().items()} == {
        first: True,
        aside: False,
        second: False,
        third: True,
    }
    assert [(r.to_value, r.detail) for r in world.changes("ref", "audit")][-1] == (
        str(aside),
        '{"type":"branch","retention":{}}',
    )
    table.drop_ref("audit")
    world.see(table)
    assert world.changes("ref", "audit")[-1].to_value is None


def test_a_staged_commit_becomes_mains_when_it_is_published(world: Observed) -> None:
    table = world.table()
    first = table.append(table.file("eu"))
    quick = table.stage(table.file("us"), wap_id="w1")
    world.see(table)
    assert world.changes("ref", "main")[-1].to_value == str(first)
    assert world.rows()[quick]["on_main"] is False
    assert table.cherry_pick(quick) == quick
    assert world.see(table) == 0
    assert world.changes("ref", "main")[-1].to_value == str(quick)


def test_a_cherry_picked_commit_is_a_row_of_its_own_with_its_source(world: Observed) -> None:
    table = world.table()
    table.append(table.file("eu"))
    staged = table.stage(table.file("us", records=7), wap_id="w1")
    between = table.append(table.file("eu"))
    picked = table.cherry_pick(staged)
    world.see(table)
    rows = world.rows()
    assert (rows[picked]["parent_id"], rows[picked]["added_records"], rows[picked]["on_main"]) == (between, 7, True)
    said = dict(rows[picked]["summary"])
    assert (said["source-snapshot-id"], said["published-wap-id"]) == (str(staged), "w1")
    assert rows[staged]["on_main"] is False
    assert str(staged) not in {row.to_value for row in world.changes("ref", "main")}


# Names and series ----------------------------------------------------------------------------------------------------


def test_a_new_table_under_an_old_name_is_a_new_history(world: Observed) -> None:
    old = world.table()
    old.append(old.file("eu"))
    world.see(old)
    new = world.lake.written(list_it=False)
    new.append(new.file("us"))
    world.see(new)
    assert world.series() == {old.table_uuid, new.table_uuid}
    assert [row.table_uuid for row in world.changes("dropped", "lake.sales.orders")] == [old.table_uuid]
    assert [row.table_uuid for row in world.changes("named", "lake.sales.orders")] == [old.table_uuid, new.table_uuid]
    assert world.changes("gap") == []


def test_an_old_table_that_returns_under_its_name_continues_its_history(world: Observed) -> None:
    old = world.table()
    old.append(old.file("eu"))
    world.see(old)
    world.lake.drop("sales.orders")
    world.see()
    old.append(old.file("eu"))
    assert world.see(old) == 1
    assert world.series() == {old.table_uuid}
    kinds = [row.kind for row in sorted(world.store.changes(world.store.head(CHANGES)), key=lambda r: r.at)]
    assert [kind for kind in kinds if kind in {"named", "dropped"}] == ["named", "dropped", "named"]


def test_registered_twice_at_one_place_is_one_history_with_two_names(world: Observed) -> None:
    table = world.table()
    table.append(table.file("eu"))
    world.lake.point("sales.twin", table)
    table.append(table.file("eu"))
    world.see(table)
    table.append(table.file("eu"))
    world.see(table, "sales.twin")
    assert (world.series(), len(world.rows())) == ({table.table_uuid}, 3)
    assert {row.subject for row in world.changes("named")} == {"lake.sales.orders", "lake.sales.twin"}


def test_two_registrations_that_diverge_lose_no_snapshot(world: Observed) -> None:
    table = world.table()
    table.append(table.file("eu"))
    fork = deepcopy(table)
    fork.random.seed(99)
    theirs = fork.append(fork.file("us"))
    ours = table.append(table.file("eu"))
    table.append(table.file("eu"))
    world.lake.point("sales.twin", fork)
    world.see(table)
    assert ours in world.rows()
    for _ in range(3):
        newest = fork.append(fork.file("us"))
    world.see(fork, "sales.twin")
    assert {theirs, newest} <= world.rows().keys()


@pytest.mark.parametrize("original_readable", [True, False])
def test_a_copy_is_distinguished_from_its_original_although_only_the_copy_is_new(
    world: Observed, original_readable: bool
) -> None:
    table = world.table()
    table.append(table.file("eu"))
    world.see(table)
    world.see()
    copy = MetadataTable(table.folder.parent / "copy", table_uuid=table.table_uuid, seed=77)
    theirs = copy.append(copy.file("us"))
    if not original_readable:
        world.lake.point("sales.orders", table.metadata_location.replace(".metadata", ".gone"))
        world.see()
    world.see(copy, "sales.copy")
    assert world.rows()[theirs]["table_uuid"].startswith(f"{table.table_uuid}@")
    world.lake.drop("sales.orders")
    more = copy.append(copy.file("us"))
    world.see(copy, "sales.copy")
    assert world.rows()[more]["table_uuid"] == world.rows()[theirs]["table_uuid"]


def test_a_table_that_moves_keeps_its_series(world: Observed) -> None:
    table = world.table()
    table.append(table.file("eu"))
    world.see(table)
    moved = MetadataTable(table.folder.parent / "moved", table_uuid=table.table_uuid, seed=77)
    moved.append(moved.file("us"))
    world.see(moved)
    assert world.series() == {table.table_uuid}


def test_a_table_without_uuid_keeps_its_series_when_its_location_moves_under_its_name(world: Observed) -> None:
    table = world.table(version=1, table_uuid=None)
    table.append(table.file("eu"))
    world.see(table)
    series = world.series()
    table.location = f"file://{table.folder}/../{table.folder.name}"
    table.append(table.file("eu"))
    world.see(table)
    assert (world.series(), len(world.rows())) == (series, 2)


def test_another_table_without_uuid_at_another_place_under_the_name_is_another_history(world: Observed) -> None:
    old = world.table(version=1, table_uuid=None)
    old.append(old.file("eu"))
    world.see(old)
    new = world.lake.written(version=1, table_uuid=None, list_it=False)
    new.append(new.file("us"))
    world.see(new)
    assert world.series() == {location_uuid(old.location), location_uuid(new.location)}


def test_a_table_with_a_uuid_at_the_place_of_one_without_is_another_history(world: Observed) -> None:
    old = world.table(version=1, table_uuid=None)
    old.append(old.file("eu"))
    world.see(old)
    new = MetadataTable(old.folder, version=2, seed=99)
    new.append(new.file("us"))
    world.see(new)
    assert world.series() == {location_uuid(old.location), new.table_uuid}
    assert world.changes("upgraded", "uuid") == []


# Tables that cannot be read now --------------------------------------------------------------------------------------


class Moody:
    """Extraction that fails for the tables it is told to, and counts how often each is asked for."""

    def __init__(self) -> None:
        self.real, self.down, self.asked = LocalExtraction(), set[str](), list[str]()

    def run(self, due: list[DueTable]) -> Any:
        self.asked += [table.table for table in due]
        return self.real.run([table for table in due if table.table not in self.down])


def test_a_failing_table_is_retried_with_exponential_back_off_and_the_others_continue(tmp_path: Path) -> None:
    world = Observed(tmp_path)
    clock, moody = FixedClock(), Moody()
    patience = BackOff(first_s=60, cap_s=300)
    passes = local_passes(world.lake, world.store, clock=clock, extraction=moody, backoff=patience)
    bad, good = world.table("sales.bad"), world.table("sales.good")
    bad.append(bad.file("eu"))
    world.lake.point("sales.bad", bad)
    moody.down.add("bad")
    tries = []
    for minute in range(22):
        good.append(good.file("eu"))
        world.lake.point("sales.good", good)
        report = passes.run()
        assert report.snapshots_appended == 1
        assert report.pending
        assert report.failed == ("lake.sales.bad: 1 of 1 snapshots could not be read",)
        assert report.waiting == (0 if "bad" in moody.asked else 1)
        tries += [minute] * ("bad" in moody.asked)
        moody.asked.clear()
        clock.micros += 60_000_000
    assert tries == [0, 1, 3, 7, 12, 17]
    moody.down.clear()
    clock.micros += 300_000_000
    report = passes.run()
    assert (report.snapshots_appended, report.failed, report.pending) == (1, (), False)


def test_a_failing_table_does_not_make_every_pass_read_the_others_again(world: Observed) -> None:
    good = world.table("sales.good")
    good.append(good.file("eu"))
    world.lake.point("sales.good", good)
    bad = world.table("sales.bad")
    bad.append(bad.file("eu"))
    world.lake.point("sales.bad", bad)
    moody, said = Moody(), list[str]()
    moody.down.add("bad")
    passes = local_passes(world.lake, world.store, extraction=moody, progress=said.append)
    for _ in range(4):
        passes.run()
    assert said[-2:] == ["2 tables listed, 1 to check", "1 new snapshots in 1 tables"]
