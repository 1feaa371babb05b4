"""Planning time and opened files of a table's scans, from the reports of engines, as cases of the effect estimator.
There are no control jobs for them, and cluster load hardly reaches them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from limnograph.domain.answers.effect_ledger import Measure
from limnograph.domain.answers.effects import EffectCase, EffectOperation, EffectRuns
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros, Millis, to_millis
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.effects.cases import DatedEvent, JobCase
from limnograph.services.effects.operations import Operation

HISTORY = 7 * 86_400_000_000
"""How far back scans are compared, microseconds."""
COLUMNS: Mapping[Measure, str] = {"planning": "duration_seconds", "files": "result_data_files"}
_READ = ("kind", "at", "catalog", "namespace", "table", *COLUMNS.values())


class Scans(NamedTuple):
    """Scans of one table in order of time: epoch ms, planning in seconds, opened data files."""

    times: list[Millis]
    values: Mapping[Measure, list[float | None]]


def scans_of(engine: QueryEngine, names: Collection[TableName], start: Micros, end: Micros) -> dict[TableName, Scans]:
    """Scans of several tables in one read. Blocks. O(reports of all tables in the span). Raises SourceError."""
    rows = engine.select(MetaQuery(table="reports", columns=_READ, start=start, end=end))
    rows = rows.filter(pl.col("kind") == "scan", pl.col("table").is_in({name.table for name in names}))
    found = {}
    for key, part in rows.group_by("catalog", "namespace", "table"):
        name = TableName(*(str(level or "") for level in key))
        if name in names:
            times = [to_millis(Micros(at)) for at in part["at"]]
            found[name] = Scans(times, {measure: part[column].to_list() for measure, column in COLUMNS.items()})
    return found


def scan_case(operation: Operation, scans: Scans, measure: Measure, events: Sequence[DatedEvent]) -> JobCase:
    """The case of one measure. A scan that did not report it, or that opened no file, is left out."""
    committed = to_millis(operation.committed_at)
    started = committed if operation.started_at is None else min(to_millis(operation.started_at), committed)
    first = to_millis(Micros(operation.committed_at - HISTORY))
    pairs = [
        (at, value)
        for at, value in zip(scans.times, scans.values[measure], strict=True)
        if value and value > 0 and at >= first
    ]
    case = EffectCase(
        id=measure,
        runs=EffectRuns(times=[at for at, _ in pairs], duration_seconds=[value for _, value in pairs]),
        operation=EffectOperation(started_at=started, committed_at=Millis(committed + 1)),
        others=[each.event for each in events],
    )
    return JobCase(case, list(events), [], None)
