"""Tasks of `forecasts.py`: roll-ups of a large site's tables, and the work of the pipeline's forecast step on them.

The rows of a table are those of one of a few hundred generated histories, under a uuid of its own: what a table costs
depends on its history alone, and 100,000 different ones would fill 20 GB.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from limnograph.analysis.forecast import NO_LOAD, load_model
from limnograph.analysis.forecast_rows.request import ForecastRequest, ReadingJob
from limnograph.analysis.forecast_rows.table_rows import COLUMNS, DAY, NAMES, ROW_SCHEMA
from limnograph.analysis.forecast_rows.work import work
from limnograph.domain.forecasts.cases import ReaderRuns

Clock = Callable[[], contextlib.AbstractContextManager[None]]

PROCESSES = 2
AS_OF = 20_500 * DAY
_FLEETS, _FLEET_TABLES, _SEED = 5, 50, 81_001
_READ = 10
"""Every tenth table has a job that reads it."""


class SiteHistory(msgspec.Struct):
    """Rows of a table as columns, without its uuid; `runs` of its reader."""

    columns: dict[str, list[Any]]
    runs: ReaderRuns | None


class WorkedPart(NamedTuple):
    """What one process did. `cpu_s`: from the first batch to the last result."""

    tables: int
    rows: int
    cpu_s: float
    peak_mb: float


def forecast_histories(clock: Clock, folder: str) -> int:
    """Histories in a file. A task of its own, because a process begins with the peak of its parent."""
    with clock():
        found = [each for place in range(_FLEETS) for each in _histories(_SEED + place)]
        (Path(folder) / "histories").write_bytes(msgspec.msgpack.encode(found))
    return len(found)


def forecast_site(clock: Clock, folder: str, tables: str) -> list[Any]:
    """Tables, rows of forecasts, CPU seconds of the slower process, wall seconds, and peak MB of the larger one."""
    count, started = int(tables), time.monotonic()
    parts = [(folder, place, count // PROCESSES) for place in range(PROCESSES)]
    with clock(), multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        found = pool.starmap(_worked, parts)
    wall_s = time.monotonic() - started
    sums = [sum(each) for each in zip(*((part.tables, part.rows) for part in found), strict=True)]
    return [*sums, max(part.cpu_s for part in found), wall_s, max(part.peak_mb for part in found)]


def _worked(folder: str, place: int, tables: int) -> WorkedPart:
    """As one of Spark's workers: batches in, results out, which are counted and let go."""
    from limnograph.adapters.spark.forecasting import result_of

    histories = msgspec.msgpack.decode((Path(folder) / "histories").read_bytes(), type=list[SiteHistory])
    drawn = [pa.record_batch({**each.columns, "table_uuid": [""] * len(each.columns["at"])}) for each in histories]
    names = [f"{place}-{number:07d}" for number in range(tables)]
    runs = {name: histories[number % len(histories)].runs for number, name in enumerate(names) if not number % _READ}
    readers = {name: ReadingJob(each) for name, each in runs.items() if each}
    request = ForecastRequest(as_of=AS_OF, made_at=AS_OF, moved=frozenset(names), readers=readers, load=NO_LOAD)
    begun, rows, done = time.process_time(), 0, set[str]()
    for result in work(_batches(drawn, names), request, load_model()):
        if result.failed:
            raise SystemExit(f"forecasts failed: {result.failed}")
        rows += result_of([*result.forecasts, *result.outcomes], result.failed).num_rows
        done |= {fact.table_uuid for fact in result.forecasts}
    cpu_s = time.process_time() - begun
    return WorkedPart(len(done), rows, cpu_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _batches(drawn: Sequence[pa.RecordBatch], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    for number, name in enumerate(names):
        rows = drawn[number % len(drawn)]
        columns = {each: rows.column(each) for each in rows.schema.names}
        columns["table_uuid"] = pa.repeat(name, rows.num_rows)
        yield pa.record_batch([columns[field.name].cast(field.type) for field in ROW_SCHEMA], schema=ROW_SCHEMA)


def _histories(seed: int) -> Iterator[SiteHistory]:
    from forecast.fleets import judged_fleet

    for judged in judged_fleet(seed, _FLEET_TABLES, paths=2):
        case = judged.case
        later = AS_OF // 1_000 - case.as_of
        at = [(int(each) + later) * 1_000 for each in case.facts.at]
        columns: dict[str, list[Any]] = {"at": at, "span_hours": [int(each) for each in case.facts.span_hours]}
        columns |= {name: [name] * len(at) for name in NAMES if name != "format"} | {"format": ["iceberg"] * len(at)}
        columns |= {name: _plain(getattr(case.facts, name), len(at)) for name in COLUMNS}
        runs = case.runs
        yield SiteHistory(
            columns,
            runs
            and ReaderRuns(
                job=runs.job,
                times=[int(each) + later for each in runs.times],
                duration_seconds=_plain(runs.duration_seconds, len(runs.times)),
                read_bytes=_plain(runs.read_bytes, len(runs.times)),
            ),
        )


def _plain(values: Sequence[float | None] | None, count: int) -> list[float | None]:
    """As roll-ups have them: what is not known is null."""
    if values is None:
        return [None] * count
    known = np.asarray(values, np.float64)
    return np.where(np.isfinite(known), known, None).tolist()


TASKS: dict[str, Callable[..., Any]] = {task.__name__: task for task in (forecast_histories, forecast_site)}
