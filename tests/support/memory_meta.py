"""Ports MetaStore, Extraction and Lake in memory; the store passes the same contract suite as Spark's."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakes import FixedClock, Lake, fresh_reader
from limnograph.adapters.meta.extraction_rows import column_rows, extracted_table, snapshot_rows
from limnograph.adapters.meta.schema import arrow_schema, arrow_table
from limnograph.adapters.spark.changes_reads import change_facts
from limnograph.adapters.spark.store import KNOWN_COLUMNS, known_rows
from limnograph.domain.errors import Conflict
from limnograph.domain.facts.meta_tables import CHANGES, META_TABLES, SNAPSHOTS, ChangeFact, MetaTable
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.metadata.due import ColumnChoice, DueTable
from limnograph.ports.extraction import ExtractedRows, Extraction
from limnograph.ports.lake import ObservedLake as LakePort
from limnograph.ports.meta_store import (
    NAME_COLUMNS,
    NAME_KINDS,
    STATE_COLUMNS,
    Candidates,
    Key,
    Known,
    KnownRow,
    keys_of,
)
from limnograph.ports.table_reader import TableReader
from limnograph.services.extraction.extract import extract
from limnograph.services.pipeline.appending import MetaAppender
from limnograph.services.pipeline.backoff import BackOff
from limnograph.services.pipeline.passes import BACKFILL_SECONDS, Passes
from limnograph.services.pipeline.repair import Repairs
from limnograph.wiring.observe import SettingsLake


class MemoryMetaStore:
    """Every append is a version; a head names one. `before_append` lets a test act between difference and append."""

    def __init__(self) -> None:
        self.versions: dict[str, list[tuple[int, pa.Table]]] = {}
        self.before_append: Callable[[MetaTable], None] = lambda _table: None
        self.after_append: Callable[[MetaTable], None] = lambda _table: None
        self._ids = itertools.count(1)
        self._foreign: set[int | None] = set()  # commits that may have removed rows
        self._swap = threading.Lock()

    def ensure(self) -> list[str]:
        new = [table.name for table in META_TABLES if table.name not in self.versions]
        self.versions |= {name: [] for name in new}
        return new

    def head(self, table: MetaTable) -> int | None:
        versions = self.versions.get(table.name, [])
        return versions[-1][0] if versions else None

    def rows(self, table: MetaTable, head: int | None = None) -> pa.Table:
        versions = self.versions.get(table.name, [])
        found = next((rows for version, rows in versions if version == head), None) if head else None
        latest = versions[-1][1] if versions else arrow_schema(table).empty_table()
        return found if found is not None else latest

    def known(self, head: int | None, candidates: Sequence[Candidates]) -> Known:
        wanted = {c.table_uuid for c in candidates}
        found = known_rows(self.rows(SNAPSHOTS, head).select(KNOWN_COLUMNS))
        return {series: rows for series, rows in found.items() if series in wanted}

    def damaged(self, head: int | None) -> Known:
        rows = self.rows(SNAPSHOTS, head).select(KNOWN_COLUMNS)
        return known_rows(rows.filter(pc.is_in(rows.column("status"), pa.array(["partial", "unreadable"]))))

    def changes(self, head: int | None) -> list[ChangeFact]:
        return [] if head is None else change_facts(self.rows(CHANGES, head))

    def names(self, head: int | None) -> list[ChangeFact]:
        return [slim(row, NAME_COLUMNS) for row in self.changes(head) if row.kind in NAME_KINDS]

    def states(self, head: int | None, series: Collection[str]) -> list[ChangeFact]:
        rows = self.changes(head)
        return [slim(row, STATE_COLUMNS) for row in rows if row.kind not in NAME_KINDS and row.table_uuid in series]

    def only_added(self, old: int | None, new: int | None, table: MetaTable) -> bool:
        heads = [None, *(head for head, _ in self.versions.get(table.name, []))]
        if old not in heads or new not in heads or heads.index(old) > heads.index(new):
            return False
        return not self._foreign.intersection(heads[heads.index(old) + 1 : heads.index(new) + 1])

    def held(self, table: MetaTable, head: int | None, keys: Collection[Key]) -> set[Key]:
        return set() if head is None else set(keys).intersection(keys_of(table, self.rows(table, head)))

    def append(self, table: MetaTable, rows: pa.Table, head: int | None, run_id: str) -> None:
        self.before_append(table)
        with self._swap:
            if head != self.head(table):
                raise Conflict(f"{table.name}: head moved from {head}")
            both = pa.concat_tables([self.rows(table), rows])
            self.versions[table.name].append((next(self._ids), both))
        self.after_append(table)

    def replace(self, rows: pa.Table) -> None:
        self.before_append(SNAPSHOTS)
        with self._swap:
            old = self.rows(SNAPSHOTS)
            new = {_key(row): row for row in rows.to_pylist()}
            both = [_better(row, new.get(_key(row), row)) for row in old.to_pylist()]
            self.versions[SNAPSHOTS.name].append((next(self._ids), pa.Table.from_pylist(both, old.schema)))
        self.after_append(SNAPSHOTS)

    def overwrite(self, table: MetaTable, rows: pa.Table) -> None:
        """A commit of somebody else."""
        self.versions[table.name].append((next(self._ids), rows))
        self._foreign.add(self.versions[table.name][-1][0])


def slim(row: ChangeFact, columns: Collection[str]) -> ChangeFact:
    """A row with some of its columns."""
    return ChangeFact(**{name: getattr(row, name) for name in columns})


def _key(row: dict[str, Any]) -> tuple[str, int]:
    return row["table_uuid"], row["snapshot_id"]


def _better(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The new row, unless it is the worse one."""
    ranks = [KnownRow(False, status=row["status"], tier=row["tier"]).rank for row in (old, new)]
    return new if ranks[1] >= ranks[0] else old


