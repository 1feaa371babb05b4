"""Read facts of a span of time out of an engine, with what must be carried in from before it.

Carry-in: for every table the newest entry of main's log before the span and the snapshots that main pointed at, so
that the state is known at the span's first instant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar

import msgspec
import polars as pl

from limnograph.domain.facts import CHANGE_KINDS, SNAPSHOTS, ChangeFact, SnapshotFact
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.history import main_log
from limnograph.services.lake import Facts

_COLD_ONLY = {"summary", "partitions", "partitions_scope", "partitions_base", "summary_mismatch", "manifest_list"}
HOT_COLUMNS = tuple(column.name for column in SNAPSHOTS.columns if column.name not in _COLD_ONLY)
"""What pages and lanes need; the rest comes by id when a commit is opened."""


def load(
    engine: QueryEngine,
    start: int,
    table_uuids: tuple[str, ...] = (),
    known: Facts = Facts([], []),  # noqa: B008
) -> Facts:
    """Facts from `start` (epoch microseconds) on, of all tables or some. Raises SourceError.

    A fact that is among the `known` ones comes back as the same object, which saves making it again.
    """
    changes = _changes(engine, start, table_uuids, {_change_key(change): change for change in known.changes})
    recent = MetaQuery(table="snapshots", columns=HOT_COLUMNS, table_uuids=table_uuids, start=start)
    rows = _reused(engine.select(recent), _ROW_KEY, {_row_key(row): row for row in known.snapshots}, snapshot_facts)
    have = {(row.table_uuid, row.snapshot_id) for row in rows}
    missing = {(uuid, found) for uuid, found in _pointed_at(changes, start) if (uuid, found) not in have}
    return Facts([*_by_id(engine, missing), *_oldest_resort(engine, start, table_uuids, changes), *rows], changes)


def rows_by_id(engine: QueryEngine, table_uuid: str, snapshot_ids: tuple[int, ...]) -> list[SnapshotFact]:
    """Whole rows, all columns."""
    if not snapshot_ids:
        return []
    query = MetaQuery(table="snapshots", table_uuids=(table_uuid,), snapshot_ids=snapshot_ids)
    return snapshot_facts(engine.select(query))


def snapshot_facts(frame: pl.DataFrame) -> list[SnapshotFact]:
    """Rows of a frame with some or all columns of `snapshots`."""
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


_ROW_KEY = ("table_uuid", "snapshot_id", "observed_at", "run_id")
_CHANGE_KEY = ("table_uuid", "catalog", "namespace", "table", "kind", "subject", "to_value", "at", "observed_at")
_row_key, _change_key = attrgetter(*_ROW_KEY), attrgetter(*_CHANGE_KEY)
_F = TypeVar("_F", SnapshotFact, ChangeFact)


def _reused(
    frame: pl.DataFrame, key: tuple[str, ...], known: dict[Any, _F], make: Callable[[pl.DataFrame], list[_F]]
) -> list[_F]:
    """Facts of a frame in its order; those with a known key are the known objects."""
    keys = list(frame.select(key).iter_rows())
    new = [index for index, found in enumerate(keys) if found not in known]
    made = dict(zip(new, make(frame[new]), strict=True))
    return [made[index] if index in made else known[found] for index, found in enumerate(keys)]


def _changes(
    engine: QueryEngine, start: int, table_uuids: tuple[str, ...], known: dict[Any, ChangeFact]
) -> list[ChangeFact]:
    """All changes of the span; before it every state but main's log, of which only the newest entry a table."""
    states = tuple(kind for kind in CHANGE_KINDS if kind != "ref")
    before = engine.select(MetaQuery(table="changes", table_uuids=table_uuids, kinds=states, end=start))
    log = engine.select(MetaQuery(table="changes", table_uuids=table_uuids, kinds=("ref",), end=start))
    newest = log.group_by("table_uuid", "subject", maintain_order=True).last().select(log.columns)
    after = engine.select(MetaQuery(table="changes", table_uuids=table_uuids, start=start))
    frames = (before, newest, after)
    return [change for frame in frames for change in _reused(frame, _CHANGE_KEY, known, change_facts)]


def _pointed_at(changes: list[ChangeFact], start: int) -> set[tuple[str, int]]:
    """Snapshots that main pointed at from `start` on, the one at `start` included."""
    logs: dict[str, list[ChangeFact]] = defaultdict(list)
    for change in changes:
        if change.table_uuid is not None and change.kind == "ref":
            logs[change.table_uuid].append(change)
    found: set[tuple[str, int]] = set()
    for uuid, group in logs.items():
        log = main_log(group)
        earlier = [entry for entry in log if entry[0] < start][-1:]
        found.update((uuid, snapshot_id) for _, snapshot_id in [*earlier, *(e for e in log if e[0] >= start)])
    return found


def _by_id(engine: QueryEngine, wanted: set[tuple[str, int]]) -> list[SnapshotFact]:
    if not wanted:
        return []
    query = MetaQuery(
        table="snapshots",
        columns=HOT_COLUMNS,
        table_uuids=tuple(sorted({uuid for uuid, _ in wanted})),
        snapshot_ids=tuple(sorted({snapshot_id for _, snapshot_id in wanted})),
    )
    rows = snapshot_facts(engine.select(query))
    return [row for row in rows if (row.table_uuid, row.snapshot_id) in wanted]


def _oldest_resort(
    engine: QueryEngine, start: int, table_uuids: tuple[str, ...], changes: list[ChangeFact]
) -> list[SnapshotFact]:
    """Carry-in of tables whose log says nothing: their newest row on main before the span."""
    logged = {c.table_uuid for c in changes if c.kind == "ref" and c.subject == "main" and c.at < start}
    columns = ("table_uuid", "snapshot_id", "committed_at", "on_main")
    thin = engine.select(MetaQuery(table="snapshots", columns=columns, table_uuids=table_uuids, end=start))
    newest = thin.filter(pl.col("on_main") & ~pl.col("table_uuid").is_in(list(logged - {None})))
    newest = newest.group_by("table_uuid", maintain_order=True).last()
    return _by_id(engine, set(zip(newest["table_uuid"], newest["snapshot_id"], strict=True)))
