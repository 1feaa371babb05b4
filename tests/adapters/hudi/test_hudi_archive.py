"""Tables with archived commits: replayed from the archive, else from the folder and what later commits say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_timeline import HudiFolder, Stat
from limnograph.adapters.hudi.kept import WeightedCache
from limnograph.adapters.hudi.locate import newest_instant
from limnograph.adapters.hudi.reader import HudiReader
from limnograph.adapters.hudi.replay import CarriedStates
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.metadata.content import Reading, Want
from limnograph.domain.metadata.table import TableMetadata
from limnograph.ports.storage import ListedFile

VERSIONS = pytest.mark.parametrize("version", [6, 8])
EU, US = "region=eu", "region=us"


def read(folder: HudiFolder) -> tuple[TableMetadata, dict[int, Reading]]:
    reader = HudiReader(FileStorage(), WeightedCache())
    table = reader.metadata(newest_instant(folder.location, FileStorage()))
    return table, {s.snapshot_id: reader.read(table, s, Want()) for s in table.ordered}


def totals(reading: Reading) -> tuple[int | None, ...]:
    assert reading.content
    t = reading.content.totals
    return t.data_files, t.bytes, t.records, t.delete_files, t.delete_bytes


def history(folder: HudiFolder) -> list[str]:
    """Six commits: inserts, an update, logs, a compaction, a replacement, logs again."""
    of = folder.layout == 1
    i = [folder.commit(Stat("a", 1000, 10), Stat("b", 500, 5, US), action="deltacommit")]
    i.append(folder.commit(Stat("a", 1100, 11, prev=i[0], updates=1), action="deltacommit"))
    i.append(
        folder.commit(Stat("a", 60, 2, log=True, of=i[1] if of else None, prev=i[1], updates=2), action="deltacommit")
    )
    i.append(folder.commit(Stat("a", 1101, 11, prev=i[1], updates=2), operation="COMPACT"))
    i.append(folder.commit(Stat("n", 400, 5, US), action="replacecommit", operation="CLUSTER", replaced=[(US, "b")]))
    i.append(
        folder.commit(Stat("a", 70, 2, log=True, of=i[3] if of else None, prev=i[3], updates=2), action="deltacommit")
    )
    return i


def clean(folder: HudiFolder, *instants: str) -> None:
    """Take away the base files of older slices, as the cleaner does."""
    for instant in instants:
        for file in folder.root.glob(f"region=*/*_{instant}.parquet"):
            file.unlink()


@VERSIONS
def test_archiving_changes_no_number_of_the_remaining_commits(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    instants = history(folder)
    _, before = read(folder)
    for archived in range(1, 6):
        folder.archive(1)
        table, after = read(folder)
        kept = instants[archived:]
        assert list(after) == [int(instant) for instant in kept]
        assert after == {int(instant): before[int(instant)] for instant in kept}
        assert table.ordered[0].parent_id == int(instants[archived - 1])


@VERSIONS
def test_without_the_archive_files_and_bytes_are_known_from_the_folder_but_not_rows(
    tmp_path: Path, version: int
) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    instants = history(folder)
    _, before = read(folder)
    folder.archive(2)
    shutil.rmtree(folder.timeline / "history" if version == 8 else folder.timeline / "archived")
    _, after = read(folder)
    assert list(after) == [int(instant) for instant in instants[2:]]
    for instant in instants[2:]:
        found, expected = totals(after[int(instant)]), totals(before[int(instant)])
        assert (found[:2], found[3:]) == (expected[:2], expected[3:])
    assert [totals(after[int(i)])[2] for i in instants[2:]] == [None, None, 16, 16]
    assert [after[int(i)].notes for i in instants[2:]] == [("history_archived",)] * 3 + [()]
    assert [after[int(i)].problems for i in instants[2:]] == [()] * 4


@VERSIONS
def test_a_damaged_archive_is_not_damage_of_the_table(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    history(folder)
    _, before = read(folder)
    folder.archive(1)
    for file in (*folder.timeline.glob("history/*.parquet"), *folder.timeline.glob("archived/.*")):
        file.write_bytes(file.read_bytes()[:200])
    _, after = read(folder)
    for instant, reading in after.items():
        assert reading.problems == ()
        assert totals(reading)[:2] == totals(before[instant])[:2]


@VERSIONS
def test_a_write_pending_since_before_the_archive_is_not_an_archived_one(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    folder.commit(Stat("a", 10, 1))
    hung = folder.tick()
    folder.request(hung)
    folder.place(EU, folder.name(hung, Stat("z", 77)), 77)
    first = folder.commit(Stat("b", 20, 1))
    second = folder.commit(Stat("b", 30, 1, prev=first, updates=1))
    folder.archive(2)
    shutil.rmtree(folder.timeline / "history" if version == 8 else folder.timeline / "archived")
    _, after = read(folder)
    assert totals(after[int(second)])[:2] == (2, 40)


class Moving(FileStorage):
    """Storage of a table whose archiver works between the listing of its timeline and the reading of a commit."""

    def __init__(self, folder: HudiFolder) -> None:
        super().__init__()
        self._folder, self._left = folder, 1

    def list(self, location: str, *, deep: bool = False) -> list[ListedFile]:
        found = list(super().list(location, deep=deep))
        if location.endswith((".hoodie", "timeline")) and self._left:
            self._left -= 1
            self._folder.archive(1)
        return found


@VERSIONS
def test_a_commit_archived_during_the_read_is_not_damage(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    instants = history(folder)
    pointer = newest_instant(folder.location, FileStorage())
    reader = HudiReader(Moving(folder), WeightedCache(), CarriedStates())
    table = reader.metadata(pointer)
    assert list(table.snapshots) == [int(instant) for instant in instants[1:]]
    readings = [reader.read(table, snapshot, Want()) for snapshot in table.ordered]
    assert {reading.problems for reading in readings} == {()}
    assert totals(readings[-1]) == (2, 1501, 16, 1, 70)


@VERSIONS
def test_files_cleaned_before_the_archive_are_counted_without_a_size(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    instants = history(folder)
    folder.archive(3)
    shutil.rmtree(folder.timeline / "history" if version == 8 else folder.timeline / "archived")
    clean(folder, *instants[:3])
    _, after = read(folder)
    compacted, clustered, last = (after[int(instant)] for instant in instants[3:])
    # Group b left without a trace, and in a merge-on-read table it may have been logs alone.
    assert totals(compacted) == (None,) * 5
    assert clustered.content
    assert clustered.content.changed.removed_data_files is None
    assert clustered.content.changed.added_data_files == 1
    assert totals(clustered)[:3] == totals(last)[:3] == (2, 1501, 16)


def test_a_copy_on_write_group_that_disappeared_untraced_was_one_base_file(tmp_path: Path) -> None:
    folder = HudiFolder(tmp_path / "t", 6)
    first = folder.commit(Stat("a", 1000, 10), Stat("b", 500, 5))
    second = folder.commit(
        Stat("c", 600, 5), action="replacecommit", operation="CLUSTER", replaced=[("region=eu", "b")]
    )
    folder.archive(1)
    shutil.rmtree(folder.timeline / "archived")
    (folder.root / "region=eu" / f"b-0_0-1-1_{first}.parquet").unlink()
    _, after = read(folder)
    reading = after[int(second)]
    assert totals(reading) == (2, 1600, None, 0, 0)
    assert reading.content
    changed = reading.content.changed
    assert (changed.removed_data_files, changed.removed_bytes, changed.removed_records) == (1, None, None)
    assert reading.notes == ("history_archived",)


def test_logs_left_by_an_archived_rollback_are_still_in_their_slice(tmp_path: Path) -> None:
    folder = HudiFolder(tmp_path / "t", 6, mor=True)
    base = folder.commit(Stat("a", 1000, 10), action="deltacommit")
    failed = folder.tick()
    folder.request(failed, "deltacommit")
    folder.rollback(failed, [(EU, f".a-0_{base}.log.1_0-9-9", 25)])
    last = folder.commit(Stat("a", 70, 2, log=True, of=base, version=2, prev=base, updates=2), action="deltacommit")
    _, before = read(folder)
    folder.archive(2)
    assert not list(folder.timeline.glob("*.rollback"))
    _, after = read(folder)
    assert totals(after[int(last)]) == totals(before[int(last)]) == (1, 1000, 10, 2, 95)


@VERSIONS
def test_a_damaged_commit_does_not_falsify_later_totals(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    instants = history(folder)
    (damaged,) = folder.timeline.glob(f"{instants[2]}*.deltacommit")
    damaged.write_bytes(damaged.read_bytes()[:-20])
    _, after = read(folder)
    assert [after[int(i)].problems for i in instants] == [
        (),
        (),
        ("commit_unreadable",),
        ("history_damaged",),
        ("history_damaged",),
        ("history_damaged",),
    ]
    assert (after[int(instants[2])].tier, after[int(instants[2])].content) == ("summary", None)
    assert [totals(after[int(i)])[0] for i in instants[:2] + instants[3:]] == [2, 2, None, None, None]
    last = after[int(instants[5])].content
    assert last
    assert (last.changed.added_delete_files, last.changed.removed_delete_files) == (1, None)


@VERSIONS
def test_the_oldest_retained_snapshot_of_a_whole_history_has_no_parent(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version)
    folder.commit(Stat("a", 1, 1))
    table, _ = read(folder)
    assert [s.parent_id for s in table.ordered] == [None]


@VERSIONS
def test_a_bomb_in_the_archive_is_not_inflated(tmp_path: Path, version: int) -> None:
    folder = HudiFolder(tmp_path / "t", version, mor=True)
    history(folder)
    folder.archive(1)
    if version == 8:
        (file,) = folder.timeline.glob("history/*.parquet")
        rows = pq.read_table(file).to_pylist()
        bomb = pa.Table.from_pylist([{**row, "metadata": b"Obj\x01" + bytes(100_000_000)} for row in rows])
        pq.write_table(bomb, file, compression="zstd")
        assert file.stat().st_size < 100_000
    else:
        (file,) = folder.timeline.glob("archived/.*")
        file.write_bytes(b"#HUDI#" + (2**62).to_bytes(8, "big") + bytes(64))
    _, after = read(folder)
    assert {reading.problems for reading in after.values()} == {()}
    assert totals(next(iter(after.values())))[2] is None
