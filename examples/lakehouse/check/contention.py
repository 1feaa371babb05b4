"""Fifty writers of one table at once: nothing that was acknowledged is lost, and every retry is counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.ingest.writers import PATIENT, ROWS, STAMP, WriterOutcome, append_at_once, refused_commits
from lakehouse.parts.lake import TableLayout

CONTENDED = TableLayout("lake.lab.contended", "id bigint, v string", "", PATIENT)
WRITERS = 50


class FiftyWriters:
    """Threads of PyIceberg: processes of this number do not fit into the memory of a laptop."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world
        self._outcomes: Sequence[WriterOutcome] = ()

    def happen(self, log: ScenarioLog) -> None:
        """Rows, stamps and refusals, each counted in two places."""
        lake, table = self._world.lake, CONTENDED.name
        lake.create(CONTENDED)
        self._outcomes = append_at_once(lake, table, WRITERS)
        done = [each for each in self._outcomes if each.snapshot_id is not None]
        log.claim("most writers are acknowledged", len(done) > WRITERS // 2, self._outcomes)
        rows = lake.one(f"select count(distinct id) from {table}")
        log.equal("each acknowledged row is in the table", rows, ROWS * len(done))
        log.equal("and there once, and no other", lake.one(f"select count(*) from {table}"), ROWS * len(done))
        stamps = lake.sql(f"select summary['{STAMP}'] from {table}.snapshots")
        log.equal("every commit is of an acknowledged writer", _numbers(stamps), sorted(each.writer for each in done))
        conflicts = sum(each.attempts for each in self._outcomes) - len(done)
        log.claim("writers were in each other's way", conflicts > WRITERS, conflicts)
        log.equal("the catalog counts the same conflicts", refused_commits(lake.places, table), conflicts)
        waits = sorted(each.seconds for each in done)
        log.figures.update(
            acknowledged=len(done),
            gave_up=WRITERS - len(done),
            conflicts=conflicts,
            most_attempts=max(each.attempts for each in self._outcomes),
            seconds_p50=round(waits[len(waits) // 2], 1),
            seconds_max=round(waits[-1], 1),
        )

    def observe(self, log: ScenarioLog) -> None:
        """Limnograph counts what the writers counted, and calls it contention."""
        done = [each for each in self._outcomes if each.snapshot_id is not None]
        page = awaited(lambda: self._reported(len(done)))
        log.claim("the page Reads has every commit report", page, self._world.observer.table(CONTENDED.name, "/reads"))
        log.equal("with the retries of all", page["retries"], sum(each.attempts for each in done) - len(done))
        found = self._world.observer.finding("commit_contention", CONTENDED.name)
        log.claim("Limnograph reports commit_contention", found)
        log.figures["finding"] = {"code": "commit_contention", "severity": found["severity"]}

    def _reported(self, count: int) -> Any:
        page = self._world.observer.table(CONTENDED.name, "/reads").get("contention") or {}
        return page if page.get("reported") == count else None


def _numbers(rows: Sequence[Any]) -> list[int]:
    return sorted(int(row[0]) for row in rows)
