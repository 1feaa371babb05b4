"""Splits frames of rows into sheets by table, and derives names, latest rows and passes from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.columns import HOT_COLUMNS, Sheet, sheet_of_frame
from limnograph.services.lake.table import LastSeen

ROW_COLUMNS = ("table_uuid", *HOT_COLUMNS, "observed_at", "run_id", "source")
_NAMES = ("table_uuid", "snapshot_id", "catalog", "namespace", "table", "metadata_location")
_AT_ONCE = 131_072
"""Rows held as 64-bit numbers at the same time: 45 MB."""


class NewestRows(NamedTuple):
    """Ids of a table's last observed and last committed rows, and when it was last observed."""

    ids: set[int]
    seen: LastSeen


def newest_of(frame: pl.DataFrame) -> dict[str, NewestRows]:
    """For every table in a frame that has the ROW_COLUMNS."""
    thin = frame.select("table_uuid", "snapshot_id", "observed_at", "committed_at")
    best = thin.group_by("table_uuid").agg(
        pl.col("observed_at").max(),
        pl.col("snapshot_id").get(pl.col("observed_at").fill_null(0).arg_max()).alias("named"),
        pl.col("snapshot_id").get(pl.col("committed_at").fill_null(0).arg_max()).alias("located"),
    )
    return {
        uuid: NewestRows({named, located}, LastSeen(observed)) for uuid, observed, named, located in best.iter_rows()
    }


def names_by_id(engine: QueryEngine, wanted: set[tuple[str, int]]) -> dict[str, LastSeen]:
    """The table names and metadata locations in some rows."""
    found: dict[str, LastSeen] = defaultdict(LastSeen)
    if not wanted:
        return found
    frame = _by_id(engine, wanted, (*_NAMES, "observed_at", "committed_at"))
    for uuid, snapshot_id, catalog, namespace, table, location, observed, committed in frame.iter_rows():
        if (uuid, snapshot_id) in wanted:
            name = TableName(catalog, namespace or "", table) if catalog and table else None
            named_at, located = (observed or 0) if name else -1, -1 if committed is None else committed
            found[uuid] = found[uuid].and_also(LastSeen(observed, name, Micros(named_at), location, Micros(located)))
    return found


def rows_wanted(engine: QueryEngine, wanted: set[tuple[str, int]]) -> pl.DataFrame:
    """Those of the rows that exist, each once, with the ROW_COLUMNS."""
    query = MetaQuery(table="snapshots", columns=ROW_COLUMNS, limit=0)
    frame = _by_id(engine, wanted, ROW_COLUMNS) if wanted else engine.select(query)
    chosen = [key in wanted for key in zip(frame["table_uuid"], frame["snapshot_id"], strict=True)]
    return frame.filter(pl.Series(chosen, dtype=pl.Boolean)).unique(
        ["table_uuid", "snapshot_id"], keep="last", maintain_order=True
    )


def _by_id(engine: QueryEngine, wanted: set[tuple[str, int]], columns: tuple[str, ...]) -> pl.DataFrame:
    uuids, ids = sorted({uuid for uuid, _ in wanted}), sorted({snapshot_id for _, snapshot_id in wanted})
    query = MetaQuery(table="snapshots", columns=columns, table_uuids=tuple(uuids), snapshot_ids=tuple(ids))
    return engine.select(query)


def sheets_of(frame: pl.DataFrame) -> Iterator[tuple[str, Sheet]]:
    """Rows of a frame with the ROW_COLUMNS by table, in commit order; a few tables at a time."""
    keys = ("table_uuid", "committed_at", "sequence_number", "snapshot_id")
    order: pl.Series | None = frame.select(pl.arg_sort_by(*keys, nulls_last=False)).to_series()
    if order is not None and (order.diff().drop_nulls() == 1).all():
        order = None  # already in this order, as in compacted files: nothing has to be moved
    groups = runs_of(frame["table_uuid"] if order is None else frame["table_uuid"].gather(order))
    first = 0
    while groups:
        taken, count = 0, 0
        while taken < len(groups) and (count == 0 or count + groups[taken][1] <= _AT_ONCE):
            count += groups[taken][1]
            taken += 1
        part = frame.slice(first, count) if order is None else frame[order[first : first + count]]
        sheet, start = sheet_of_frame(part), 0
        for uuid, own in groups[:taken]:
            yield uuid, Sheet(sheet.numbers[:, start : start + own], sheet.words)
            start += own
        first, groups = first + count, groups[taken:]


def runs_of(uuids: pl.Series) -> list[tuple[str, int]]:
    """Runs of equal values, with their lengths."""
    runs = uuids.rle().struct.unnest()
    return list(zip(runs["value"].to_list(), runs["len"].to_list(), strict=True))


def add_passes(passes: dict[str, Micros], frame: pl.DataFrame) -> None:
    """Add the earliest observation of every pass that has rows in a frame; its later rows were read after that. A
    repair is no pass: it reads the tables whose rows it replaces, and no other.
    """
    passed = pl.col("source").ne_missing("backfill") if "source" in frame.columns else pl.lit(value=True)
    seen = frame.filter(pl.col("observed_at").is_not_null() & passed).select("run_id", "observed_at")
    for name, at in seen.group_by("run_id").agg(pl.col("observed_at").min()).iter_rows():
        if name is not None:
            passes[name] = min(passes.get(name, at), at)
    for at in seen.filter(pl.col("run_id").is_null())["observed_at"].unique():
        passes.setdefault(str(at), at)


def passes_of(*frames: pl.DataFrame) -> dict[str, Micros]:
    """The earliest observation of each pass that has rows in some frames."""
    passes: dict[str, Micros] = {}
    for frame in frames:
        add_passes(passes, frame)
    return passes
