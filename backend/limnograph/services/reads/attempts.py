"""Reported commits of one table beside those of its history: what they took, and who collided with whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from limnograph.analysis.contention import Attempt, Collision, Committed, collisions, merged
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.facts.reads import RAW_DAYS
from limnograph.domain.time import EPOCH, MICROS_PER_SECOND, Micros, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.columns import NULL, facts_of
from limnograph.services.lake.history import History
from limnograph.services.reads.log import COMMIT_COLUMNS, COMMIT_TYPES, ReadLog, commits_of
from limnograph.services.reads.of_history import names_of
from limnograph.services.rollups.fold import DAY
from limnograph.services.rollups.reads_fold import NAMES

BEFORE = 3_600 * MICROS_PER_SECOND
"""Commits this long before a range may have collided with one inside it."""
NEVER = Micros(2**62)
_SCHEMA = frozenset({"schema", "spec"})


class TableAttempts(NamedTuple):
    """Reported commits of a table since `start`, which is later than requested where reports are no longer kept."""

    start: Micros
    attempts: list[Attempt]
    commits: list[Committed]
    collisions: list[Collision]


class AttemptSource:
    """Immutable after construction."""

    def __init__(self, log: ReadLog, engine: QueryEngine, clock: Clock) -> None:
        self._log, self._engine, self._clock = log, engine, clock

    def read(self, history: History, start: Micros, end: Micros) -> TableAttempts:
        """Commits in `[start, end)`. Blocks: reads `reports` for what is not in memory. Raises SourceError."""
        start = max(start, Micros(truncated(self._clock.now(), DAY) - RAW_DAYS * DAY))
        return attempts_of(self._rows(history, start, end), history, start, end)

    def recent(self, history: History, start: Micros, end: Micros) -> TableAttempts | None:
        """The same from memory alone; None while the meta tables have not been read."""
        floor = self._log.floor
        if floor is None:
            return None
        start = max(start, floor)
        return attempts_of(self._log.commits_of_table(names_of(history), start, end), history, start, end)

    def _rows(self, history: History, start: Micros, end: Micros) -> pl.DataFrame:
        names, floor = names_of(history), self._log.floor
        held = self._log.commits_of_table(names, start, end)
        if (floor is not None and start >= floor) or start >= end:
            return held
        rows = self._engine.select(MetaQuery(table="reports", columns=COMMIT_COLUMNS, start=start, end=end))
        wanted = pl.DataFrame([(*name, until) for name, until in names.items()], schema=[*NAMES, "until"], orient="row")
        mine = commits_of(rows).join(wanted, on=NAMES).filter(pl.col("at") < pl.col("until"))
        types: Any = dict(COMMIT_TYPES)
        return commits_of(pl.concat([mine.select(COMMIT_COLUMNS).cast(types), held.cast(types)]))


def attempts_of(rows: pl.DataFrame, history: History, start: Micros, end: Micros) -> TableAttempts:
    """Reports (COMMIT_COLUMNS) beside the commits on main. O(reports + commits of the range)."""
    reported = [_attempt(row) for row in rows.iter_rows(named=True)]
    commits = _commits(history, min(Micros(start - BEFORE), _oldest_base(reported, history)), end)
    attempts = merged(reported, commits)
    return TableAttempts(start, attempts, commits, collisions(attempts, commits))


def _attempt(row: Mapping[str, Any]) -> Attempt:
    return Attempt(
        at=row["at"],
        writer=row["job_name"] or row["application_id"] or row["engine"],
        kind=row["operation"],
        outcome=row["outcome"] or "ok",
        attempts=row["attempts"],
        conflict_kind=row["conflict_kind"],
        seconds=row["duration_seconds"],
        wall=row["wall_seconds"],
        snapshot=row["snapshot_id"],
        streaming=row["streaming"],
        app=row["application_id"],
        engine=row["engine"],
        added=row["added_data_files"],
        stated=row["outcome"] is not None,
    )


def _oldest_base(reported: Sequence[Attempt], history: History) -> Micros:
    """When the oldest of the snapshots was committed that refused commits had read; NEVER if none is known."""
    bases = [each.snapshot for each in reported if each.outcome == "conflict" and each.snapshot is not None]
    ids, times = history.numbers("snapshot_id"), history.numbers("committed_at")
    found = times[np.isin(ids, bases) & (times != NULL)]
    return Micros(int(found.min())) if len(found) else NEVER


def _committed(fact: SnapshotFact) -> Committed:
    return Committed(
        at=fact.committed_at or EPOCH,
        snapshot=fact.snapshot_id,
        writer=fact.app_name or fact.app_id or fact.engine,
        kind=fact.operation,
        app=fact.app_id,
        added_data_files=fact.added_data_files,
        removed_data_files=fact.removed_data_files,
        added_delete_files=fact.added_delete_files,
    )


def _commits(history: History, start: Micros, end: Micros) -> list[Committed]:
    """Commits on main, and changes of schema and spec, in `[start, end)`, in time order."""
    first, last = (int(history.moves.searchsorted(at)) for at in (start, end))
    known = sorted({place for place in history.main_places[first:last].tolist() if place >= 0})
    found = [_committed(fact) for fact in facts_of(history.table.rows.chosen(known), history.uuid, history.name)]
    found += [
        Committed(change.at, None, None, "schema")
        for change in history.changes
        if change.kind in _SCHEMA and change.from_value is not None and start <= change.at < end
    ]
    return sorted(found, key=lambda each: each.at)
