"""A MetaQuery as Trino SQL: names quoted, values bound, the table pinned to one snapshot."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, NamedTuple

from limnograph.adapters.embedded import frames
from limnograph.ports.query_engine import MetaQuery

MAX_LISTED = 500
"""Maximum values of one `IN`; more are not worth planning: rows are filtered after reading."""

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Statement(NamedTuple):
    """SQL text with `?` for each parameter."""

    sql: str
    parameters: list[Any]


def select(query: MetaQuery, columns: Sequence[str], place: Sequence[str], snapshot: int) -> Statement:
    """Rows of the table in `place` (catalog, schema) as of a snapshot; `columns` are those that the table has.

    Conditions that `frames.answer` applies again may be omitted; the limit is included only if none is omitted.
    """
    conditions, parameters, whole = _conditions(query, set(columns))
    listed = ", ".join(map(quoted, columns))
    source = ".".join(map(quoted, (*place, query.table)))
    sql = f"SELECT {listed} FROM {source} FOR VERSION AS OF {int(snapshot)}"  # noqa: S608  # names are ours, quoted
    if conditions:
        sql += f" WHERE {' AND '.join(conditions)}"
    if query.limit is not None and whole:
        keys = (frames.TIME_COLUMN[query.table], *frames.TIE[query.table])
        ordered = ", ".join(f"{quoted(key)} NULLS FIRST" for key in keys if key in columns)
        sql += f" ORDER BY {ordered} LIMIT {int(query.limit)}"
    return Statement(sql, parameters)


def _conditions(query: MetaQuery, columns: set[str]) -> tuple[list[str], list[Any], bool]:
    conditions: list[str] = []
    parameters: list[Any] = []
    whole = True
    at = frames.TIME_COLUMN[query.table]
    observed = query.observed_from if query.table in frames.OBSERVED else None
    for column, sign, micros in ((at, ">=", query.start), (at, "<", query.end), ("observed_at", ">=", observed)):
        if micros is not None:
            instant = _instant(micros)
            if instant is None or column not in columns:
                whole = False
                continue
            conditions.append(f"{quoted(column)} {sign} ?")
            parameters.append(instant)
    for column, values, applies in (
        ("table_uuid", query.table_uuids, True),
        ("snapshot_id", query.snapshot_ids, query.table == "snapshots"),
        ("kind", query.kinds, query.table == "changes"),
        ("operation", query.operations, query.table == "snapshots"),
    ):
        if not values or not applies:
            continue
        if column not in columns or len(values) > MAX_LISTED:
            whole = False
            continue
        conditions.append(f"{quoted(column)} IN ({', '.join('?' * len(values))})")
        parameters.extend(values)
    return conditions, parameters, whole


def quoted(name: str) -> str:
    """A quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def _instant(micros: int) -> dt.datetime | None:
    """The instant; None for a year that a parameter cannot represent."""
    try:
        return _EPOCH + dt.timedelta(microseconds=micros)
    except OverflowError:
        return None
