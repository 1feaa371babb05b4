"""Random lives of Delta tables against a plain oracle: every version, from every start, with checkpoints and holes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from delta_log import DeltaLog, add, content, field, info, metadata, protocol, read_all, remove, state_rows, vector
from limnograph.adapters.delta.reader import DeltaReader, SharedCaches
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.metadata.content import Reading, Want
from limnograph.domain.metadata.manifests import size_bin

PARTS = ["a", "b", None, "x/y=z"]
SOUND = ("classic", "parts", "v2")
FORMS = (*SOUND, "damaged", "incomplete")


class Live(NamedTuple):
    size: int
    records: int | None
    part: str | None
    dv: dict[str, Any] | None


class Table:
    """Writes a random log and remembers what is live after each version."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.chance, self.log = chance, DeltaLog(folder)
        self.live: dict[str, Live] = {}
        self.states: list[dict[str, Live]] = []
        self.count = 0

    def begin(self) -> None:
        self.commit(
            [
                protocol(3, ("deletionVectors", "v2Checkpoint")),
                metadata(field("p", "string"), field("id"), partitions=("p",)),
            ]
        )

    def commit(self, actions: list[Any]) -> None:
        self.chance.shuffle(actions)
        self.log.commit(info("WRITE", 1_000 * len(self.states)), *actions)
        self.states.append(dict(self.live))

    def step(self) -> None:
        actions: list[Any] = []
        for path in self.chance.sample(sorted(self.live), self.chance.randint(0, min(3, len(self.live)))):
            actions += self.changed(path)
        for _ in range(self.chance.randint(0, 3)):
            actions.append(self.added())
        self.commit(actions)

    def added(self) -> Any:
        self.count += 1
        path = f"f{self.count} %25"
        records = None if self.chance.random() < 0.02 else self.chance.randint(0, 99)
        file = Live(self.chance.choice([0, 100, 9_000, 2**27, 2**33]), records, self.chance.choice(PARTS), None)
        self.live[path] = file
        return add(path, file.size, file.records, p=file.part)

    def changed(self, path: str) -> list[Any]:
        file = self.live[path]
        gone = remove(path, file.size if self.chance.random() < 0.5 else None, dv=file.dv, p=file.part)
        match self.chance.choice(["gone", "vector", "again"]):
            case "gone":
                del self.live[path]
                return [gone]
            case "vector":
                self.count += 1
                dv = vector(
                    f"v{self.count}",
                    self.chance.randint(1, 9),
                    self.chance.choice([None, 7]),
                    self.chance.randint(1, 50),
                )
                self.live[path] = file._replace(dv=dv)
                return [gone, add(path, file.size, file.records, dv=dv, p=file.part)]
            case _:
                return [add(path, file.size, file.records, dv=file.dv, p=file.part)]

    def checkpoint(self, version: int, forms: tuple[str, ...] = FORMS) -> None:
        """A checkpoint of one of these forms."""
        newest, self.log.next = self.log.next, version + 1
        rows = state_rows(self.log, parsed_stats=self.chance.random() < 0.3)
        self.log.next = newest
        base, half = f"{version:020}.checkpoint", len(rows) // 2
        match self.chance.choice(forms):
            case "classic":
                self.log.parquet(f"{base}.parquet", rows)
            case "parts":
                self.log.parquet(f"{base}.0000000001.0000000002.parquet", rows[:half])
                self.log.parquet(f"{base}.0000000002.0000000002.parquet", rows[half:])
            case "v2":
                name = f"s{version}.parquet"
                size = self.log.parquet(f"_sidecars/{name}", rows[2:]).stat().st_size
                side = {"sidecar": {"path": name, "sizeInBytes": size, "modificationTime": 1}}
                self.log.parquet(
                    f"{base}.80a083e8-7026-4e79-81be-64bd76c43a11.parquet", [*rows[:2], *self.log.rows([], side)]
                )
            case "damaged":
                (self.log.log / f"{base}.parquet").write_bytes(b"PAR1" + bytes(20))
            case _:
                self.log.parquet(f"{base}.0000000001.0000000003.parquet", rows)


