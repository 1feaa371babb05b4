"""Rows appended to the meta tables since the head that the hot index holds, ready to be merged into its tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.time import Micros
from limnograph.ports.hot_source import Fresh
from limnograph.ports.query_engine import MetaHead, MetaQuery, QueryEngine
from limnograph.services.lake.columns import AT, ID, Sheet, joined
from limnograph.services.lake.lake import Lake
from limnograph.services.lake.loading import CHANGE_COLUMNS, CHANGE_KINDS, IS_HELD_PROPERTY, change_facts
from limnograph.services.lake.main_log import is_move, move_of
from limnograph.services.lake.sheets import ROW_COLUMNS, names_by_id, newest_of, passes_of, rows_wanted, sheets_of
from limnograph.services.lake.table import HotTable, LastSeen


class ArrivedRows(NamedTuple):
    """New rows by table. `passes`: earliest observation of each pass, by its run."""

    rows: dict[str, Sheet]
    seen: dict[str, LastSeen]
    changes: dict[str, list[ChangeFact]]
    nameless: tuple[ChangeFact, ...]
    passes: dict[str, Micros]

    @property
    def uuids(self) -> set[str]:
        """Tables with new facts."""
        return {*self.rows, *self.changes}

    def put(self, table: HotTable) -> HotTable:
        """A table with its new rows. Costs O(new rows), see `services/lake/rows.py`."""
        table = table.with_changes(self.changes.get(table.uuid, ()))
        return table.with_durable(self.rows.get(table.uuid), self.seen.get(table.uuid, LastSeen()))


def arrived(fresh: Fresh, engine: QueryEngine, old: MetaHead, floor: Micros, lake: Lake) -> ArrivedRows | None:
    """Rows of the window and changes that were appended since `old`; None if they cannot be determined. Raises
    SourceError.
    """
    rows = MetaQuery(table="snapshots", columns=ROW_COLUMNS)
    changes = MetaQuery(table="changes", columns=CHANGE_COLUMNS, kinds=(*CHANGE_KINDS, "property"))
    new_rows = fresh.fresh(rows, old.snapshots or 0)
    new_changes = fresh.fresh(changes, old.changes or 0)
    if new_rows is None or new_changes is None:
        return None
    new_changes = new_changes.filter((pl.col("kind") != "property") | IS_HELD_PROPERTY)
    by_table: dict[str, list[ChangeFact]] = {}
    nameless = []
    for change in change_facts(new_changes):
        if change.table_uuid is None:
            nameless.append(change)
        else:
            by_table.setdefault(change.table_uuid, []).append(change)
    sheets = _in_the_window(dict(sheets_of(new_rows)), floor, by_table, lake)
    for uuid, sheet in sheets_of(rows_wanted(engine, _missing(by_table, sheets, lake))):
        sheets[uuid] = joined([sheet, sheets[uuid]]) if uuid in sheets else sheet
    newest = newest_of(new_rows)
    names = names_by_id(
        engine, {(uuid, found) for uuid, new in newest.items() for found in new.ids if _unnamed(lake, uuid)}
    )
    seen = {uuid: new.seen.and_also(names[uuid]) if uuid in names else new.seen for uuid, new in newest.items()}
    return ArrivedRows(sheets, seen, by_table, tuple(nameless), passes_of(new_rows, new_changes))


def _in_the_window(
    sheets: dict[str, Sheet], floor: Micros, changes: dict[str, list[ChangeFact]], lake: Lake
) -> dict[str, Sheet]:
    """Rows of the window, plus older ones that are in memory or that main moves to."""
    found = {}
    for uuid, sheet in sheets.items():
        table, inside = lake.tables.get(uuid), sheet.numbers[AT] >= floor
        if not inside.all():
            known = [move_of(change)[1] for change in changes.get(uuid, ()) if is_move(change)]
            if table is not None:
                known += table.rows.column("snapshot_id").tolist() + table.log.ids().tolist()
            inside |= np.isin(sheet.numbers[ID], known)
        if inside.any():
            found[uuid] = sheet if inside.all() else sheet.take(inside)
    return found


def _unnamed(lake: Lake, uuid: str) -> bool:
    """Whether the name must come from the rows. The latest metadata file is read at the next complete read."""
    table = lake.tables.get(uuid)
    return table is None or not any(change.kind == "named" for change in table.changes)


def _missing(changes: dict[str, list[ChangeFact]], sheets: dict[str, Sheet], lake: Lake) -> set[tuple[str, int]]:
    """Snapshots that main moved to and that are neither in memory nor among the new rows: older than the window."""
    found = set()
    for uuid, group in changes.items():
        table, sheet = lake.tables.get(uuid), sheets.get(uuid)
        ids = {move_of(change)[1] for change in group if is_move(change)}
        if table is not None:
            ids -= set(np.intersect1d(table.rows.column("snapshot_id"), list(ids)).tolist())
        if sheet is not None:
            ids -= set(sheet.numbers[ID].tolist())
        found |= {(uuid, snapshot_id) for snapshot_id in ids}
    return found
