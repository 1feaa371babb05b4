"""The question behind a lane of the metadata, as SQL for people to copy."""

from __future__ import annotations

import datetime as dt

from limnograph.domain.answers.timeline import LaneQuery
from limnograph.domain.time import MS_PER_SECOND, TimeRange
from limnograph.services.lake.history import History


def question(history: History, span: TimeRange, table: str, time: str, columns: str) -> LaneQuery:
    """The question as SQL over a meta table, for people to copy; it is never run. `time`: its column of time."""
    start, end = (dt.datetime.fromtimestamp(at / MS_PER_SECOND, tz=dt.UTC) for at in (span.start, span.end))
    uuid = history.uuid.replace("'", "''")
    text = (
        f"SELECT {time}, {columns} FROM {table} WHERE table_uuid = '{uuid}' "  # noqa: S608
        f"AND {time} >= TIMESTAMP '{start:%Y-%m-%d %H:%M:%S} UTC' "
        f"AND {time} < TIMESTAMP '{end:%Y-%m-%d %H:%M:%S} UTC' ORDER BY {time}"
    )
    return LaneQuery(sql=text)