def assert_state(reading: Reading, state: dict[str, Live]) -> None:
    totals, files = content(reading).totals, list(state.values())
    vectors = [file.dv for file in files if file.dv]
    assert totals.data_files == len(files)
    assert totals.bytes == sum(file.size for file in files)
    known = [file.records for file in files if file.records is not None]
    assert totals.records == (sum(known) if len(known) == len(files) else None)
    assert (totals.dvs, totals.delete_files) == (len(vectors), len(vectors))
    assert totals.position_deletes == sum(dv["cardinality"] for dv in vectors)
    assert totals.delete_bytes == sum(dv["sizeInBytes"] for dv in vectors)
    assert totals.small_files == sum(file.size < 2**26 for file in files)
    bins = [size_bin(file.size) for file in files]
    assert content(reading).histogram == [bins.count(index) for index in range(21)]
    partitions = content(reading).partitions
    assert partitions
    assert {text: (s.data_files, s.bytes) for (_, text), s in partitions.states.items()} == by_partition(files)


def by_partition(files: list[Live]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for file in files:
        text = f"p={(file.part or 'null').replace('/', '%2F')}"
        count, size = found.get(text, (0, 0))
        found[text] = count + 1, size + file.size
    return found


def assert_moves(reading: Reading, before: dict[str, Live], after: dict[str, Live]) -> None:
    changed = content(reading).changed
    added, removed = set(after) - set(before), set(before) - set(after)
    kept = [(before[path].dv, after[path].dv) for path in set(before) & set(after) if before[path].dv != after[path].dv]
    assert (changed.added_data_files, changed.removed_data_files) == (len(added), len(removed))
    assert changed.added_bytes == sum(after[path].size for path in added)
    assert changed.removed_bytes == sum(before[path].size for path in removed)
    assert changed.added_delete_files == len(kept)
    assert changed.removed_delete_files == sum(old is not None for old, _ in kept) + sum(
        before[path].dv is not None for path in removed
    )


@pytest.mark.parametrize("seed", range(15))
def test_every_version_equals_the_oracle_from_any_start(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    table = Table(tmp_path / "table", chance)
    table.begin()
    for _ in range(30):
        table.step()
    for version in sorted(chance.sample(range(31), 4)):
        table.checkpoint(version)
    shared = SharedCaches()
    reader = DeltaReader(FileStorage(), shared)
    known = reader.metadata(table.log.newest())
    in_order = read_all(reader, known)
    empty: dict[str, Live] = {}
    for version, reading in in_order.items():
        assert reading.problems == ()
        assert_state(reading, table.states[version])
        assert_moves(reading, table.states[version - 1] if version else empty, table.states[version])
    for version in chance.choices(range(31), k=12):
        other = chance.choice([reader, DeltaReader(FileStorage(), shared), DeltaReader(FileStorage(), SharedCaches())])
        assert other.read(known, known.snapshots[version], Want()) == in_order[version]


@pytest.mark.parametrize("seed", range(15))
def test_known_values_of_a_log_with_gaps_are_correct(tmp_path: Path, seed: int) -> None:
    chance = random.Random(1_000 + seed)
    table = Table(tmp_path / "table", chance)
    table.begin()
    for _ in range(30):
        table.step()
    for version in sorted(chance.sample(range(31), 5)):
        table.checkpoint(version)
    table.log.drop(*chance.sample(range(30), chance.choice([1, 2, 6])))
    shared = SharedCaches()
    reader = DeltaReader(FileStorage(), shared)
    known = reader.metadata(table.log.newest())
    in_order = read_all(reader, known)
    for version, reading in in_order.items():
        if content(reading).totals.data_files is None:
            assert reading.problems in {("history_truncated",), ("history_damaged",)}
            continue
        assert_state(reading, table.states[version])
    for version in chance.choices(sorted(in_order), k=6):
        fresh = DeltaReader(FileStorage(), chance.choice([shared, SharedCaches()]))
        assert fresh.read(known, known.snapshots[version], Want()) == in_order[version]


@pytest.mark.parametrize("seed", range(8))
def test_deltalake_counts_the_same_files_in_these_logs(tmp_path: Path, seed: int) -> None:
    chance = random.Random(2_000 + seed)
    table = Table(tmp_path / "table", chance)
    table.begin()
    for _ in range(20):
        table.step()
    for version in sorted(chance.sample(range(21), 3)):
        table.checkpoint(version, SOUND)
    reader = table.log.reader()
    readings = read_all(reader, reader.metadata(table.log.newest()))
    for version in (20, *chance.sample(range(20), 3)):
        adds = pa.table(DeltaTable(str(table.log.folder), version=version).get_add_actions(flatten=True))
        totals = content(readings[version]).totals
        assert (totals.data_files, totals.bytes) == (adds.num_rows, sum(adds["size_bytes"].to_pylist()))