class LocalExtraction:
    """`extract` in this process, through `reader` where a test gives one. `private`: patterns of private columns."""

    def __init__(self, reader: TableReader | None = None, private: tuple[str, ...] = ()) -> None:
        self._reader, self._private = reader, private

    def run(self, due: Sequence[DueTable]) -> ExtractedRows:
        found = []
        for table in due:
            try:
                found += extract(table, self._reader or fresh_reader(), FixedClock(), self._private)
            except Exception:  # noqa: BLE001 - as in Spark's workers: the driver misses the rows
                continue
        whole = extracted_table(found)
        return ExtractedRows(snapshot_rows(whole), columns=column_rows(whole))


def local_passes(
    lake: Lake,
    store: MemoryMetaStore,
    failpoint: str = "",
    *,
    observed: LakePort | None = None,
    reader: TableReader | None = None,
    extraction: Extraction | None = None,
    clock: FixedClock | None = None,
    backoff: BackOff | None = None,
    progress: Callable[[str], None] = lambda _line: None,
    stop: Callable[[], bool] = lambda: False,
    backfill_seconds: float = BACKFILL_SECONDS,
    columns: Callable[[DueTable], ColumnChoice | None] = lambda _due: ColumnChoice(),
    **sections: object,
) -> Passes:
    """Passes without Spark. `observed` and `extraction` (or just its `reader`) take the place of the real ones."""
    return Passes(
        observed or SettingsLake(lake.settings(**sections)),
        store,
        extraction or LocalExtraction(reader),
        clock or FixedClock(),
        failpoints=Failpoints(failpoint),
        progress=progress,
        backoff=backoff,
        to_arrow=lambda rows: arrow_table(CHANGES, rows),
        stop=stop,
        backfill_seconds=backfill_seconds,
        columns=columns,
    )


def local_repairs(
    observed: LakePort,
    store: MemoryMetaStore,
    *,
    extraction: Extraction | None = None,
    progress: Callable[[str], None] = lambda _line: None,
) -> Repairs:
    """Repairs without Spark."""
    appending = MetaAppender(store, lambda rows: arrow_table(CHANGES, rows), progress)
    return Repairs(observed, store, extraction or LocalExtraction(), appending, progress)


def run_all(passes: Passes) -> int:
    """Passes until nothing is pending; snapshots appended."""
    total = 0
    for _ in range(5):
        report = passes.run()
        total += report.snapshots_appended
        if not report.pending:
            break
    return total
