"""Held bytes equal the set difference over the files of all retained snapshots, whatever happened to the table."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.adapters.iceberg.held.held_bytes import held_and_freed, held_bytes
from limnograph.adapters.iceberg.metadata.metadata import parse_metadata
from limnograph.adapters.storage.files import FileStorage
from limnograph.analysis.held import DAY_MS, LADDER
from limnograph.domain.advice.document import NotKnown, TableBytes
from limnograph.domain.advice.reading import HeldReading
from limnograph.domain.time import Millis
from metadata_writer import DATA, EQUALITY_DELETES, POSITION_DELETES, File, MetadataTable

FILES = FileStorage({})
Key = tuple[str, int]


def found(table: MetadataTable, now: int | None = None) -> TableBytes | NotKnown:
    """What the reader says."""
    content = (table.folder / "metadata" / table.metadata_location.rpartition("/")[2]).read_bytes()
    metadata = parse_metadata(content, table.metadata_location)
    return held_bytes(FILES, metadata, Millis(table.now_ms if now is None else now))


def known(table: MetadataTable, now: int | None = None) -> TableBytes:
    """What the reader says of a readable table."""
    answer = found(table, now)
    assert isinstance(answer, TableBytes), answer
    return answer


def reached(table: MetadataTable, *snapshots: int | None) -> dict[Key, int]:
    """Bytes of the files of these snapshots; a deletion vector is a blob of its file."""
    return {
        (file.path, file.offset if file.dv_of else 0): file.size
        for snapshot in snapshots
        if snapshot is not None
        for file in table.live[snapshot].values()
    }


def difference(of: dict[Key, int], without: dict[Key, int]) -> int:
    return sum(size for key, size in of.items() if key not in without)


def expected(table: MetadataTable, now: int) -> TableBytes:
    """The definitions of the document, by sets."""
    head = table.head()
    live, every = reached(table, head), reached(table, *table.snapshots)
    heads = {name: ref["snapshot-id"] for name, ref in table.refs.items()}
    times = [snapshot["timestamp-ms"] for snapshot in table.snapshots.values()]
    days = [day for day in LADDER if day == 0 or (times and min(times) < now - day * DAY_MS)]

    def freed(day: int) -> int:
        kept = {
            one
            for one, snapshot in table.snapshots.items()
            if snapshot["timestamp-ms"] >= now - day * DAY_MS or one in heads.values()
        }
        return difference(every, reached(table, *kept))

    folder = table.folder / "metadata"
    names = {manifest.path for one in table.snapshots for manifest in table.manifests[one]}
    names |= {snapshot["manifest-list"] for snapshot in table.snapshots.values() if "manifest-list" in snapshot}
    names.add(table.metadata_location)
    return TableBytes(
        live=sum(live.values()),
        held=difference(every, live),
        metadata=sum((folder / name.rpartition("/")[2]).stat().st_size for name in names),
        by_ref={
            name: difference(
                reached(table, one), reached(table, head, *(of for other, of in heads.items() if other != name))
            )
            for name, one in sorted(heads.items())
            if name != "main"
        },
        by_age=[(day, freed(day)) for day in days],
    )


class Story:
    """Changes of a table, which may remove files, add them again, roll back, and expire."""

    def __init__(self, table: MetadataTable, seed: int) -> None:
        self.table, self.random, self.gone = table, random.Random(seed), list[File]()
        self.steps = (self.append, self.overwrite, self.add_again, self.roll_back, self.move_ref, self.stage)
        self.steps += (self.compact, self.add_deletes, self.expire, self.delete)

    def run(self, step: int) -> None:
        self.table.tick(self.random.randint(1, 4) * DAY_MS // 2)
        (self.steps[step] if self.table.files() else self.append)()

    def new(self) -> list[File]:
        return [self.table.file("eu", size=self.random.randint(1, 1 << 20)) for _ in range(self.random.randint(1, 4))]

    def some(self) -> list[File]:
        files = self.table.files()
        return self.random.sample(files, min(len(files), self.random.randint(1, 3)))

    def any_snapshot(self) -> int:
        return self.random.choice(list(self.table.snapshots))

    def append(self) -> None:
        self.table.append(*self.new(), branch=self.random.choice(["main", "main", "audit"]))

    def overwrite(self) -> None:
        self.gone += (some := self.some())
        self.table.overwrite(self.new(), some)

    def add_again(self) -> None:
        if self.gone:
            self.table.append(self.gone.pop())

    def roll_back(self) -> None:
        self.table.set_main(self.any_snapshot())

    def move_ref(self) -> None:
        kind = self.random.choice(["tag", "branch"])
        self.table.set_ref(self.random.choice(["release", "other"]), self.any_snapshot(), kind)

    def stage(self) -> None:
        staged = self.table.stage(*self.new(), wap_id="1")
        if self.random.random() < 0.5:
            self.table.cherry_pick(staged)

    def compact(self) -> None:
        self.table.compact(*self.some())
        if self.random.random() < 0.3:
            self.table.rewrite_manifests()

    def add_deletes(self) -> None:
        """Delete files in v2; in v3 deletion vectors that share a Puffin file."""
        if self.table.version == 2:
            kind = self.random.choice([POSITION_DELETES, EQUALITY_DELETES])
            add = [self.table.file("eu", size=77, content=kind)]
        else:
            add = [self.table.vector(file, size=self.random.randint(10, 90)) for file in self.some()]
            add = [file._replace(path=add[0].path, offset=4 + 100 * at) for at, file in enumerate(add)]
        if self.table.version > 1:
            self.table.overwrite(add, self.table.files(content=POSITION_DELETES)[:1])

    def expire(self) -> None:
        heads = {ref["snapshot-id"] for ref in self.table.refs.values()}
        rest = [one for one in self.table.snapshots if one not in heads]
        self.table.expire(*self.random.sample(rest, len(rest) // 2))

    def delete(self) -> None:
        self.gone += (some := self.some())
        self.table.delete(*some)


@settings(max_examples=200, deadline=None)
@given(
    version=st.sampled_from([1, 2, 2, 3]),
    inline=st.booleans(),
    steps=st.lists(st.integers(0, 9), min_size=1, max_size=14),
    seed=st.integers(0, 1 << 30),
    later=st.integers(0, 40),
)
def test_any_history_has_the_bytes_of_the_set_difference(
    version: int, inline: bool, steps: list[int], seed: int, later: int
) -> None:
    with TemporaryDirectory() as folder:
        table = MetadataTable(Path(folder), version=version, inline_manifests=inline and version == 1, seed=seed)
        story = Story(table, seed)
        for step in steps:
            story.run(step)
        now = table.now_ms + later * DAY_MS // 2
        assert known(table, now) == expected(table, now)


@settings(max_examples=150, deadline=None)
@given(
    version=st.sampled_from([1, 2, 2, 3]),
    steps=st.lists(st.integers(0, 9), min_size=1, max_size=14),
    seed=st.integers(0, 1 << 30),
    share=st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]),
)
def test_any_set_of_snapshots_frees_the_bytes_that_no_other_one_reaches(
    version: int, steps: list[int], seed: int, share: float
) -> None:
    """Also the current snapshot of a ref: which ones may expire is not decided here."""
    with TemporaryDirectory() as folder:
        table = MetadataTable(Path(folder), version=version, seed=seed)
        story = Story(table, seed)
        for step in steps:
            story.run(step)
        expiring = frozenset(one for one in table.snapshots if story.random.random() < share)
        path = table.folder / "metadata" / table.metadata_location.rpartition("/")[2]
        metadata = parse_metadata(path.read_bytes(), table.metadata_location)
        answer = held_and_freed(FILES, metadata, Millis(table.now_ms), expiring)
        assert isinstance(answer, HeldReading), answer
        kept = reached(table, *(one for one in table.snapshots if one not in expiring))
        assert answer.freed == difference(reached(table, *table.snapshots), kept)
        assert answer.bytes == expected(table, table.now_ms)


def test_an_empty_table_has_no_bytes_but_its_metadata(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    assert known(table) == TableBytes(live=0, held=0, metadata=known(table).metadata, by_ref={}, by_age=[(0, 0)])
    assert known(table).metadata > 0


def test_two_refs_at_one_snapshot_own_nothing_alone(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    old = table.append(table.file("eu", size=100))
    table.overwrite([table.file("eu", size=7)], table.files())
    table.set_ref("one", old, "tag")
    assert known(table).by_ref == {"one": 100}
    table.set_ref("two", old, "tag")
    answer = known(table)
    assert answer.by_ref == {"one": 0, "two": 0}
    assert (answer.live, answer.held, answer.by_age[0]) == (7, 100, (0, 0))


def test_a_list_that_names_a_manifest_twice_counts_its_files_once(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu", size=100))
    (manifest,) = table.manifests[table.head() or 0]
    twice = table.append(table.file("eu", size=1))
    table.manifests[twice] += [manifest, manifest]
    table.snapshots[twice]["manifest-list"] = table._write_list(twice, table.sequences[twice])
    table.write()
    assert known(table).live == 101


def test_blobs_of_one_puffin_file_are_counted_apart(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path, version=3)
    table.append(table.file("eu", size=100), table.file("eu", size=200))
    one, two = table.files()
    first, second = table.vector(one, size=40), table.vector(two, size=50)
    second = second._replace(path=first.path, offset=44)
    table.overwrite([first, second], [])
    assert known(table).live == 390
    table.overwrite([], [second])
    assert (known(table).live, known(table).held) == (340, 50)


def test_a_snapshot_without_a_time_is_kept_at_every_age(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    old = table.append(table.file("eu", size=100))
    table.overwrite([], table.files())
    del table.snapshots[old]["timestamp-ms"]
    table.write()
    assert known(table, table.now_ms + DAY_MS * 9).by_age == [(0, 0), (1, 0), (3, 0), (5, 0), (7, 0)]


@pytest.mark.parametrize("damage", ["missing", "cut", "garbage"])
@pytest.mark.parametrize("what", ["manifest-list", "manifest"])
def test_one_unreadable_file_of_an_old_snapshot_leaves_no_partial_sum(tmp_path: Path, what: str, damage: str) -> None:
    table = MetadataTable(tmp_path)
    old = table.append(table.file("eu"), table.file("us"))
    table.overwrite([table.file("eu")], table.files(content=DATA))
    table.rewrite_manifests()
    location = table.snapshots[old]["manifest-list"] if what == "manifest-list" else table.manifests[old][0].path
    path = table.folder / "metadata" / location.rpartition("/")[2]
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-20] if damage == "cut" else b"x" * 400)
    answer = found(table)
    assert isinstance(answer, NotKnown)
    state = "missing" if damage == "missing" else "damaged"
    assert answer.missing.startswith(f"a {what.replace('-', ' ')} of a retained snapshot is {state}: file:")
    table.expire(old)
    assert known(table).held == expected(table, table.now_ms).held


def test_a_ref_without_its_snapshot_makes_the_bytes_unknown(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    old = table.append(table.file("eu"))
    table.append(table.file("eu"))
    table.set_ref("release", old, "tag")
    table.expire(old)
    assert found(table) == NotKnown(rule="held_bytes", missing="the snapshot of tag release is not in the metadata")


def test_a_snapshot_that_could_not_be_parsed_makes_the_bytes_unknown(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    old = table.append(table.file("eu"))
    table.append(table.file("eu"))
    table.snapshots[old]["snapshot-id"] = "seven"
    table.write()
    answer = found(table)
    assert isinstance(answer, NotKnown)
    assert "1 of 2 snapshots have no usable id" in answer.missing
