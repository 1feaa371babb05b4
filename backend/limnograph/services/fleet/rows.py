"""Rows of one page of the fleet, built together from the columns of all tables: two rows of each table are read, not
its history.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from limnograph.domain.answers.tables import Growth, TableDeltas, TableRow, TableValues
from limnograph.domain.ids import TableName
from limnograph.domain.thresholds import JobPace
from limnograph.domain.time import Micros, to_millis
from limnograph.services.fleet import numbers, reasons
from limnograph.services.fleet import view as table_view
from limnograph.services.fleet.growth import Rise
from limnograph.services.fleet.growth_index import GrowthIndex
from limnograph.services.fleet.move_columns import Stand
from limnograph.services.fleet.view import RangeView, State
from limnograph.services.lake.columns import INDEX, NULL, Ints
from limnograph.services.lake.history import History
from limnograph.services.lake.table import HotTable

_CELLS = tuple(INDEX[name] for name in State._fields)
_COUNTED = _CELLS[:4]


class RowWindow(NamedTuple):
    """The range of a page, half-open, and the instant of the comparison, in epoch microseconds. `within_s`: seconds of
    the growth in its rows, or None.
    """

    start: Micros
    end: Micros
    then: Micros
    within_s: int | None


class RowInput(NamedTuple):
    """A table of a page. Paces: over the range, and since the instant of the comparison."""

    table: HotTable
    name: TableName
    pace: JobPace | None
    compared: JobPace | None


class _PageColumns(NamedTuple):
    """Values from the columns for each table of a page."""

    before: Stand
    then: Stand
    after: Stand
    counts: Ints
    sparks: list[list[int]]
    rises: list[Rise | None]


def rows(
    growth: GrowthIndex,
    tables: Sequence[RowInput],
    slots: Ints,
    asked: RowWindow,
) -> list[TableRow]:
    """Rows in the order of the tables."""
    columns = growth.columns
    with columns.lock:
        columns.hold([given.table for given in tables], slots)
        found = _look(growth, slots, asked)
    made = []
    for place, given in enumerate(tables):
        seen = _seen(given.table, place, found, asked)._replace(pace=given.pace)
        then = seen.before if asked.then == asked.start else _counted(given.table, int(found.then.place[place]))
        change = numbers.deltas(then, seen.after, given.compared)
        made.append(_row(seen, given.name, change, found.sparks[place], found.rises[place]))
    return made


def _look(growth: GrowthIndex, slots: Ints, asked: RowWindow) -> _PageColumns:
    (start, end, then, within_s), columns = asked, growth.columns
    rises: list[Rise | None] = [None] * len(slots)
    before = columns.stand(slots, start)
    return _PageColumns(
        before,
        before if then == start else columns.stand(slots, then),
        columns.stand(slots, end - 1),
        columns.counts(slots, start, end),
        columns.files_at(slots, numbers.spark_instants(start, end)).tolist(),
        rises if within_s is None else growth.greatest(slots, (start, end), within_s),
    )


def _seen(table: HotTable, place: int, found: _PageColumns, asked: RowWindow) -> RangeView:
    """A table in the range, without its pace. Its history is read only if the value at an edge of the range is
    ambiguous.
    """
    history, before, after = History(table), found.before, found.after
    if after.until[place] == asked.end:
        return table_view.view(history, asked.start, asked.end, None)
    return RangeView(
        history,
        int(found.counts[place]),
        _counted(table, int(before.place[place])),
        _state(table, int(after.place[place])),
        None if after.since[place] == NULL else Micros(after.since[place]),
        None,
    )


def _counted(table: HotTable, place: int) -> State | None:
    """The numbers whose difference is shown, from the row at an index; None for -1."""
    if place < 0:
        return None
    block, row = table.rows.holding(place)
    files, deletes, records, size = (None if cell == NULL else cell for cell in block.cells(row, _COUNTED))
    return State(files, deletes, records, size)


def _state(table: HotTable, place: int) -> State | None:
    """The state in the row at an index; None for -1."""
    if place < 0:
        return None
    block, row = table.rows.holding(place)
    *known, skew, kind, status = (None if cell == NULL else cell for cell in block.cells(row, _CELLS))
    files, deletes, records, size, small, p50, manifests, kept = known
    ratio = None if skew is None else float(struct.unpack("d", struct.pack("q", skew))[0])
    words = block.texts()
    texts = (None if code is None else words[code] for code in (kind, status))
    return State(files, deletes, records, size, small, p50, manifests, kept, ratio, *texts)


def _row(seen: RangeView, name: TableName, change: TableDeltas, spark: Sequence[int], rise: Rise | None) -> TableRow:
    after, history, plain = seen.after, seen.history, name.plain
    return TableRow(
        catalog=plain.catalog,
        namespace=plain.namespace,
        table=plain.table,
        table_uuid=history.uuid,
        format=after.format if after else None,
        status=numbers.health(history, after),
        reason=reasons.reason((), seen, evaluated=True),
        values=numbers.values(seen),
        deltas=change,
        spark=[None if files == NULL else files for files in spark],
        growth=None if rise is None else _growth(rise),
    )


def _growth(rise: Rise) -> Growth:
    return Growth(files_before=rise.before, files_after=rise.after, share=rise.share, at=to_millis(rise.at))


def damaged(name: TableName) -> TableRow:
    """The row of a name whose metadata could never be read."""
    nothing = TableValues(
        data_files=None,
        delete_files=None,
        records=None,
        bytes=None,
        small_files=None,
        file_size_p50=None,
        manifests=None,
        live_snapshots=None,
        skew_max_over_median=None,
        commits=0,
        last_committed_at=None,
        job_duration_seconds=None,
        job_p95_seconds=None,
    )
    plain = name.plain
    return TableRow(
        catalog=plain.catalog,
        namespace=plain.namespace,
        table=plain.table,
        table_uuid=None,
        format=None,
        status="unreadable",
        reason=reasons.reason((), None, evaluated=True),
        values=nothing,
        deltas=numbers.deltas(None, None, None),
        spark=[None] * numbers.SPARK_POINTS,
    )
