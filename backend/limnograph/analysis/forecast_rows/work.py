"""The work of one worker: forecasts and outcomes of its tables, in chunks. A table that fails stops no other."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import pyarrow as pa

from limnograph.analysis.forecast import Forecaster
from limnograph.analysis.forecast_rows.facts import facts_of
from limnograph.analysis.forecast_rows.outcomes import outcome_of
from limnograph.analysis.forecast_rows.request import ForecastRequest
from limnograph.analysis.forecast_rows.table_rows import TableRows, tables_of
from limnograph.analysis.forecast_rows.targets import with_targets
from limnograph.domain.facts.forecasts import ForecastFact
from limnograph.domain.forecasts.cases import ForecastCase

AT_ONCE = 200
"""Tables that are forecast together."""
_log = logging.getLogger("limnograph.forecast")


class WorkedTables(NamedTuple):
    """Forecasts, outcomes (rows with their key and what is filled in), and why tables failed, by uuid."""

    forecasts: list[ForecastFact]
    outcomes: list[ForecastFact]
    failed: dict[str, str]


def work(batches: Iterable[pa.RecordBatch], request: ForecastRequest, model: Forecaster) -> Iterator[WorkedTables]:
    """Results chunk by chunk. `batches`: with ROW_SCHEMA, sorted by table and time."""
    tables = tables_of(batches)
    while chunk := list(islice(tables, AT_ONCE)):
        yield _worked(chunk, request, model)


def _worked(tables: Sequence[TableRows], request: ForecastRequest, model: Forecaster) -> WorkedTables:
    found = WorkedTables([], [], {})
    for table in tables:
        try:
            found.outcomes.extend(_outcomes(table, request))
        except Exception as error:  # noqa: BLE001  # rows of one table must not end the pass of all
            _failed(found, table, error)
    cases = []
    for table in tables:
        if table.uuid not in request.moved:
            continue
        try:
            cases.append((table, _case(table, request)))
        except Exception as error:  # noqa: BLE001
            _failed(found, table, error)
    _forecast(found, [(table, case) for table, case in cases if case.targets], request, model)
    return found


def _case(table: TableRows, request: ForecastRequest) -> ForecastCase:
    reader = request.readers.get(table.uuid)
    case = table.case(request.as_of, reader.runs if reader else None)
    return with_targets(case, request.limits, reader.seconds_limit if reader else None)


def _forecast(
    found: WorkedTables,
    cases: Sequence[tuple[TableRows, ForecastCase]],
    request: ForecastRequest,
    model: Forecaster,
) -> None:
    """Forecast cases together, and if that fails, one by one."""
    try:
        answers = model.forecast([case for _, case in cases], request.load) if cases else []
        facts = [
            fact
            for (table, case), answer in zip(cases, answers, strict=True)
            for fact in facts_of(table, case, answer, request, model.name)
        ]
    except Exception as error:  # noqa: BLE001
        if len(cases) == 1:
            _failed(found, cases[0][0], error)
            return
        for each in cases:
            _forecast(found, [each], request, model)
    else:
        found.forecasts.extend(facts)


def _outcomes(table: TableRows, request: ForecastRequest) -> Iterator[ForecastFact]:
    for pending in request.pending.get(table.uuid, ()):
        outcome = outcome_of(table, pending, request.readers.get(table.uuid))
        yield ForecastFact(
            table_uuid=table.uuid,
            metric=pending.metric,
            as_of=pending.as_of,
            hours=pending.hours,
            judged_at=request.made_at,
            **outcome._asdict(),
        )


def _failed(found: WorkedTables, table: TableRows, error: Exception) -> None:
    _log.exception("forecast of %s failed", table.uuid)
    found.failed[table.uuid] = f"{type(error).__name__}: {error}"
