"""Reads the tables of a span of time from an engine straight into packed columns, with the state at its beginning.

Carry-in: for every table the newest entry of main's log before the span and the snapshots that main pointed at, so that
the state is known at the span's first instant. No Python object is created per row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl

from limnograph.analysis.column_names import PRIVATE_PROPERTY
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.finding_limits import THRESHOLD_PROPERTIES
from limnograph.domain.time import Micros
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.columns import AT, HOT_COLUMNS, ID, Sheet
from limnograph.services.lake.main_log import MainLog, log_of_sorted
from limnograph.services.lake.rows import PackedRows, packed
from limnograph.services.lake.sheets import add_passes, names_by_id, newest_of, rows_wanted, runs_of, sheets_of
from limnograph.services.lake.table import HotTable, LastSeen, table_of

CHANGE_KINDS = (
    "schema",
    "spec",
    "sort_order",
    "ref",
    "named",
    "dropped",
    "first_seen",
    "unreadable",
    "retained",
    "gap",
)
"""Changes that pages show. Of the others, only the properties that rules and pages read."""
WRITE_MODES = ("write.delete.mode", "write.update.mode", "write.merge.mode")
"""Properties that say how an operation changes rows of an Iceberg table."""
IS_READ_PROPERTY = pl.col("subject").is_in((*THRESHOLD_PROPERTIES, *WRITE_MODES, PRIVATE_PROPERTY))
CHANGE_COLUMNS = (
    *("table_uuid", "catalog", "namespace", "table", "kind", "subject", "from_value", "to_value", "at", "detail"),
    *("observed_at", "run_id"),
)
_STATES = tuple(kind for kind in CHANGE_KINDS if kind != "ref")
_LOG_COLUMNS = ("table_uuid", "subject", "from_value", "to_value", "at", "observed_at", "run_id")
_KEYS = frozenset(("snapshot_id", "committed_at", "sequence_number", "parent_id", "on_main"))
"""Read for every row: the sort key, and the columns that decide whether a row is on main."""


class LoadedSpan(NamedTuple):
    """Tables of a span. `passes`: earliest observation of each pass, by its run."""

    tables: dict[str, HotTable]
    nameless: tuple[ChangeFact, ...]
    passes: dict[str, Micros]


def load(
    engine: QueryEngine,
    start: Micros,
    table_uuids: tuple[str, ...] = (),
    cuts: Sequence[Micros] = (),
    *,
    unordered: Callable[[MetaQuery], pl.DataFrame] | None = None,
    columns: tuple[str, ...] = HOT_COLUMNS,
    end: Micros | None = None,
) -> LoadedSpan:
    """All tables or some, from `start` (epoch microseconds) until `end`, if set. Raises SourceError.

    `cuts`: instants between the pieces that are read one by one, so that only one piece at a time is in memory unpacked
    `unordered`: a faster read
    `columns`: the HOT_COLUMNS that rows of the span have besides their keys
    """
    reading = _LoadProgress(engine, start, table_uuids, unordered or engine.select, columns)
    for first, last in zip([start, *cuts], [*cuts, end], strict=True):
        reading.rows(first, last)
        reading.log(first, last)
    reading.older()
    return reading.loaded()


class _LoadProgress:
    """What one load has read so far."""

    def __init__(
        self,
        engine: QueryEngine,
        start: Micros,
        table_uuids: tuple[str, ...],
        unordered: Callable[[MetaQuery], pl.DataFrame],
        columns: tuple[str, ...],
    ) -> None:
        self._engine, self._start, self._uuids, self._unordered = engine, start, table_uuids, unordered
        kept = tuple(name for name in HOT_COLUMNS if name in {*columns, *_KEYS})
        self._columns = ("table_uuid", *kept, "observed_at", "run_id", "source")
        self._blocks: dict[str, PackedRows] = defaultdict(PackedRows)
        self._logs: dict[str, MainLog] = defaultdict(MainLog)
        self._seen: dict[str, LastSeen] = defaultdict(LastSeen)
        self._newest: dict[str, set[int]] = defaultdict(set)
        self._changes: dict[str | None, list[ChangeFact]] = defaultdict(list)
        self._passes: dict[str, Micros] = {}

    def rows(self, start: Micros, end: Micros | None) -> None:
        """Rows committed in `[start, end)`."""
        query = MetaQuery(table="snapshots", columns=self._columns, table_uuids=self._uuids, start=start, end=end)
        frame = self._unordered(query)
        add_passes(self._passes, frame)
        for uuid, found in newest_of(frame).items():
            self._seen[uuid] = self._seen[uuid].and_also(found.seen)
            self._newest[uuid] |= found.ids
        for uuid, sheet in sheets_of(frame):
            rows = self._blocks[uuid]
            ids = np.sort(sheet.numbers[ID])
            if (ids[1:] == ids[:-1]).any():
                self._blocks[uuid] = rows.put(sheet, wins=True).rows
            else:
                self._blocks[uuid] = rows._replace(blocks=(*rows.blocks, packed(sheet)))

    def log(self, start: Micros, end: Micros | None) -> None:
        """Main's moves in `[start, end)`; other branches and tags as changes."""
        query = MetaQuery(
            table="changes", columns=_LOG_COLUMNS, table_uuids=self._uuids, kinds=("ref",), start=start, end=end
        )
        frame = self._unordered(query)
        add_passes(self._passes, frame)
        moves = self._moves(frame)
        if moves.height < frame.height:
            self._keep(msgspec.structs.replace(query, columns=CHANGE_COLUMNS), pl.lit(value=True))

    def older(self) -> None:
        """States from before the span and in it; of the log before it, the newest entry of every table and name."""
        states = MetaQuery(table="changes", columns=CHANGE_COLUMNS, table_uuids=self._uuids, kinds=_STATES)
        self._keep(states, None)
        self._keep(msgspec.structs.replace(states, kinds=("property",)), IS_READ_PROPERTY)
        query = MetaQuery(
            table="changes", columns=_LOG_COLUMNS, table_uuids=self._uuids, kinds=("ref",), end=self._start
        )
        frame = self._engine.select(query)
        newest = frame.filter(pl.col("at") == pl.col("at").max().over("table_uuid", "subject"))
        add_passes(self._passes, newest)
        moves = self._moves(newest, front=True)
        if moves.height < newest.height:
            self._keep(msgspec.structs.replace(query, columns=CHANGE_COLUMNS), _newest_of_its_name())
        wanted = self._pointed_at()
        wanted |= self._on_main_before(set(moves["table_uuid"]))
        carried = rows_wanted(self._engine, wanted)
        add_passes(self._passes, carried)
        for uuid, sheet in sheets_of(carried):
            self._blocks[uuid] = _carried_in(self._blocks[uuid], sheet)
            self._newest[uuid].add(int(sheet.numbers[ID][-1]))
        self._name()

    def loaded(self) -> LoadedSpan:
        """Everything, by table."""
        nameless = tuple(self._changes.pop(None, ()))
        tables = {
            uuid: table_of(uuid, self._blocks[uuid], self._logs[uuid], self._changes[uuid], self._seen[uuid])
            for uuid in [*dict.fromkeys([*self._blocks, *self._logs, *self._changes])]
            if uuid is not None
        }
        return LoadedSpan(tables, nameless, self._passes)

    def _keep(self, query: MetaQuery, chosen: pl.Expr | None) -> None:
        """Store changes as facts, without main's moves."""
        frame = self._engine.select(query)
        add_passes(self._passes, frame)
        if chosen is not None:
            frame = frame.filter(chosen & ~_MOVE)
        for change in change_facts(frame):
            self._changes[change.table_uuid].append(change)

    def _moves(self, frame: pl.DataFrame, *, front: bool = False) -> pl.DataFrame:
        """Add main's moves in a frame to the logs, and return those moves."""
        moves = frame.filter(_MOVE).with_columns(pl.col("to_value").cast(pl.Int64).alias("to"))
        moves = moves.sort("table_uuid", "at", maintain_order=True)
        times, ids, first = moves["at"].to_numpy(), moves["to"].to_numpy(), 0
        for uuid, count in runs_of(moves["table_uuid"]):
            own = slice(first, first + count)
            if count == 1 or (times[own][1:] > times[own][:-1]).all():
                part = log_of_sorted(times[own], ids[own])
            else:
                before = (int(v) if v is not None and v.isdecimal() else None for v in moves["from_value"][own])
                part = MainLog().put(zip(times[own].tolist(), ids[own].tolist(), before, strict=True))
            blocks = self._logs[uuid].blocks
            self._logs[uuid] = MainLog((*part.trimmed(self._start).blocks, *blocks) if front else blocks + part.blocks)
            first += count
        return moves

    def _pointed_at(self) -> set[tuple[str, int]]:
        """Snapshots that main pointed at since the start of the span and that have no row in it."""
        found: set[tuple[str, int]] = set()
        for uuid, log in self._logs.items():
            missing = np.setdiff1d(log.ids(), self._blocks[uuid].column("snapshot_id"))
            found.update((uuid, snapshot_id) for snapshot_id in missing.tolist())
        return found

    def _on_main_before(self, logged: set[str]) -> set[tuple[str, int]]:
        """The newest row on main before the span, for tables whose log does not cover that time."""
        columns = ("table_uuid", "snapshot_id", "committed_at", "on_main")
        uuids = self._uuids
        if any(change.kind == "first_seen" for group in self._changes.values() for change in group):
            # Then every table has one: no row is appended before it. Only tables without a log need their rows.
            uuids = tuple(sorted({uuid for uuid in self._changes if uuid is not None} - logged))
            if not uuids:
                return set()
        thin = self._engine.select(MetaQuery(table="snapshots", columns=columns, table_uuids=uuids, end=self._start))
        newest = thin.filter(pl.col("on_main") & ~pl.col("table_uuid").is_in(list(logged)))
        newest = newest.group_by("table_uuid", maintain_order=True).last()
        return set(zip(newest["table_uuid"], newest["snapshot_id"], strict=True))

    def _name(self) -> None:
        """Names and metadata locations from the latest rows."""
        wanted = {(uuid, snapshot_id) for uuid, ids in self._newest.items() for snapshot_id in ids}
        for uuid, seen in names_by_id(self._engine, wanted).items():
            self._seen[uuid] = self._seen[uuid].and_also(seen)


