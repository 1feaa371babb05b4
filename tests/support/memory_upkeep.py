"""Port MetaUpkeep over the store in memory; it passes the same contract suite as Spark's.

A file stands for one append to one partition; sequence numbers count a table's versions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from lakes import FixedClock
from limnograph.adapters.meta.schema import arrow_schema
from limnograph.domain.facts.meta_tables import FORECASTS, META_TABLES, REPORTS, SNAPSHOTS, MetaTable
from limnograph.domain.facts.report_contents import METADATA_KEYS
from limnograph.ports.meta_upkeep import MetaTableState, PartitionFiles, Position, Where
from memory_meta import MemoryMetaStore

DAY = 86_400_000_000
BYTES = 1000


class MemoryUpkeep:
    """`calls`: what was asked of it, in order. `before` lets a test act, or raise, when a call comes."""

    def __init__(self, store: MemoryMetaStore, clock: FixedClock) -> None:
        self.store, self.clock = store, clock
        self.properties: dict[str, dict[str, str]] = {table.name: {} for table in META_TABLES}
        self.committed: dict[str, list[int]] = {table.name: [] for table in META_TABLES}
        self.files: dict[str, Counter[int | None]] = {table.name: Counter() for table in META_TABLES}
        self.orphaned: dict[str, int] = {}
        self.calls: list[tuple[str, str]] = []
        self.before: Callable[[str, MetaTable], None] = lambda _call, _table: None
        self._rows = dict.fromkeys(self.files, 0)
        store.after_append = self._appended

    def _appended(self, table: MetaTable) -> None:
        self.committed[table.name].append(self.clock.micros)
        rows = self.store.rows(table)
        parts = {_part(table, row) for row in rows.slice(self._rows[table.name]).to_pylist()}
        self._rows[table.name] = rows.num_rows
        self.files[table.name].update(parts)

    def _called(self, call: str, table: MetaTable) -> None:
        self.calls.append((call, table.name))
        self.before(call, table)

    def standing(self, table: MetaTable) -> MetaTableState:
        head = self.store.head(table)
        return MetaTableState(
            position=None if head is None else Position(head, len(self.store.versions[table.name])),
            parts=tuple(
                PartitionFiles(start, _end(table, start), count, count * BYTES)
                for start, count in sorted(self.files[table.name].items(), key=repr)
                if count
            ),
            manifests=len(self.committed[table.name]),
            committed=tuple(self.committed[table.name]),
            properties=dict(self.properties[table.name]),
        )

    def fresh(self, table: MetaTable, at: Position, since: int, columns: Sequence[str]) -> pl.DataFrame:
        older = self.store.versions[table.name][:since]
        before = {repr(row) for row in older[-1][1].to_pylist()} if older else set()
        rows = [row for row in self.store.rows(table, at.snapshot_id).to_pylist() if repr(row) not in before]
        return _frame(pa.Table.from_pylist(rows, arrow_schema(table))).select(columns)

    def rows(self, table: MetaTable, at: Position | None, columns: Sequence[str], where: Where) -> pl.DataFrame:
        head = at.snapshot_id if at else None
        frame = _frame(self.store.rows(table, head) if head else arrow_schema(table).empty_table())
        column = table.partition[0] if table.partition else "day"
        if where.tables is not None:
            frame = frame.filter(pl.col("table_uuid").is_in(list(where.tables)))
        if where.ids is not None:
            frame = frame.filter(pl.col("snapshot_id").is_in(list(where.ids)))
        if where.start is not None:
            frame = frame.filter(pl.col(column) >= where.start)
        if where.end is not None:
            frame = frame.filter(pl.col(column) < where.end)
        for name, value in where.equal.items():
            frame = frame.filter(pl.col(name) == value)
        return frame.select(columns)

    def merge(self, table: MetaTable, rows: pl.DataFrame) -> None:
        self._called("merge", table)
        found = {_key(table, row): row for row in _frame(self.store.rows(table)).to_dicts()}
        for row in rows.to_dicts():
            old = found.get(_key(table, row))
            if old is None or _older(old, row):
                found[_key(table, row)] = row
        self._put(table, list(found.values()))
        self.files[table.name].update({_part(table, row) for row in rows.to_dicts()})

    def judge(self, outcomes: pl.DataFrame) -> None:
        self._called("judge", FORECASTS)
        told = {_key(FORECASTS, row): row for row in outcomes.to_dicts()}
        found = _frame(self.store.rows(FORECASTS)).to_dicts()
        self._put(
            FORECASTS,
            [row | told.get(_key(FORECASTS, row), {}) if row["judged_at"] is None else row for row in found],
        )

    def delete(self, keys: pl.DataFrame) -> None:
        self._called("delete", SNAPSHOTS)
        gone = set(keys.select("table_uuid", "snapshot_id").iter_rows())
        kept = [row for row in _frame(self.store.rows(SNAPSHOTS)).to_dicts() if _key(SNAPSHOTS, row) not in gone]
        self._put(SNAPSHOTS, kept)

    def delete_before(self, table: MetaTable, instant: int) -> None:
        self._called("delete_before", table)
        column = table.partition[0] if table.partition else table.key[1]
        self._put(table, [row for row in _frame(self.store.rows(table)).to_dicts() if row[column] >= instant])
        self.files[table.name] = Counter(
            {start: count for start, count in self.files[table.name].items() if start is None or start >= instant}
        )

    def clear_literals(self) -> None:
        self._called("clear_literals", REPORTS)
        rows = _frame(self.store.rows(REPORTS)).to_dicts()
        for row in rows:
            kept = {key: value for key, value in (row["metadata"] or {}).items() if key in METADATA_KEYS}
            row["filter"], row["metadata"] = None, list(kept.items()) or None
            row["metrics"] = list((row["metrics"] or {}).items()) or None
        self._put(REPORTS, rows)

    def set_properties(self, table: MetaTable, properties: Mapping[str, str]) -> None:
        self._called("set_properties", table)
        self.properties[table.name] |= properties

    def compact(self, table: MetaTable, part: PartitionFiles, *, whole: bool) -> None:
        self._called("compact", table)
        files = self.files[table.name]
        for start in files:
            if start == part.start or (start is not None and part.start <= start < part.end):
                files[start] = 1
        self.committed[table.name].append(self.clock.micros)

    def rewrite_manifests(self, table: MetaTable) -> None:
        self._called("rewrite_manifests", table)
        self.committed[table.name].append(self.clock.micros)

    def expire(self, table: MetaTable, older_than: int, keep: int) -> None:
        self._called("expire", table)
        made = self.committed[table.name]
        self.committed[table.name] = [at for at in made[:-keep] if at >= older_than] + made[-keep:]

    def orphans(self, table: MetaTable, older_than: int, *, remove: bool) -> int:
        self._called("orphans", table)
        found = self.orphaned.get(table.name, 0)
        if remove:
            self.orphaned[table.name] = 0
        return found

    def forget(self, table: MetaTable, properties: dict[str, str]) -> None:
        """The table was dropped, and made again with these properties."""
        self.properties[table.name], self.committed[table.name] = properties, []
        self.files[table.name], self._rows[table.name] = Counter(), 0

    def put(self, table: MetaTable, rows: list[dict[str, Any]]) -> None:
        """Rows in the place of all."""
        self._put(table, rows)

    def _put(self, table: MetaTable, rows: list[dict[str, Any]]) -> None:
        self.store.overwrite(table, pa.Table.from_pylist(rows, _schema(table)).cast(arrow_schema(table)))
        self._rows[table.name] = len(rows)
        self.committed[table.name].append(self.clock.micros)


def _schema(table: MetaTable) -> pa.Schema:
    kinds = (pa.field(f.name, pa.int64()) if pa.types.is_timestamp(f.type) else f for f in arrow_schema(table))
    return pa.schema(list(kinds))


def _frame(rows: pa.Table) -> pl.DataFrame:
    frame = pl.DataFrame(rows)
    return frame.with_columns(
        pl.col(name).dt.epoch("us") for name, kind in frame.schema.items() if isinstance(kind, pl.Datetime)
    )


def _key(table: MetaTable, row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in table.key)


def _older(old: dict[str, Any], new: dict[str, Any]) -> bool:
    mine, theirs = ((row["source_sequence"], row["changes_sequence"]) for row in (new, old))
    return mine[0] >= theirs[0] and mine[1] >= theirs[1] and mine != theirs


def _part(table: MetaTable, row: dict[str, Any]) -> int | None:
    """Begin of the row's partition."""
    if table.partition is None or row[table.partition[0]] is None:
        return None
    value = pl.Series([row[table.partition[0]]]).cast(pl.Datetime("us", "UTC"))
    return int(value.dt.truncate("1mo" if table.partition[1] == "month" else "1d").dt.epoch("us")[0])


def _end(table: MetaTable, start: int | None) -> int | None:
    if start is None or table.partition is None:
        return None
    value = pl.Series([start]).cast(pl.Datetime("us", "UTC"))
    return int(value.dt.offset_by("1mo" if table.partition[1] == "month" else "1d").dt.epoch("us")[0])
