"""FR5 and the disaster recovery drill: a verifiable erasure, and a lakehouse restored from its backup."""

from __future__ import annotations

import time

from lakehouse.bronze.append import append_clicks, append_partners
from lakehouse.bronze.tables import CDC, CLICKS, PARTNERS
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.drill import erasure, restore
from lakehouse.gold.revenue import REVENUE
from lakehouse.parts.lake import MERGE_ON_READ, TableLayout
from lakehouse.silver.merge import layout

PERSONAL = TableLayout("lake.lab.personal", "id bigint, email string", "", MERGE_ON_READ, pii="raw")
VALUE = "u77@example.org"
MOVED = (layout("orders").name, layout("customers").name, CLICKS.name)
RESTORED = (CDC.name, CLICKS.name, PARTNERS.name, layout("customers").name, layout("orders").name, REVENUE.name)


class ErasureDrill:
    """FR5 and pitfall 5: files that hold a value, counted after each step."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def _holding(self) -> int:
        return erasure.files_holding(self._world.lake, PERSONAL.name, "email", VALUE)

    def happen(self, log: ScenarioLog) -> None:
        """Written and deleted: no query finds it, and a file still has it."""
        lake, table = self._world.lake, PERSONAL.name
        lake.create(PERSONAL)
        lake.sql(f"insert into {table} select id, concat('u', id, '@example.org') from range(0, 1000, 1, 1)")
        log.equal("files that hold the value when it was written", self._holding(), 1)
        erasure.delete(lake, table, "id < 150")
        log.equal("no query finds it", lake.one(f"select count(*) from {table} where email = '{VALUE}'"), 0)
        log.equal("files that hold it after the delete", self._holding(), 1)
        log.figures["files_holding"] = [1, 1]

    def observe(self, log: ScenarioLog) -> None:
        """Limnograph says that nothing was erased; after rewrite and expiry nothing is left."""
        lake, table, observer = self._world.lake, PERSONAL.name, self._world.observer
        found = observer.finding("deletes_not_materialized", table)
        log.claim("Limnograph reports deletes_not_materialized", found)
        erasure.rewrite(lake, table)
        rewritten = self._holding()
        log.equal("files that hold it after the rewrite: the old snapshot has it", rewritten, 1)
        erasure.expire(lake, table)
        expired = self._holding()
        log.equal("files that hold it after the expiry", expired, 0)
        log.equal("all other rows are there", lake.one(f"select count(*) from {table}"), 850)
        log.figures["files_holding"] = [1, 1, rewritten, expired]


class DisasterDrill:
    """Backup of catalog and objects, a commit that comes too late for it, and a second place made of the backup.
    `moves`: whether tables are also brought there under other paths.
    """

    def __init__(self, world: ScenarioWorld, *, moves: bool = True) -> None:
        self._world, self._moves = world, moves

    def happen(self, log: ScenarioLog) -> None:
        """The restored tables have all rows of the backup, and lack exactly what came after it."""
        lake, medallion = self._world.lake, self._world.medallion
        expected = restore.counts(lake.catalog, RESTORED)
        backup = restore.back_up(lake.places)
        medallion.next_day()
        append_clicks(lake, medallion.log)
        append_partners(lake, medallion.landed)
        late = restore.counts(lake.catalog, RESTORED)
        log.claim("a day came after the backup", late != expected)
        lost_at, start = time.time(), time.monotonic()
        standby = restore.restore(lake.places, self._world.children)
        restored = restore.counts(standby, RESTORED)
        recovery_s = time.monotonic() - start
        log.equal("every table has the rows that it had at the backup", restored, expected)
        newest = restore.newest_commit(standby, RESTORED)
        log.claim("no commit from after the backup is there", newest <= backup.dumped_at, newest)
        log.figures.update(
            rto_s=round(recovery_s, 1),
            rpo_s=round(lost_at - newest, 1),
            rows=sum(restored.values()),
            rows_lost=sum(late.values()) - sum(restored.values()),
            backup_s=round(backup.seconds, 2),
            dump_bytes=backup.dump_bytes,
            objects=backup.objects,
        )
        if self._moves:
            self._move(log)

    def _move(self, log: ScenarioLog) -> None:
        """What a copy of the files alone cannot do: their metadata names the bucket that is lost."""
        begun = time.monotonic()
        moved = restore.move_tables(self._world.lake.places, self._world.children, MOVED)
        log.equal("the tables are at the second place", [each["table"] for each in moved], [*MOVED])
        for each in moved:
            name = each["table"]
            log.equal(f"{name} has the same rows there", each["there"], each["here"])
            log.equal(f"and the same snapshots as {name} here", *each["snapshots"])
            log.equal(f"and no file of {name} is read from the lake's bucket", each["files_elsewhere"], 0)
        deletes = sum(each["delete_files"] for each in moved)
        log.claim("among them is one with position deletes, which have paths inside", deletes > 0, moved)
        wanted = ("table", "snapshots", "files_copied", "delete_files", "seconds")
        log.figures.update(
            iceberg=moved[0]["iceberg"],
            moved=[{key: each[key] for key in wanted} for each in moved],
            moved_s=round(time.monotonic() - begun, 1),
        )

    def observe(self, log: ScenarioLog) -> None:
        """Limnograph has every commit of the lake, those that the restored catalog lacks too."""
        lake = self._world.lake
        snapshot = lake.snapshot(CLICKS.name)
        page = self._world.observer.commit(CLICKS.name, snapshot)
        log.claim("the page of the commit that would be lost is there", page, snapshot)
