"""What reports of reads are compared with in a table's history: its names, its snapshots' files, main's moves."""

from __future__ import annotations

import polars as pl

from limnograph.analysis.behind import MainMoves
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.services.lake.columns import NULL
from limnograph.services.lake.history import History, standing_names

_NEVER = Micros(2**62)


def names_of(history: History) -> dict[TableName, Micros]:
    """The names of a table, each with the instant at which it lost it: afterwards another table may have it."""
    found = {history.name: _NEVER}
    for change in standing_names(history.changes).values():
        name = TableName(change.catalog or "", change.namespace or "", change.table or "")
        found[name] = change.at if change.kind == "dropped" else _NEVER
    return found


def live_files(history: History) -> pl.DataFrame:
    """`snapshot_id` and `live_files` of the table's snapshots whose number of data files is known."""
    rows = pl.DataFrame(
        {"snapshot_id": history.numbers("snapshot_id"), "live_files": history.numbers("total_data_files")},
        schema={"snapshot_id": pl.Int64, "live_files": pl.Int64},
    )
    return rows.filter(pl.col("live_files") != NULL).unique("snapshot_id")


def main_moves(history: History) -> MainMoves:
    """Main's moves, for how far a read was behind."""
    return MainMoves(history.main_times, history.main_ids)


def kept_snapshots(history: History) -> frozenset[str]:
    """Snapshots that a branch or tag is or was at: they are read on purpose."""
    return frozenset(change.to_value for change in history.of_kind("ref") if change.to_value is not None)