def _carried_in(rows: PackedRows, sheet: Sheet) -> PackedRows:
    """Rows of a span with those that main pointed at. A commit that arrived after the rows were read and before the log
    was is not older than the span.
    """
    if rows.blocks and sheet.numbers[AT][-1] >= rows.blocks[0].column(AT)[0]:
        return rows.put(sheet, wins=True).rows
    return rows._replace(blocks=(packed(sheet), *rows.blocks))


_ID = (
    pl.col("to_value").str.contains(r"^-?[0-9]{1,19}$") & pl.col("to_value").cast(pl.Int64, strict=False).is_not_null()
)
_MOVE = (pl.col("subject") == "main").fill_null(value=False) & _ID.fill_null(value=False)


def _newest_of_its_name() -> pl.Expr:
    return pl.col("at") == pl.col("at").max().over("table_uuid", "subject")


def rows_by_id(engine: QueryEngine, table_uuid: str, snapshot_ids: tuple[int, ...]) -> list[SnapshotFact]:
    """Whole rows, all columns."""
    if not snapshot_ids:
        return []
    query = MetaQuery(table="snapshots", table_uuids=(table_uuid,), snapshot_ids=snapshot_ids)
    return snapshot_facts(engine.select(query))


def snapshot_facts(frame: pl.DataFrame) -> list[SnapshotFact]:
    """Rows of a frame that has some or all columns of `snapshots`."""
    return msgspec.convert(_rows(frame), list[SnapshotFact])


def change_facts(frame: pl.DataFrame) -> list[ChangeFact]:
    """Rows of a frame of `changes`."""
    return msgspec.convert(_rows(frame), list[ChangeFact])


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    rows = frame.to_dicts()
    if "summary" in frame.columns:
        for row in rows:
            if row["summary"] is not None:
                row["summary"] = {pair["key"]: pair["value"] for pair in row["summary"]}
    return rows
