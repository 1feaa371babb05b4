"""Forecasts on Spark: one pass over the roll-ups, in which each task works through its tables one after the other.

Rows are sorted by table and time within partitions of many tables, so a worker holds one open table, and the model and
the request are broadcast. Cost law: O(rows of the requested tables in the last 120 days).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from limnograph.adapters.meta.schema import arrow_schema
from limnograph.adapters.spark.failures import first_line
from limnograph.adapters.spark.procedures import SparkNames, instant
from limnograph.analysis.forecast import Forecaster
from limnograph.analysis.forecast.past import PastQuestions
from limnograph.analysis.forecast_rows.own_model import ask_pasts, gathered
from limnograph.analysis.forecast_rows.request import ForecastRequest, ForecastRows, PastRequest
from limnograph.analysis.forecast_rows.table_rows import COLUMNS, DAY, HISTORY_DAYS, HOURLY_DAYS, NAMES
from limnograph.analysis.forecast_rows.work import work
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.forecasts import FORECAST_KEY, OUTCOME_COLUMNS, ForecastFact
from limnograph.domain.facts.meta_tables import DAILY, FORECASTS, HOURLY, MetaTable
from limnograph.domain.secrecy import clean
from limnograph.domain.time import Micros, truncated

TABLES_A_TASK = 500
_PROBLEM = "_problem"
_QUESTIONS = "questions"
BatchMapper = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class SparkForecasting:
    """Forecasts from the roll-ups in `<catalog>.<namespace>`."""

    def __init__(self, session: SparkSession, catalog: str, namespace: str) -> None:
        self._session, self._names = session, SparkNames(catalog, namespace)

    def run(self, request: ForecastRequest, model: Forecaster) -> ForecastRows:
        """See `services.housekeeping.forecasting.ForecastRunner`."""
        return split(self._mapped(request, _worker, (request, model), _ddl()))

    def questions(self, request: PastRequest) -> PastQuestions:
        """See `services.housekeeping.model_training.PastReader`."""
        return gathered(self._mapped(request, _asker, request, _parts_ddl()).column(_QUESTIONS).to_pylist())

    def _mapped(
        self,
        request: ForecastRequest | PastRequest,
        mapper: Callable[[Any], BatchMapper],
        value: object,
        ddl: StructType,
    ) -> pa.Table:
        """What workers return for the rows of the requested tables. `value`: is broadcast to the mappers."""
        try:
            shared = self._session.sparkContext.broadcast(value)
            try:
                return map_in_arrow(self._rows(request.as_of, request.tables), mapper(shared), ddl).toArrow()
            finally:
                shared.destroy()
        except (Py4JError, PySparkException) as error:
            raise SourceUnavailable("spark", first_line(str(error))) from error

    def _rows(self, as_of: Micros, tables: frozenset[str]) -> DataFrame:
        """Rows of the requested tables with ROW_SCHEMA, by the hour for 28 days and by the day before."""
        uuids = pa.table({"table_uuid": sorted(tables)})
        hourly = truncated(Micros(as_of - HOURLY_DAYS * DAY), DAY)
        daily = Micros(hourly - (HISTORY_DAYS - HOURLY_DAYS) * DAY)
        both = self._part(HOURLY, 1, hourly, as_of).unionByName(self._part(DAILY, 24, daily, hourly))
        wanted = both.join(self._session.createDataFrame(uuids).hint("broadcast"), "table_uuid", "left_semi")
        tasks = max(self._session.sparkContext.defaultParallelism, len(tables) // TABLES_A_TASK)
        return wanted.repartition(tasks, "table_uuid").sortWithinPartitions("table_uuid", "at")

    def _part(self, table: MetaTable, hours: int, start: Micros, end: Micros) -> DataFrame:
        unit = table.key[1]
        columns = [f"cast({source} as double) as {name}" for name, source in COLUMNS.items()]
        selected = [
            "table_uuid",
            f"unix_micros({unit}) as at",
            f"cast({hours} as bigint) as span_hours",
            *NAMES,
            *columns,
        ]
        rows = self._session.table(self._names.table(table))
        return rows.where(f"{unit} >= {instant(start)} and {unit} < {instant(end)}").selectExpr(*selected)


def map_in_arrow(rows: DataFrame, function: BatchMapper, schema: StructType) -> DataFrame:
    """`DataFrame.mapInArrow`, which refuses to start where pandas is not installed, although neither it nor its workers
    use it (PySpark 4.1).
    """
    gateway: Any = rows
    mapped: Any = UserDefinedFunction(function, schema, evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
    columns = mapped(*(rows[name] for name in rows.columns))
    return DataFrame(gateway._jdf.mapInArrow(columns._jc, False, None), rows.sparkSession)  # noqa: SLF001


def _worker(shared: Any) -> BatchMapper:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        request, model = shared.value
        for done in work(batches, request, model):
            yield from result_of([*done.forecasts, *done.outcomes], done.failed).to_batches()

    return run


def _asker(shared: Any) -> BatchMapper:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in ask_pasts(batches, shared.value):
            yield pa.record_batch({_QUESTIONS: pa.array([part], pa.binary())})

    return run


def _parts_ddl() -> StructType:
    return from_arrow_schema(pa.schema([(_QUESTIONS, pa.binary())]))


def result_of(facts: Sequence[ForecastFact], failed: dict[str, str]) -> pa.Table:
    """What a worker returns: rows of forecasts and outcomes, and one row per table that failed."""
    rows = [{**msgspec.to_builtins(fact), _PROBLEM: None} for fact in facts]
    rows += [{"table_uuid": uuid, _PROBLEM: clean(problem)} for uuid, problem in failed.items()]
    return pa.Table.from_pylist(rows, schema=_result_schema())


def _result_schema() -> pa.Schema:
    fields = [field.with_nullable(True) for field in arrow_schema(FORECASTS)]
    return pa.schema([*fields, pa.field(_PROBLEM, pa.string())])


def _ddl() -> StructType:
    return from_arrow_schema(_result_schema())


def split(found: pa.Table) -> ForecastRows:
    """Results of the workers by kind."""
    failed = found.filter(pc.is_valid(found.column(_PROBLEM)))
    rows = found.filter(pc.is_null(found.column(_PROBLEM))).drop_columns([_PROBLEM]).cast(arrow_schema(FORECASTS))
    judged = pc.is_valid(rows.column("judged_at"))
    problems = zip(failed.column("table_uuid").to_pylist(), failed.column(_PROBLEM).to_pylist(), strict=True)
    outcomes: Any = pl.from_arrow(rows.filter(judged).select([*FORECAST_KEY, *OUTCOME_COLUMNS]))
    instants = [pl.col(pl.Datetime).dt.timestamp("us")]
    return ForecastRows(rows.filter(pc.invert(judged)), outcomes.with_columns(instants), dict(problems))
