"""The oracle of "exactly once": what the meta tables of a lake say, against the lake's own metadata. Reads only.

Every question answers with sentences about what is wrong, so that a test can show them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from lakes import FixedClock, Lake
from limnograph.adapters.meta.housekeeping_reads import UpkeepReads
from limnograph.adapters.meta.schema import arrow_schema
from limnograph.adapters.spark.store import change_facts
from limnograph.domain.facts.meta_tables import (
    ALERTS,
    CHANGES,
    COLUMN_DAYS,
    COLUMN_STATS,
    DAILY,
    FORECASTS,
    HOURLY,
    LABELS,
    MAINTENANCE,
    READS_HOURLY,
    REPORTS,
    RUNS,
    SNAPSHOTS,
    ChangeFact,
    MetaTable,
)
from limnograph.domain.failpoints import Failpoints
from limnograph.ports.meta_store import keys_of
from limnograph.ports.meta_upkeep import Where
from limnograph.services.rollups.fold import DAY
from limnograph.services.rollups.marks import raw_floor
from limnograph.services.rollups.step import Rollups
from memory_meta import MemoryMetaStore
from memory_upkeep import MemoryUpkeep

KEYED = (
    SNAPSHOTS,
    RUNS,
    ALERTS,
    REPORTS,
    LABELS,
    HOURLY,
    DAILY,
    READS_HOURLY,
    COLUMN_STATS,
    COLUMN_DAYS,
    FORECASTS,
    MAINTENANCE,
)
STAMPS = {"source_sequence", "changes_sequence", "rolled_at"}
"""Columns of a roll-up that say from what it was made; all others say what it counts."""


class Exactness:
    """Meta tables `<namespace>.*` of a lake. `hourly_days`: as in its settings."""

    def __init__(self, lake: Lake, namespace: str = "limnograph", hourly_days: int = 400) -> None:
        self.lake, self.namespace, self.hourly_days = lake, namespace, hourly_days
        self._sound: set[int] = set()

    def rows(self, table: MetaTable, snapshot_id: int | None = None, columns: Iterable[str] = ("*",)) -> pa.Table:
        """Rows at a snapshot, or now."""
        found = self.lake.catalog.load_table((self.namespace, table.name))
        return found.scan(snapshot_id=snapshot_id, selected_fields=tuple(columns)).to_arrow()

    def doubled(self) -> list[str]:
        """Keys with more than one row, at every retained snapshot of every meta table. One that was sound before is not
        read again: a snapshot never changes.
        """
        return [sentence for table in KEYED for sentence in self._doubled(table)]

    def _doubled(self, table: MetaTable) -> Iterator[str]:
        for snapshot in self.lake.catalog.load_table((self.namespace, table.name)).snapshots():
            if snapshot.snapshot_id in self._sound:
                continue
            keys = Counter(keys_of(table, self.rows(table, snapshot.snapshot_id, table.key)))
            twice = [(key, count) for key, count in keys.items() if count > 1]
            yield from (
                f"{table.name} at snapshot {snapshot.snapshot_id}: {count} rows of {key}" for key, count in twice
            )
            if not twice:
                self._sound.add(snapshot.snapshot_id)

    def missing(self, ids: Mapping[str, Iterable[int]]) -> list[str]:
        """Snapshots, by series, that have no row."""
        rows = set(keys_of(SNAPSHOTS, self.rows(SNAPSHOTS, None, SNAPSHOTS.key)))
        return [f"no row of {uuid} {i}" for uuid, found in ids.items() for i in found if (uuid, i) not in rows]

    def in_lake(self, *names: str) -> dict[str, set[int]]:
        """Ids that the metadata of some tables holds now, by table uuid."""
        tables = [self.lake.load(name) for name in names]
        return {str(table.metadata.table_uuid): {s.snapshot_id for s in table.snapshots()} for table in tables}

    def wrong_changes(self, *names: str) -> list[str]:
        """Moves of main in the tables' own log that are not there once; events twice; states that say nothing new."""
        facts = change_facts(self.rows(CHANGES).select([column.name for column in CHANGES.columns]))
        return [*self._moves(facts, names), *_events(facts), *_states(facts)]

    def _moves(self, facts: list[ChangeFact], names: Iterable[str]) -> Iterator[str]:
        main = (row for row in facts if row.kind == "ref" and row.subject == "main")
        told = Counter((row.table_uuid, row.to_value, row.at) for row in main)
        yield from (f"{count} rows of main's move {move}" for move, count in told.items() if count > 1)
        for name in names:
            table = self.lake.load(name)
            for entry in table.metadata.snapshot_log:
                move = (str(table.metadata.table_uuid), str(entry.snapshot_id), entry.timestamp_ms * 1000)
                if move not in told:
                    yield f"no row of main's move {move} of {name}"

    def wrong_rollups(self) -> list[str]:
        """Hours and days that differ from a roll-up of all raw rows made now. Days that lost raw rows are left out."""
        reads = UpkeepReads(lambda: self.lake.catalog, self.namespace)
        floor = raw_floor(reads.standing(SNAPSHOTS).properties) or 0
        made, oldest = self._recomputed()
        found: list[str] = []
        for table, first in ((HOURLY, max(floor, oldest)), (DAILY, floor)):
            columns = [column.name for column in table.columns]
            standing = reads.rows(table, reads.standing(table).position, columns, Where())
            expected = made.rows(table, made.standing(table).position, columns, Where())
            found += _differences(table, first, standing, expected)
        return found

    def _recomputed(self) -> tuple[MemoryUpkeep, int]:
        store, clock = MemoryMetaStore(), FixedClock(_now())
        upkeep = MemoryUpkeep(store, clock)
        store.ensure()
        for table in (SNAPSHOTS, CHANGES):
            schema = arrow_schema(table)
            rows = self.rows(table).select(schema.names).cast(schema)
            if rows.num_rows:
                store.append(table, rows, None, "oracle")
        rollups = Rollups(upkeep, clock, Failpoints(), self.hourly_days)
        rollups.run()
        return upkeep, rollups.oldest_hour()

    def wrong(self, *names: str, ever: Mapping[str, Iterable[int]] | None = None) -> list[str]:
        """All of it, read anew. `names`: tables of the lake; `ever`: ids that must have a row though the lake forgot
        them.
        """
        self._sound.clear()
        return [
            *self.doubled(),
            *self.missing(self.in_lake(*names)),
            *self.missing(ever or {}),
            *self.wrong_changes(*names),
            *self.wrong_rollups(),
        ]


