"""Random histories of both layouts against a plain model of file groups, looked at along the way."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from hudi_timeline import HudiFolder, Stat
from limnograph.adapters.hudi.kept import WeightedCache
from limnograph.adapters.hudi.locate import newest_instant
from limnograph.adapters.hudi.reader import HudiReader
from limnograph.adapters.hudi.replay import CarriedStates
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.metadata.content import Reading, Want

HISTORIES = int(os.environ.get("LIMNOGRAPH_STEPS", "600")) // 60
STEPS = 30
PARTITIONS = ("region=eu", "region=us", "region=ap")

State = tuple[int, int, int, int, int]
"""Data files, bytes, rows, log files, their bytes."""


class Model:
    """What is live by the rules alone: per group a base file `(instant, size, rows)` and logs' sizes."""

    def __init__(self) -> None:
        self.groups: dict[tuple[str, str], tuple[tuple[str, int, int], list[int]]] = {}

    def state(self) -> State:
        bases = [base for base, _ in self.groups.values()]
        logs = [size for _, sizes in self.groups.values() for size in sizes]
        return len(bases), sum(b[1] for b in bases), sum(b[2] for b in bases), len(logs), sum(logs)


class Writer:
    """One history: writes the table and moves the model; `states` by instant."""

    def __init__(self, folder: HudiFolder, dice: random.Random) -> None:
        self.folder, self.dice, self.model = folder, dice, Model()
        self.states: dict[str, State] = {}
        self.saved: list[tuple[str, Model]] = []
        self.names = 0

    def step(self) -> None:
        moves = [self.insert, self.insert, self.upsert, self.upsert, self.delta, self.delta, self.delta]
        moves += [self.compact, self.cluster, self.overwrite, self.roll_back, self.hang, self.clean, self.archive]
        self.dice.choice(moves)()

    def insert(self) -> None:
        stats = [self._new(self.dice.choice(PARTITIONS)) for _ in range(self.dice.randint(1, 4))]
        self._commit(stats, "INSERT", "deltacommit")

    def upsert(self) -> None:
        stats = [
            Stat(group, self._size(), self.dice.randint(1, 50), partition, prev=base[0], updates=1)
            for (partition, group), (base, logs) in self._some()
            if not logs
        ]
        self._commit(stats, "UPSERT", "commit")

    def delta(self) -> None:
        layout_1 = self.folder.layout == 1
        stats = [
            Stat(
                group,
                self._size(),
                1,
                partition,
                prev=base[0],
                log=True,
                of=base[0] if layout_1 else None,
                version=len(logs) + 1,
                updates=1,
            )
            for (partition, group), (base, logs) in self._some()
        ]
        self._commit(stats, "UPSERT", "deltacommit")

    def compact(self) -> None:
        stats = [
            Stat(group, self._size(), base[2], partition, prev=base[0], updates=1)
            for (partition, group), (base, logs) in self._some()
            if logs
        ]
        self._commit(stats, "COMPACT", "commit")

    def cluster(self) -> None:
        self._replace(self._some(), "CLUSTER")

    def overwrite(self) -> None:
        partition = self.dice.choice(PARTITIONS)
        self._replace([item for item in self.model.groups.items() if item[0][0] == partition], "INSERT_OVERWRITE")

    def roll_back(self) -> None:
        if self.saved and self.saved[-1][0] in self.states and self._newest() == self.saved[-1][0]:
            instant, self.model = self.saved.pop()
            del self.states[instant]
            self.folder.rollback(instant)

    def hang(self) -> None:
        at = self.folder.tick()
        self.folder.request(at, "deltacommit")
        self.folder.place(PARTITIONS[0], self.folder.name(at, Stat("hung", 9)), 9)

    def clean(self) -> None:
        self.folder.complete(self.folder.tick(), "clean", b"")

    def archive(self) -> None:
        if len(self.states) > 6:
            self.folder.archive(2)
            for instant in [i for i in sorted(self.states) if not list(self.folder.timeline.glob(f"{i}*commit"))]:
                del self.states[instant]

    def _newest(self) -> str:
        return max(self.states, default="")

    def _some(self) -> list[tuple[tuple[str, str], tuple[tuple[str, int, int], list[int]]]]:
        items = sorted(self.model.groups.items())
        return self.dice.sample(items, min(len(items), self.dice.randint(1, 4)))

    def _size(self) -> int:
        return self.dice.randint(1, 100_000)

    def _new(self, partition: str) -> Stat:
        self.names += 1
        return Stat(f"g{self.names}", self._size(), self.dice.randint(1, 50), partition)

    def _replace(
        self, gone: list[tuple[tuple[str, str], tuple[tuple[str, int, int], list[int]]]], operation: str
    ) -> None:
        if gone:
            self._commit([self._new(gone[0][0][0])], operation, "replacecommit", [key for key, _ in gone])

    def _commit(
        self, stats: list[Stat], operation: str, action: str, replaced: list[tuple[str, str]] | None = None
    ) -> None:
        before = Model()
        before.groups = {key: (base, list(logs)) for key, (base, logs) in self.model.groups.items()}
        at = self.folder.commit(*stats, action=action, operation=operation, replaced=replaced or ())
        for key in replaced or ():
            del self.model.groups[key]
        for stat in stats:
            key = (stat.partition, stat.group)
            if stat.log:
                self.model.groups[key][1].append(stat.size)
            else:
                self.model.groups[key] = ((at, stat.size, stat.rows or 0), [])
        self.states[at] = self.model.state()
        self.saved.append((at, before))


def state(reading: Reading) -> State:
    assert (reading.problems, reading.notes) == ((), ())
    assert reading.content
    t = reading.content.totals
    return t.data_files or 0, t.bytes or 0, t.records or 0, t.delete_files or 0, t.delete_bytes or 0


@pytest.mark.parametrize("version", [6, 8])
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_every_state_follows_the_rules_in_whatever_order_it_is_read(tmp_path: Path, version: int, seed: int) -> None:
    dice = random.Random(f"{version}-{seed}")
    writer = Writer(HudiFolder(tmp_path / "t", version, mor=True), dice)
    kept, carried = WeightedCache(), CarriedStates()
    told: dict[int, Reading] = {}
    for _ in range(STEPS):
        writer.step()
        if dice.random() < 0.4:
            reader = HudiReader(FileStorage(), kept, carried)
            table = reader.metadata(newest_instant(writer.folder.location, FileStorage()))
            new = [snapshot for snapshot in table.ordered if snapshot.snapshot_id not in told]
            told |= {snapshot.snapshot_id: reader.read(table, snapshot, Want()) for snapshot in new}
    reader = HudiReader(FileStorage(), WeightedCache(), CarriedStates())
    table = reader.metadata(newest_instant(writer.folder.location, FileStorage()))
    fresh = {snapshot.snapshot_id: reader.read(table, snapshot, Want()) for snapshot in table.ordered}
    assert {i: state(reading) for i, reading in fresh.items()} == {int(i): s for i, s in writer.states.items()}
    assert {i: reading for i, reading in told.items() if i in fresh} == {i: r for i, r in fresh.items() if i in told}
