"""Lost checkpoints: what a stream does that has lost its place, and what names it."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from lakehouse.bronze.tables import CDC, CLICKS
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.stream.truth import assert_truth, catch_up, keeper, traffic
from lakehouse.check.world import ScenarioWorld
from lakehouse.ingest.stream import StreamTarget
from lakehouse.parts.streaming import DRIVER

ASIDE = StreamTarget("lake.lab_lost")
NAME = "lost"


class LostCheckpoint:
    """Two writers lose theirs: `bronze.cdc`, which asks the table for its position, and a table of clicks aside, whose
    sink trusts the checkpoint.
    """

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world
        self._after: dict[str, int | None] = {}

    def _click(self, seconds: float) -> None:
        with traffic(self._world):
            time.sleep(seconds)
        catch_up(self._world)

    def happen(self, log: ScenarioLog) -> None:
        """A checkpoint is deleted; another loses its newest batch, as one that was restored from a backup has."""
        stream, lake = keeper(self._world), self._world.lake
        self._position_in_table(log)
        table = ASIDE.clicks.name
        options = ("--into", ASIDE.into)
        stream.drain(*options, name=NAME)
        rows = self._rows(table)
        log.equal("the table aside has each click once", rows, (rows[0], rows[0]))
        checkpoint = Path(lake.places.checkpoints) / NAME / "clicks"
        newest = max(int(each.name) for each in (checkpoint / "offsets").iterdir() if each.name.isdecimal())
        for folder in ("offsets", "commits"):
            (checkpoint / folder / str(newest)).unlink()
            (checkpoint / folder / f".{newest}.crc").unlink(missing_ok=True)
        self._click(6)
        missing = self._rows(CLICKS.name)[1] - rows[1]
        stream.drain(*options, name=NAME)
        log.equal("a sink that has an epoch skips it, whatever is in it: rows are lost", self._rows(table), rows)
        self._click(3)
        stream.drain(*options, name=NAME)
        rows = self._rows(table)
        log.equal("the next epoch leaves a gap of as many positions", self._gap(table), missing)
        shutil.rmtree(checkpoint)
        stream.drain(*options, name=NAME)
        twice = self._rows(table)
        log.claim("a new checkpoint reads all again", twice[0] - twice[1] == rows[1], twice)
        log.equal("and repairs the loss", (twice[1], self._gap(table)), (rows[1] + missing, 0))
        self._after[table] = lake.snapshot(table)
        log.figures[table] = {"lost_by_older_checkpoint": missing, "twice_after_new_checkpoint": twice[0] - twice[1]}

    def _position_in_table(self, log: ScenarioLog) -> None:
        """The stream itself loses the checkpoint of its changes."""
        stream, lake = keeper(self._world), self._world.lake
        before, last = catch_up(self._world).changes, lake.snapshot(CDC.name)
        stream.stop(DRIVER)
        shutil.rmtree(lake.places.checkpoints / DRIVER / "changes")
        self._world.medallion.shop.trade(10, 60)
        stream.start(DRIVER)
        assert_truth(self._world, log)
        log.figures[CDC.name] = {"read_again": before[0], "written_again": 0}
        self._after[CDC.name] = lake.one(f"select snapshot_id from {CDC.name}.snapshots where parent_id = {last}")

    def _rows(self, table: str) -> tuple[int, int]:
        row = self._world.lake.sql(f"select count(*), count(distinct source_partition, source_offset) from {table}")[0]
        return int(row[0]), int(row[1])

    def _gap(self, table: str) -> int:
        """Positions of Kafka below the newest one that the table does not have."""
        partitions = (
            "select max(source_offset) + 1 - count(distinct source_offset) as gap"
            f" from {table} group by source_partition"
        )
        return int(self._world.lake.one(f"select sum(gap) from ({partitions})"))

    def observe(self, log: ScenarioLog) -> None:
        """The page of the first commit after a lost checkpoint names the query that wrote before."""
        for table, snapshot in self._after.items():
            page: Any = self._world.observer.commit(table, snapshot)
            stream = page.get("stream") or {}
            log.equal(f"a new query writes {table}", stream.get("order"), "new_query")
            earlier = stream["earlier"]
            log.claim("and the page names the one before", earlier["query_id"] != stream["query_id"], stream)
            log.figures.setdefault(table, {})["named"] = {"order": stream["order"], "epoch_before": earlier["number"]}
