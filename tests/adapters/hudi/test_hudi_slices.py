"""File slices from instant to instant, in both layouts: what each kind of write leaves live, adds and removes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from hudi_timeline import HudiFolder, Stat
from limnograph.adapters.hudi.kept import WeightedCache
from limnograph.adapters.hudi.locate import newest_instant
from limnograph.adapters.hudi.reader import FILE_GROUPS, HudiReader
from limnograph.adapters.hudi.replay import CarriedStates
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.metadata.content import Content, Reading, Want
from limnograph.domain.metadata.table import TableMetadata

VERSIONS = pytest.mark.parametrize("version", [6, 8, 9])
EU, US = "region=eu", "region=us"


def read(folder: HudiFolder, want: Want = Want()) -> tuple[TableMetadata, list[Reading]]:  # noqa: B008 - immutable
    reader = HudiReader(FileStorage(), WeightedCache())
    table = reader.metadata(newest_instant(folder.location, FileStorage()))
    return table, [reader.read(table, snapshot, want) for snapshot in table.ordered]


def contents(folder: HudiFolder) -> list[Content]:
    _, readings = read(folder)
    assert {code for reading in readings for code in (*reading.problems, *reading.notes)} == set()
    return [reading.content for reading in readings if reading.content]


def live(content: Content) -> tuple[int | None, ...]:
    """Data files, bytes, rows, log files, their bytes."""
    t = content.totals
    return t.data_files, t.bytes, t.records, t.delete_files, t.delete_bytes


def moved(content: Content) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
    """Added and removed: data files, rows, bytes, log files."""
    c = content.changed
    return (
        (c.added_data_files, c.added_records, c.added_bytes, c.added_delete_files),
        (c.removed_data_files, c.removed_records, c.removed_bytes, c.removed_delete_files),
    )


@VERSIONS
def test_an_update_of_a_base_file_replaces_it_in_its_slice(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    first = folder.commit(Stat("a", 1000, 10), Stat("b", 500, 5, US), operation="INSERT")
    folder.commit(Stat("a", 1200, 12, prev=first, updates=3))
    before, after = contents(folder)
    assert live(before) == (2, 1500, 15, 0, 0)
    assert live(after) == (2, 1700, 17, 0, 0)
    assert moved(after) == ((1, 12, 1200, 0), (1, 10, 1000, 0))
    assert after.changed.partitions == 1


@VERSIONS
def test_operations_have_icebergs_names_and_keep_hudis_own(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    first = folder.commit(Stat("a", 10, 1), operation="BULK_INSERT")
    folder.commit(Stat("a", 11, 1, prev=first), operation="UPSERT")
    folder.commit(Stat("b", 11, 1), operation="UPSERT", **{"spark.app.id": "app-1", "huge": "x" * 5000})
    folder.commit(Stat("b", 9, 0, prev=first), operation="DELETE")
    folder.commit(Stat("c", 20, 2), action="replacecommit", operation="CLUSTER", replaced=[(EU, "a"), (EU, "b")])
    folder.commit(Stat("d", 5, 1), action="replacecommit", operation="INSERT_OVERWRITE", replaced=[(EU, "c")])
    folder.commit(action="replacecommit", operation="DELETE_PARTITION", replaced=[(EU, "d")])
    folder.commit(operation="ALTER_SCHEMA")
    table, _ = read(folder)
    words = [s.operation for s in table.ordered]
    assert words == ["append", "overwrite", "append", "delete", "replace", "overwrite", "delete", "replace"]
    third = table.ordered[2].summary or {}
    assert third["hudi.operation"] == "UPSERT"
    assert third["hudi.extraMetadata.spark.app.id"] == "app-1"
    assert "hudi.extraMetadata.huge" not in third
    assert "hudi.extraMetadata.schema" not in third


@VERSIONS
def test_logs_accumulate_on_a_slice_until_compaction_merges_them(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    base = folder.commit(Stat("a", 1000, 10), action="deltacommit")
    of = base if version < 8 else None
    for number in (1, 2):
        folder.commit(Stat("a", 70, 2, log=True, of=of, version=number, prev=base, updates=2), action="deltacommit")
    folder.commit(Stat("a", 1010, 10, prev=base), action="commit", operation="COMPACT")
    _, one, two, compacted = contents(folder)
    assert live(one) == (1, 1000, 10, 1, 70)
    assert live(two) == (1, 1000, 10, 2, 140)
    assert moved(two) == ((0, 0, 0, 1), (0, 0, 0, 0))
    assert two.totals.equality_deletes is None
    assert live(compacted) == (1, 1010, 10, 0, 0)
    assert moved(compacted) == ((1, 10, 1010, 0), (1, 10, 1000, 2))


@VERSIONS
def test_logs_written_while_a_compaction_is_pending_stay_when_it_ends(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    base = folder.commit(Stat("a", 1000, 10), action="deltacommit")
    of = base if version < 8 else None
    folder.commit(Stat("a", 70, 2, log=True, of=of, prev=base), action="deltacommit")
    compaction = folder.tick()
    (folder.timeline / f"{compaction}.compaction.requested").touch()
    of = compaction if version < 8 else None
    folder.commit(Stat("a", 30, 1, log=True, of=of, prev=compaction), action="deltacommit")
    assert live(contents(folder)[-1]) == (1, 1000, 10, 2, 100)
    folder.commit(Stat("a", 1005, 10, prev=base), operation="COMPACT", instant=compaction)
    table, readings = read(folder)
    done = next(
        r.content
        for s, r in zip(table.ordered, readings, strict=True)
        if s.snapshot_id == int(compaction) and r.content
    )
    assert done.totals.data_files == 1
    last = readings[-1].content
    assert last
    assert live(last) == (1, 1005, 10, 1, 30)


def test_in_layout_2_a_write_that_completed_after_the_compaction_was_requested_belongs_to_its_slice(
    tmp_path: Path,
) -> None:
    """Non-blocking writers: the delta commit was requested before the compaction and completed while it ran."""
    folder = HudiFolder(tmp_path / "t", 8, mor=True)
    base = folder.commit(Stat("a", 1000, 10), action="deltacommit")
    slow, compaction = folder.tick(), folder.tick()
    folder.commit(Stat("a", 40, 1, log=True), action="deltacommit", instant=slow)
    folder.commit(Stat("a", 1001, 10, prev=base), operation="COMPACT", instant=compaction)
    assert live(contents(folder)[-1]) == (1, 1001, 10, 1, 40)


def test_layout_2_is_ordered_by_completion_and_layout_1_by_instant(tmp_path: Path) -> None:
    for version in (6, 8):
        folder = HudiFolder(tmp_path / f"v{version}", version)
        slow, fast = folder.tick(), folder.tick()
        folder.commit(Stat("b", 10, 1), instant=fast)
        folder.commit(Stat("a", 10, 1), instant=slow)
        table, _ = read(folder)
        expected = [int(slow), int(fast)] if version == 6 else [int(fast), int(slow)]
        assert [s.snapshot_id for s in table.ordered] == expected
        assert [s.parent_id for s in table.ordered] == [None, expected[0]]
        assert table.head_id == expected[1]
        assert [entry.value for entry in table.snapshot_log] == expected


@VERSIONS
def test_clustering_replaces_groups_and_keeps_the_rows(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    base = folder.commit(Stat("a", 100, 10), Stat("b", 100, 10), Stat("c", 50, 5, US), action="deltacommit")
    of = base if version < 8 else None
    folder.commit(Stat("a", 7, 1, log=True, of=of, prev=base), action="deltacommit")
    folder.commit(Stat("n", 190, 20), action="replacecommit", operation="CLUSTER", replaced=[(EU, "a"), (EU, "b")])
    *_, last = contents(folder)
    assert live(last) == (2, 240, 25, 0, 0)
    assert moved(last) == ((1, 20, 190, 0), (2, 20, 200, 1))


@VERSIONS
def test_a_deleted_partition_is_listed_as_empty(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    folder.commit(Stat("a", 100, 10), Stat("c", 50, 5, US))
    folder.commit(action="replacecommit", operation="DELETE_PARTITION", replaced=[(US, "c")])
    _, readings = read(folder, Want(changed_only=True))
    content = readings[-1].content
    assert content
    assert content.partitions
    assert (content.partitions.scope, content.partitions.total) == ("changed", 1)
    ((key, state),) = content.partitions.states.items()
    assert key == (0, US)
    assert (state.data_files, state.records, state.bytes, state.removed_data_files) == (0, 0, 0, 1)


@VERSIONS
def test_a_rolled_back_instant_leaves_no_snapshot_and_main_moves_back(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    first = folder.commit(Stat("a", 100, 10))
    second = folder.commit(Stat("a", 101, 10, prev=first))
    folder.rollback(second)
    table, readings = read(folder)
    assert list(table.snapshots) == [int(first)] == [table.head_id]
    assert [entry.value for entry in table.snapshot_log] == [int(first), int(first)]
    assert table.snapshot_log[1].timestamp_ms > table.snapshot_log[0].timestamp_ms
    assert newest_instant(folder.location, FileStorage()).endswith(".rollback")
    assert readings[0].content
    assert live(readings[0].content) == (1, 100, 10, 0, 0)


def test_below_version_8_the_logs_of_a_rollback_stay_in_their_slice(tmp_path: Path) -> None:
    folder = HudiFolder(tmp_path / "t", 6, mor=True)
    base = folder.commit(Stat("a", 1000, 10), action="deltacommit")
    failed = folder.tick()
    folder.request(failed, "deltacommit")
    folder.rollback(failed, [(EU, f".a-0_{base}.log.1_0-9-9", 25), (EU, f".a-0_{base}.log.2_0-9-9", 5)])
    folder.commit(Stat("a", 70, 2, log=True, of=base, version=3, prev=base), action="deltacommit")
    before, after = contents(folder)
    assert live(before) == (1, 1000, 10, 0, 0)
    assert live(after) == (1, 1000, 10, 3, 100)
    assert moved(after) == ((0, 0, 0, 1), (0, 0, 0, 0))


@VERSIONS
def test_a_restore_removes_everything_after_its_savepoint(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    base = folder.commit(Stat("a", 1000, 10), action="deltacommit")
    folder.complete(base, "savepoint", b"")
    folder.commit(Stat("b", 100, 1), action="deltacommit")
    folder.commit(Stat("a", 1001, 10, prev=base), operation="COMPACT")
    folder.restore(base, [("region=eu", f".a-0_{base}.log.1_0-9-9", 25)] if version < 8 else [])
    table, _ = read(folder)
    assert list(table.snapshots) == [int(base)]
    assert [entry.value for entry in table.snapshot_log] == [int(base), int(base)]
    folder.commit(Stat("c", 10, 1), action="deltacommit")
    assert live(contents(folder)[-1]) == ((2, 1010, 11, 1, 25) if version < 8 else (2, 1010, 11, 0, 0))


@VERSIONS
def test_a_write_that_never_completed_is_not_counted(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    folder.commit(Stat("a", 100, 10))
    failed = folder.tick()
    folder.request(failed)
    folder.place(EU, folder.name(failed, Stat("z", 77)), 77)
    folder.commit(Stat("b", 100, 10))
    table, readings = read(folder)
    assert int(failed) not in table.snapshots
    assert readings[-1].content
    assert live(readings[-1].content) == (2, 200, 20, 0, 0)


@VERSIONS
def test_groups_of_logs_alone_have_no_data_file(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    at = folder.tick()
    folder.commit(Stat("a", 60, 6, log=True), action="deltacommit", instant=at)
    folder.commit(Stat("a", 20, 2, log=True, of=at if version < 8 else None, version=2), action="deltacommit")
    folder.commit(Stat("a", 300, 8), action="commit", operation="COMPACT")
    _, readings = read(folder)
    first, second, compacted = (reading.content for reading in readings)
    assert first
    assert second
    assert compacted
    assert live(first) == (0, 0, 0, 1, 60)
    assert live(second) == (0, 0, 0, 2, 80)
    assert live(compacted) == (1, 300, 8, 0, 0)
    assert [reading.said[FILE_GROUPS] for reading in readings] == ["1", "1", "1"]


@VERSIONS
def test_logs_of_changed_data_are_not_part_of_the_content(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    base = folder.commit(Stat("a", 1000, 10), action="deltacommit")
    of = base if version < 8 else None
    folder.commit(
        Stat("a", 70, 2, log=True, of=of, prev=base),
        Stat("a", 90, 2, log=True, of=of, prev=base, version=2, suffix=".cdc"),
        action="deltacommit",
    )
    assert live(contents(folder)[-1]) == (1, 1000, 10, 1, 70)


def test_a_log_with_appended_blocks_grows_and_is_one_file(tmp_path: Path) -> None:
    folder = HudiFolder(tmp_path / "t", 6, mor=True)
    base = folder.commit(Stat("a", 1000, 10), action="deltacommit")
    folder.commit(Stat("a", 70, 2, log=True, of=base, prev=base, offset=0), action="deltacommit")
    folder.commit(Stat("a", 60, 2, log=True, of=base, prev=base, offset=70), action="deltacommit")
    *_, last = contents(folder)
    assert live(last) == (1, 1000, 10, 1, 130)
    assert moved(last)[0] == (0, 0, 0, 0)
    assert last.changed.partitions == 1


@VERSIONS
def test_small_files_debt_and_histogram_follow_hudis_own_sizes(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, **{"hoodie.parquet.small.file.limit": "1000"})
    folder.commit(Stat("a", 900, 1), Stat("b", 999, 1), Stat("c", 1000, 1), Stat("d", 9000, 1, US))
    (content,) = contents(folder)
    assert content.totals.small_files == 2
    assert content.histogram
    assert (content.histogram[0], content.histogram[1], sum(content.histogram)) == (3, 1, 4)
    assert content.shape
    assert (content.shape.debt_files, content.shape.debt_bytes) == (2, 1899)
    assert content.shape.skew_max_over_median
    assert content.shape.partition_files_max


@VERSIONS
def test_a_new_partition_is_compared_with_the_days_before_it(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    today = folder.clock.date()
    days = [f"region={today - timedelta(days=n)}" for n in range(9)]
    new = [Stat(f"n{n}", 1_000, 1, days[0]) for n in range(3)]
    folder.commit(*(Stat(f"d{n}", 1_000, 1, day) for n, day in enumerate(days)), *new)
    (content,) = contents(folder)
    assert content.shape
    assert (content.shape.hot_partition, content.shape.hot_partition_ratio) == (days[0], 4.0)


@VERSIONS
def test_a_state_carried_forward_equals_a_fresh_read(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    kept, carried = WeightedCache(), CarriedStates()
    base = folder.commit(Stat("a", 1000, 10), action="deltacommit")
    newest = base
    for number in range(1, 9):
        of = base if version < 8 else None
        if number == 3:
            folder.rollback(newest, [("region=eu", f".a-0_{base}.log.9_0-9-9", 5)] if of else [])
        elif number == 5:
            base = folder.commit(Stat("a", 1001, 10, prev=base), operation="COMPACT")
        elif number == 7:
            folder.archive(1)
        else:
            newest = folder.commit(Stat("a", 10, 1, log=True, of=of, version=number, prev=base), action="deltacommit")
        look = HudiReader(FileStorage(), kept, carried)
        table = look.metadata(newest_instant(folder.location, FileStorage()))
        fresh = HudiReader(FileStorage(), WeightedCache(), CarriedStates())
        head = table.ordered[-1]
        assert look.read(table, head, Want()) == fresh.read(table, head, Want()), number


@VERSIONS
def test_states_do_not_depend_on_the_order_of_queries_or_on_the_cache(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    base = folder.commit(Stat("a", 1000, 10), action="deltacommit")
    for number in range(1, 5):
        folder.commit(
            Stat("a", 10 * number, 1, log=True, of=base if version < 8 else None, version=number, prev=base),
            Stat(f"n{number}", 100, 1, US),
            action="deltacommit",
        )
    table, forward = read(folder)
    kept = WeightedCache(budget=1)
    for position in (4, 0, 3, 3, 1, 4, 2):
        reader = HudiReader(FileStorage(), kept)
        assert reader.read(table, table.ordered[position], Want()) == forward[position]
    reader = HudiReader(FileStorage(), kept)
    assert [reader.read(table, s, Want()) for s in reversed(table.ordered)] == forward[::-1]
