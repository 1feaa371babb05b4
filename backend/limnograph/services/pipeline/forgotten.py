"""What a rebuild records about history that can no longer be read: gaps of expired snapshots, and series known from
rows. Pure except for reading the lake. Does not decide what is rebuilt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import polars as pl

from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.ids import TableName, normalise_location
from limnograph.domain.metadata.table import MAIN, Snapshot
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.lake import ObservedLake
from limnograph.services.pipeline.changes import ObservedTable
from limnograph.services.pipeline.gaps import REBUILD
from limnograph.services.pipeline.ledger import Ledger
from limnograph.services.pipeline.survey import observed_tables, surveys

_METADATA = re.compile(r"(.+)/metadata/[^/]+$")


def forgotten_gaps(lake: ObservedLake, told: Sequence[ChangeFact], now: Micros) -> list[ChangeFact]:
    """A `gap` for every series of which the lake has fewer snapshots than it once had. Raises SourceError."""
    listing = lake.listing()
    ledger = Ledger(told)
    moves: dict[str | None, set[str | None]] = {}
    for row in told:
        if row.kind == "ref" and row.subject == MAIN:
            moves.setdefault(row.table_uuid, set()).add(row.to_value)
    gaps: list[ChangeFact] = []
    for found in surveys(lake, listing):
        rows = (
            _gap(table, ledger, moves.get(table.uuid, set()), now) for table in observed_tables(found, lake, ledger)
        )
        gaps += [row for row in rows if row is not None]
    return gaps


def missed(row: ChangeFact) -> int:
    """Number of snapshots in a `gap`; 0 if it is unknown."""
    return int(msgspec.json.decode(row.detail or "{}").get("missed_snapshots") or 0)


def _gap(table: ObservedTable, ledger: Ledger, moves: set[str | None], now: Micros) -> ChangeFact | None:
    first = ledger.first_seen(table.uuid)
    oldest = next(iter(table.metadata.ordered), None)
    if first is None or oldest is None:
        return None
    count = max(_by_number(table, first), len(moves - {str(i) for i in table.metadata.snapshots}))
    if not count:
        return None
    bounds = {"missed_snapshots": count, "first_new": _place(oldest), "reason": "rebuild"}
    return ChangeFact(
        table_uuid=table.uuid,
        catalog=table.name.catalog,
        namespace=table.name.namespace,
        table=table.name.table,
        kind="gap",
        subject=f"{REBUILD}{oldest.snapshot_id}",
        to_value=str(oldest.snapshot_id),
        not_before=first.at,
        at=now if oldest.committed_at is None else oldest.committed_at,
        detail=msgspec.json.encode(bounds).decode(),
        metadata_location=table.metadata.metadata_location,
    )


def _by_number(table: ObservedTable, first: ChangeFact) -> int:
    """The number of sequence numbers since the floor of our history that no snapshot has. Only Iceberg numbers every
    commit.
    """
    numbers = {s.sequence_number for s in table.metadata.snapshots.values() if s.sequence_number}
    numbered = msgspec.json.decode(first.detail or "{}").get("floor") == "sequence_number"
    if table.metadata.format != "iceberg" or not numbered or not numbers or not (first.to_value or "").isdecimal():
        return 0
    floor = max(1, int(first.to_value or 0))
    return max(0, max(numbers) - floor + 1 - sum(number >= floor for number in numbers))


def _place(snapshot: Snapshot) -> dict[str, Any]:
    return {"snapshot_id": str(snapshot.snapshot_id), "committed_at": snapshot.committed_at}


def known_series(rows: pl.DataFrame) -> Iterator[ChangeFact]:
    """Rows `first_seen` and `named` of the series in `snapshots`, so that these keep their ids and floors."""
    rows = rows.sort("observed_at", "committed_at", "snapshot_id", nulls_last=False)
    for (series,), mine in rows.group_by("table_uuid", maintain_order=True):
        names = mine.group_by("catalog", "namespace", "table", maintain_order=True).agg(
            pl.col("committed_at").min(), pl.col("metadata_location").last()
        )
        yield _first_seen(str(series), mine)
        for name in names.iter_rows(named=True):
            yield _row(str(series), name, "named", Micros(name["committed_at"] or 0))


def _first_seen(series: str, rows: pl.DataFrame) -> ChangeFact:
    newest = rows.row(-1, named=True)
    numbered = newest["format"] != "iceberg" or newest["format_version"] != 1
    kind = "sequence_number" if numbered else "committed_at"
    detail: dict[str, Any] = {"floor": kind}
    if place := _METADATA.match(newest["metadata_location"] or ""):
        detail["location"] = normalise_location(place[1])
    at = rows["observed_at"].drop_nulls().to_list()
    floor = min(rows[kind].drop_nulls().to_list(), default=0)
    return _row(series, newest, "first_seen", min(map(Micros, at), default=EPOCH), value=str(floor), detail=detail)


def _row(
    series: str,
    name: dict[str, Any],
    kind: str,
    at: Micros,
    *,
    value: str | None = None,
    detail: dict[str, Any] | None = None,
) -> ChangeFact:
    text = str(TableName(name["catalog"] or "", name["namespace"] or "", name["table"] or ""))
    return ChangeFact(
        table_uuid=series,
        catalog=name["catalog"],
        namespace=name["namespace"],
        table=name["table"],
        kind=kind,
        subject=text,
        to_value=value or text,
        at=at,
        detail=None if detail is None else msgspec.json.encode(detail).decode(),
        metadata_location=name["metadata_location"],
    )
