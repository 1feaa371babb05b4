"""Four pipelines on one meta store while the lake moves on, each dying again and again: nothing twice, nothing out.

The store is in memory, so that many lives fit into seconds; `tests/nightly` has the same with Spark. LIMNOGRAPH_STEPS:
commits are a hundredth of it (CI: 12 of each of two tables).
"""

from __future__ import annotations

import os
import random
import threading

import pytest

from lakes import FixedClock, Lake, rows
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS, MetaTable
from limnograph.domain.failpoints import PASS_STEPS, FailpointReached, around
from memory_meta import MemoryMetaStore, local_passes, run_all

COMMITS = max(12, int(os.environ.get("LIMNOGRAPH_STEPS", "0")) // 100)
PIPELINES = 4
LATER = 2_000_000_000_000_000
"""An instant after all commits, microseconds."""
TABLES = ("sales.orders", "sales.returns")


class Rivals:
    """Pipelines that make passes until they are told to stop; half of the passes die somewhere."""

    def __init__(self, lake: Lake, store: MemoryMetaStore, seed: int) -> None:
        self.lake, self.store, self.seed = lake, store, seed
        self.still, self.surprises = threading.Event(), list[BaseException]()
        self.threads = [threading.Thread(target=self._live, args=(number,)) for number in range(PIPELINES)]
        for thread in self.threads:
            thread.start()

    def end(self) -> None:
        self.still.set()
        for thread in self.threads:
            thread.join()

    def _live(self, number: int) -> None:
        dice = random.Random(self.seed * 10 + number)
        while not self.still.is_set():
            point = f"{dice.choice(around(PASS_STEPS))}:1:raise" if dice.random() < 0.5 else ""
            try:
                local_passes(self.lake, self.store, point, clock=FixedClock(LATER)).run()
            except (FailpointReached, SourceUnavailable):
                continue
            except BaseException as error:  # noqa: BLE001 - the test must see it
                self.surprises.append(error)
                return


@pytest.mark.parametrize("seed", [1, 2])
def test_four_pipelines_that_die_and_lose_replies_lose_and_duplicate_nothing(lake: Lake, seed: int) -> None:
    store, dice = MemoryMetaStore(), random.Random(seed)
    for name in TABLES:
        lake.table(name).append(rows("eu"))

    def lose(_table: MetaTable) -> None:
        if dice.random() < 0.1:
            raise SourceUnavailable("meta store", "the answer was lost")

    store.after_append = lose
    rivals = Rivals(lake, store, seed)
    for _ in range(COMMITS):
        for name in TABLES:
            lake.load(name).append(rows("eu"))
    rivals.end()
    store.after_append = lambda _table: None
    run_all(local_passes(lake, store, clock=FixedClock(LATER + 10**8)))
    assert rivals.surprises == []
    ids = sorted(s.snapshot_id for name in TABLES for s in lake.load(name).snapshots())
    assert len(ids) == len(TABLES) * (COMMITS + 1)
    assert sorted(store.rows(SNAPSHOTS).column("snapshot_id").to_pylist()) == ids
    told = store.changes(store.head(CHANGES))
    assert sorted(row.to_value or "" for row in told if row.kind == "ref") == sorted(map(str, ids))
    kinds = [row.kind for row in told]
    assert (kinds.count("first_seen"), kinds.count("named"), kinds.count("gap")) == (2, 2, 0)
