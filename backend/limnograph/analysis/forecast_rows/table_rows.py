"""Rows of one table's roll-ups, and the case that they make. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import pyarrow as pa

from limnograph.domain.forecasts.cases import FactColumns, ForecastCase, ForecastTarget, ReaderRuns
from limnograph.domain.forecasts.limits import HORIZONS_HOURS, LONG_HISTORY_DAYS, LONG_HORIZONS_HOURS
from limnograph.domain.metadata.targets import targets_of
from limnograph.domain.time import MICROS_PER_SECOND, Micros, Millis, to_millis

HOUR, DAY = 3_600 * MICROS_PER_SECOND, 86_400 * MICROS_PER_SECOND
HOURLY_DAYS, HISTORY_DAYS = 28, 120
"""Days that are read by the hour, and all days that are read."""
SUMS = {
    "commits": "commits",
    "replaces": "replaces",
    "overwrites": "overwrites",
    "added_data_files": "added_data_files",
    "removed_data_files": "removed_data_files",
    "added_delete_files": "added_delete_files",
    "added_bytes": "added_bytes",
    "removed_data_files_by_replace": "removed_data_files_by_replace",
}
STATES = {
    name: f"{name}_last"
    for name in (
        *("total_data_files", "total_delete_files", "total_records", "total_bytes", "total_position_deletes"),
        *("small_files", "manifests", "live_snapshots", "metadata_bytes"),
        *("partitions_total", "skew_max_over_median"),
    )
}
COLUMNS = SUMS | STATES
"""Columns of a case -> columns of the roll-ups."""
NAMES = ("catalog", "namespace", "table", "format")
ROW_SCHEMA = pa.schema(
    [
        ("table_uuid", pa.string()),
        ("at", pa.int64()),
        ("span_hours", pa.int64()),
        *((name, pa.string()) for name in NAMES),
        *((name, pa.float64()) for name in COLUMNS),
    ]
)
"""One row of a roll-up; `at`: start of its span, microseconds."""
_DEFAULT_TARGET = 512 * 2**20


class TableRows(NamedTuple):
    """Rows of one table, ascending. `columns`: those of ROW_SCHEMA."""

    uuid: str
    columns: Mapping[str, Sequence[Any]]

    def case(self, as_of: Micros, runs: ReaderRuns | None = None) -> ForecastCase:
        """The table at a cut-off, without targets: rows from the cut-off on are not part of it."""
        at = self.columns["at"]
        count = sum(start < as_of for start in at)
        begin = at[0] if count else as_of
        days = (as_of - begin) / DAY
        facts = {name: self.columns[name][:count] for name in COLUMNS}
        return ForecastCase(
            id=self.uuid,
            fleet=self.last("catalog") or "",
            table=self.uuid,
            as_of=to_millis(as_of),
            first_seen=to_millis(Micros(begin)),
            horizons_hours=LONG_HORIZONS_HOURS if days >= LONG_HISTORY_DAYS else HORIZONS_HOURS,
            target_file_bytes=_target_bytes(self.last("format")),
            facts=FactColumns(
                at=[to_millis(Micros(start)) for start in at[:count]],
                span_hours=self.columns["span_hours"][:count],
                **facts,
            ),
            targets=list[ForecastTarget](),
            runs=None if runs is None else _runs_before(runs, to_millis(as_of)),
        )

    def last(self, name: str) -> str | None:
        """The newest known value of a column of text."""
        return next((value for value in reversed(self.columns[name]) if value is not None), None)


def tables_of(batches: Iterable[pa.RecordBatch]) -> Iterator[TableRows]:
    """Rows of one table after the other. `batches`: with ROW_SCHEMA, sorted by table and time; a table may continue in
    the next batch, so the open one is carried over.
    """
    for uuid, parts in groupby(_parts(batches), itemgetter(0)):
        rows = pa.Table.from_batches([part for _, part in parts])
        yield TableRows(uuid, {name: rows.column(name).to_pylist() for name in rows.column_names})


def _parts(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, pa.RecordBatch]]:
    for batch in batches:
        uuids = batch.column("table_uuid").to_pylist()
        start = 0
        for uuid, group in groupby(uuids):
            count = sum(1 for _ in group)
            yield uuid, batch.slice(start, count)
            start += count


def _target_bytes(table_format: str | None) -> float:
    targets = targets_of(table_format or "iceberg", {})
    return float(targets.target if targets else _DEFAULT_TARGET)


def _runs_before(runs: ReaderRuns, as_of: Millis) -> ReaderRuns:
    count = sum(start < as_of for start in runs.times)
    return ReaderRuns(
        job=runs.job,
        times=runs.times[:count],
        duration_seconds=runs.duration_seconds[:count],
        read_bytes=runs.read_bytes[:count],
    )
