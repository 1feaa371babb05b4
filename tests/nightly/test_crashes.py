"""Exactly once through 200 crashes over all failpoints, and through four pipelines at once while the lake moves on.

`make nightly`; LIMNOGRAPH_STEPS sizes them (20,000: in full). The seed is printed, and LIMNOGRAPH_SEED gives it.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from crash_lake import CrashLake
from lakes import Lake, placeholders, rewrite_metadata, rows
from limnograph.domain.facts.meta_tables import RUNS
from limnograph.domain.failpoints import FAILPOINTS, FailpointReached
from limnograph.ports.meta_store import keys_of

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.nightly, pytest.mark.spark]
STEPS = int(os.environ.get("LIMNOGRAPH_STEPS", "20000"))
CRASHES, COMMITS, PIPELINES = max(4, STEPS // 100), max(8, STEPS // 100), 4
KILLED = 10
"""One crash of so many is a SIGKILL of a driver of its own, the others are raised in the session that stands."""


def test_crashes_at_all_failpoints_lose_and_duplicate_nothing(
    spark: SparkSession, shared_lake: Lake, tmp_path: Path
) -> None:
    dice = _dice()
    world = CrashLake(tmp_path, shared_lake, f"_{uuid4().hex[:8]}", old_commits=6 + CRASHES // 4)
    world.see = lambda: world.run_in(spark)
    world.see()
    lively = Lively(world.lake, world.named("lively"), dice)
    world.names.append(lively.name)
    for number in range(CRASHES):
        # Every name in turn, in an order of its own each round, so that 200 crashes pass all of them about five times.
        if number % len(FAILPOINTS) == 0:
            order = dice.sample(FAILPOINTS, len(FAILPOINTS))
        name = order[number % len(FAILPOINTS)]
        world.work_for(name)
        lively.live()
        if number % KILLED == KILLED - 1:
            assert world.run(f"{name}:1:kill").returncode == -signal.SIGKILL, name
        else:
            with pytest.raises(FailpointReached, match=name):
                pytest.fail(f"crash {number} did not pass {name}: {world.run_in(spark, f'{name}:1:raise')}")
        assert world.exact.doubled() == [], f"after crash {number} at {name}"
    world.run_in(spark)  # what the last crash left undone; rows that this repairs are rolled up by the next roll-up
    world.work_for("merge_hours")
    total = world.run_in(spark)
    assert total.failed == ()
    assert world.exact.wrong(*world.names, ever=lively.seen()) == []
    assert sorted(keys_of(RUNS, world.exact.rows(RUNS, None, RUNS.key))) == world.accepted()


def test_four_concurrent_pipelines_lose_and_duplicate_nothing(tmp_path: Path) -> None:
    """Each has a driver of its own and starts again as soon as it ended, until the lake stands still."""
    world, dice = CrashLake(tmp_path), _dice()
    assert world.run().returncode == 0
    tables = [Lively(world.lake, world.named(f"busy{number}"), dice) for number in range(4)]
    world.names += [table.name for table in tables]
    still, failures = threading.Event(), list[str]()

    def pipeline() -> None:
        while not still.is_set():
            done = world.run()
            if done.returncode != 0:
                failures.append(done.stderr[-2000:])

    threads = [threading.Thread(target=pipeline) for _ in range(PIPELINES)]
    for thread in threads:
        thread.start()
    for _ in range(COMMITS):
        for table in tables:
            table.live()
        still.wait(0.5)
    still.set()
    for thread in threads:
        thread.join()
    world.work_for("merge_hours")
    assert world.run().returncode == 0
    assert failures == []
    assert world.exact.wrong(*world.names) == []


class Lively:
    """A table that lives: appends, overwrites, rollbacks, compactions and expiry. Remembers its ids."""

    def __init__(self, lake: Lake, name: str, dice: random.Random) -> None:
        self.lake, self.name, self.dice = lake, name, dice
        lake.table(name).append(rows("eu"))
        self.lives = 0

    def live(self) -> None:
        """One thing happens to it."""
        self.lives += 1
        self.dice.choices((self._append, self._overwrite, self._many, self._rollback, self._expire), (6, 2, 1, 1, 1))[
            0
        ](self.lake.load(self.name))

    def seen(self) -> dict[str, set[int]]:
        """Ids that the lake has now."""
        table = self.lake.load(self.name)
        return {str(table.metadata.table_uuid): {s.snapshot_id for s in table.snapshots()}}

    def _append(self, table: Table) -> None:
        table.append(rows("eu", "us"))

    def _overwrite(self, table: Table) -> None:
        table.overwrite(rows("eu"))

    def _many(self, table: Table) -> None:
        placeholders(table, 50, tag=f"p{self.lives}-{uuid4().hex[:4]}")

    def _rollback(self, table: Table) -> None:
        """As `rollback_to_snapshot` leaves it: main points at its parent, and its log says so."""
        head = table.current_snapshot()
        if head is None or table.snapshot_by_id(head.parent_snapshot_id or -1) is None:
            return
        parent = head.parent_snapshot_id

        def back(document: dict[str, Any]) -> None:
            at = document["last-updated-ms"] + 1
            document["current-snapshot-id"], document["last-updated-ms"] = parent, at
            document["refs"]["main"]["snapshot-id"] = parent
            document["snapshot-log"].append({"snapshot-id": parent, "timestamp-ms": at})

        self.lake.move(self.name, _moved(table, back))

    def _expire(self, table: Table) -> None:
        """As `expire_snapshots` leaves it: the oldest go, and with them the log up to the last of them."""
        oldest = sorted(table.snapshots(), key=lambda s: s.sequence_number or 0)[:-5][:2]
        gone = {s.snapshot_id for s in oldest} - _ancestry(table)

        def expire(document: dict[str, Any]) -> None:
            document["snapshots"] = [s for s in document["snapshots"] if s["snapshot-id"] not in gone]
            log = document["snapshot-log"]
            last = max((i for i, entry in enumerate(log) if entry["snapshot-id"] in gone), default=-1)
            document["snapshot-log"] = log[last + 1 :]

        if gone:
            self.lake.move(self.name, _moved(table, expire))


def _ancestry(table: Table) -> set[int]:
    """Newest five snapshots of main's own past: they stay."""
    found: list[int] = []
    head = table.current_snapshot()
    while head is not None and len(found) < 5:
        found.append(head.snapshot_id)
        head = table.snapshot_by_id(head.parent_snapshot_id) if head.parent_snapshot_id else None
    return set(found)


def _moved(table: Table, change: Any) -> str:
    """A new metadata file of a name that PyIceberg counts on from."""
    location = rewrite_metadata(table, change)
    source = Path("/" + location.removeprefix("file:").lstrip("/"))
    target = source.with_name(
        f"{int(Path(table.metadata_location).name.split('-')[0]) + 1:05d}-{uuid4()}.metadata.json"
    )
    source.rename(target)
    return f"file://{target}"


def _dice() -> random.Random:
    seed = int(os.environ.get("LIMNOGRAPH_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
    print(f"LIMNOGRAPH_SEED={seed}", file=sys.stderr)
    return random.Random(seed)
