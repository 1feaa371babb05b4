"""Pitfalls 3 and 4 of docs/pitfalls.md, made on purpose: Limnograph must name them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.parts.lake import MERGE_ON_READ, TableLayout

COLUMNS = "id bigint, v string"
DATABASE = TableLayout("lake.lab.single_rows", COLUMNS, "", MERGE_ON_READ)
BY_USER = TableLayout("lake.lab.by_user", "id bigint, user_id bigint", "user_id", {})
UPDATES, USERS = 12, 120


class DatabasePitfall:
    """Pitfall 4: single rows updated one by one, in the lake and in PostgreSQL."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Run the same updates in both, and compare the time per update."""
        lake, table = self._world.lake, DATABASE.name
        lake.create(DATABASE)
        lake.sql(f"insert into {table} select id, 'new' from range(0, 100, 1, 1)")
        in_lake = _seconds(lambda n: lake.sql(f"update {table} set v = 'u{n}' where id = {n}"))
        with lake.shop.cursor() as cursor:
            cursor.execute("create table single_rows as select id, 'new'::text as v from generate_series(0, 99) as id")
            in_database = _seconds(
                lambda n: cursor.execute("update single_rows set v = %s where id = %s", (f"u{n}", n))
            )
        changed = lake.one(f"select count(*) from {table} where v <> 'new'")
        log.equal("every update is there", changed, UPDATES)
        log.claim("an update of the lake takes at least ten times as long", in_lake > 10 * in_database, in_lake)
        log.figures.update(ms_in_lake=round(in_lake * 1000), ms_in_postgres=round(in_database * 1000, 2))

    def observe(self, log: ScenarioLog) -> None:
        """Limnograph names the pattern."""
        found = self._world.observer.finding("tiny_commits", DATABASE.name)
        log.claim("Limnograph reports tiny_commits", found)
        log.figures["finding"] = {"code": "tiny_commits", "evidence": found["evidence"]}


def _seconds(update: Callable[[int], Any]) -> float:
    """Seconds for one update, mean."""
    start = time.monotonic()
    for n in range(UPDATES):
        update(n)
    return (time.monotonic() - start) / UPDATES


class PartitionPitfall:
    """Pitfall 3: a partition for each user."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Two commits, each a file for each user."""
        lake, table = self._world.lake, BY_USER.name
        lake.create(BY_USER)
        for _ in range(2):
            lake.sql(f"insert into {table} select id, id % {USERS} from range(0, {4 * USERS}, 1, 1)")
        files = lake.one(f"select count(*) from {table}.files")
        log.claim("there are at least two files for each user", files >= 2 * USERS, files)
        log.figures.update(partitions=USERS, files=files)

    def observe(self, log: ScenarioLog) -> None:
        """Limnograph names the layout."""
        found = self._world.observer.finding("high_cardinality_partitioning", BY_USER.name)
        log.claim("Limnograph reports high_cardinality_partitioning", found)
        log.figures["finding"] = {"code": "high_cardinality_partitioning", "evidence": found["evidence"]}
