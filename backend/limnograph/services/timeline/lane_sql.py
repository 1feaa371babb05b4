"""The query behind a lane of the metadata, as SQL to copy."""

from __future__ import annotations

import datetime as dt

from limnograph.domain.answers.timeline import LaneQuery
from limnograph.domain.time import TimeRange
from limnograph.services.lake.history import History


def question(history: History, span: TimeRange, table: str, time: str, columns: str) -> LaneQuery:
    """The query as SQL over a meta table, to copy; it is never run. `time`: its column of time."""
    start, end = (dt.datetime.fromtimestamp(at / 1000, tz=dt.UTC) for at in (span.start, span.end))
    uuid = history.uuid.replace("'", "''")
    text = (
        f"SELECT {time}, {columns} FROM {table} WHERE table_uuid = '{uuid}' "  # noqa: S608
        f"AND {time} >= TIMESTAMP '{start:%Y-%m-%d %H:%M:%S} UTC' "
        f"AND {time} < TIMESTAMP '{end:%Y-%m-%d %H:%M:%S} UTC' ORDER BY {time}"
    )
    return LaneQuery(sql=text)