def _events(facts: list[ChangeFact]) -> Iterator[str]:
    first = Counter(row.table_uuid for row in facts if row.kind == "first_seen")
    yield from (f"{count} rows first_seen of {uuid}" for uuid, count in first.items() if count > 1)
    gaps = Counter((row.table_uuid, row.subject) for row in facts if row.kind == "gap")
    yield from (f"{count} rows of gap {gap}" for gap, count in gaps.items() if count > 1)
    rows = {row.table_uuid for row in facts if row.table_uuid is not None}
    yield from (f"no row first_seen of {uuid}" for uuid in rows if uuid not in first)


def _states(facts: list[ChangeFact]) -> Iterator[str]:
    latest: dict[tuple[Any, ...], ChangeFact] = {}
    states = [row for row in facts if row.kind not in {"first_seen", "gap", "named", "dropped"}]
    for row in sorted(states, key=lambda row: (row.at, row.observed_at or 0)):
        if row.kind == "ref" and row.subject == "main":
            continue
        who = (row.table_uuid or (row.catalog, row.namespace, row.table), row.kind, row.subject)
        if who in latest and latest[who].to_value == row.to_value:
            yield f"{who} is told twice to be {row.to_value}"
        latest[who] = row


def _differences(table: MetaTable, first: int, standing: pl.DataFrame, expected: pl.DataFrame) -> Iterator[str]:
    unit = table.key[1]
    first = first // DAY * DAY
    both = []
    for frame in (standing, expected):
        kept = frame.filter(pl.col(unit) >= first).drop(STAMPS)
        both.append({(row["table_uuid"], row[unit]): row for row in kept.to_dicts()})
    for key in sorted(both[0].keys() | both[1].keys()):
        one, other = both[0].get(key), both[1].get(key)
        if one is None or other is None:
            yield f"{table.name} {key}: {'not there' if one is None else 'nothing makes it'}"
        elif one != other:
            differing = {name: (one[name], other[name]) for name in one if one[name] != other[name]}
            yield f"{table.name} {key}: {differing} (standing, recomputed)"


def _now() -> int:
    from limnograph.adapters.system_clock import SystemClock

    return SystemClock().now()
