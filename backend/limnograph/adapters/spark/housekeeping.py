"""Port MetaUpkeep: reads through PyIceberg, changes rows through Spark SQL and files through Iceberg's procedures. Pure
metadata commits use Iceberg's own classes in the driver: a Spark job would cost ten times as much.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import polars as pl
import pyarrow as pa
from py4j.protocol import Py4JError
from pyiceberg.catalog import Catalog
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from limnograph.adapters.meta.housekeeping_reads import UpkeepReads
from limnograph.adapters.meta.schema import arrow_schema
from limnograph.adapters.spark import procedures
from limnograph.adapters.spark.failures import first_line, guarded
from limnograph.domain.errors import Conflict, SourceUnavailable
from limnograph.domain.facts.meta_tables import FORECASTS, REPORTS, SNAPSHOTS, MetaTable
from limnograph.ports.meta_upkeep import MetaTableState, PartitionFiles, Position, Where

_T = TypeVar("_T")
_LOST = ("ValidationException", "CommitFailedException", "Cannot commit", "CommitStateUnknown")


SMALL_ROWS, SMALL_BYTES = 20_000, 32 * 1024**2
SMALL_WORK = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.optimizer.runtime.rowLevelOperationGroupFilter.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""For merges of at most SMALL_ROWS rows into a table of at most SMALL_BYTES: generating code for their many columns,
and running jobs to find out how few they are, costs more than processing the rows.
"""


class SparkUpkeep:
    """Housekeeping of the meta tables in `<catalog>.<namespace>`; `open_catalog` returns a PyIceberg catalog."""

    def __init__(self, session: SparkSession, open_catalog: Callable[[], Catalog], namespace: str) -> None:
        self._session = session
        self._small = session.newSession()
        for key, value in SMALL_WORK.items():
            self._small.conf.set(key, value)
        self._reads = UpkeepReads(open_catalog, namespace)
        self._namespace = namespace

    def standing(self, table: MetaTable) -> MetaTableState:
        return guarded(lambda: self._reads.standing(table))

    def fresh(self, table: MetaTable, at: Position, since_sequence: int, columns: Sequence[str]) -> pl.DataFrame:
        return guarded(lambda: self._reads.fresh(table, at, since_sequence, columns))

    def rows(self, table: MetaTable, at: Position | None, columns: Sequence[str], where: Where) -> pl.DataFrame:
        return guarded(lambda: self._reads.rows(table, at, columns, where))

    def merge(self, table: MetaTable, rows: pl.DataFrame) -> None:
        unit = table.key[1]
        small = rows.height <= SMALL_ROWS and self.standing(table).bytes <= SMALL_BYTES
        session = self._small if small else self._session
        with _view(session, _arrow(table, rows)) as view:
            span = _span(rows, unit) or (0, 0)
            self._run(table, procedures.merge_rollups(self._names, table, view, rows.columns, span), session)

    def judge(self, outcomes: pl.DataFrame) -> None:
        span = _span(outcomes, "as_of")
        if span is not None:
            with _view(self._session, _arrow(FORECASTS, outcomes)) as view:
                self._run(FORECASTS, procedures.judge_forecasts(self._names, view, span))

    def delete(self, keys: pl.DataFrame) -> None:
        columns = ("table_uuid", "snapshot_id")
        span = _span(keys, "committed_at")
        with _view(self._session, keys.select(columns).to_arrow()) as view:
            self._run(SNAPSHOTS, procedures.delete_keys(self._names, SNAPSHOTS, view, span))

    def delete_before(self, table: MetaTable, instant: int) -> None:
        column = table.partition[0] if table.partition else table.key[1]
        self._run(table, procedures.delete_before(self._names, table, column, instant))

    def clear_literals(self) -> None:
        self._run(REPORTS, procedures.clear_literals(self._names))

    def set_properties(self, table: MetaTable, properties: Mapping[str, str]) -> None:
        def commit(found: Any) -> None:
            update = found.updateProperties()
            for key, value in properties.items():
                update.set(key, value)
            update.commit()

        self._commit(table, commit)

    def compact(self, table: MetaTable, part: PartitionFiles, *, whole: bool) -> None:
        self._run(table, procedures.compact(self._names, table, part, whole=whole))

    def rewrite_manifests(self, table: MetaTable) -> None:
        self._run(table, self._names.call("rewrite_manifests", table, "use_caching => false"))

    def expire(self, table: MetaTable, older_than: int, keep: int) -> None:
        # The driver deletes the files: those of an hour of a meta table do not need a cluster.
        self._commit(
            table,
            lambda found: found.expireSnapshots().expireOlderThan(older_than // 1000).retainLast(keep).commit(),
        )

    def orphans(self, table: MetaTable, older_than: int, *, remove: bool) -> int:
        return self._run(table, procedures.orphans(self._names, table, older_than, remove=remove))

    @property
    def _names(self) -> procedures.SparkNames:
        return procedures.SparkNames(self._reads.catalog.name, self._namespace)

    def _run(self, table: MetaTable, statement: str, session: SparkSession | None = None) -> int:
        """Number of rows that the statement returns."""
        return _told(table, lambda: len((session or self._session).sql(statement).collect()))

    def _commit(self, table: MetaTable, act: Callable[[Any], None]) -> None:
        """Commit through Iceberg's Java class of the table."""

        def run() -> None:
            gateway: Any = self._session
            load = gateway._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable  # noqa: SLF001
            act(load(gateway._jsparkSession, self._names.table(table)))  # noqa: SLF001

        _told(table, run)


@contextmanager
def _view(session: SparkSession, rows: pa.Table) -> Iterator[str]:
    view = f"limnograph_upkeep_{uuid.uuid4().hex}"
    session.createDataFrame(rows).createOrReplaceTempView(view)
    try:
        yield view
    finally:
        session.catalog.dropTempView(view)


def _told(table: MetaTable, act: Callable[[], _T]) -> _T:
    try:
        return act()
    except (Py4JError, PySparkException) as error:
        text = str(error)
        if any(sign in text for sign in _LOST):
            raise Conflict(f"{table.name}: {first_line(text)}") from error
        raise SourceUnavailable("meta store", f"{table.name}: {first_line(text)}") from error


def _arrow(table: MetaTable, rows: pl.DataFrame) -> pa.Table:
    """Rows in the table's types: instants as timestamps."""
    schema = arrow_schema(table)
    return rows.to_arrow().cast(pa.schema([schema.field(name) for name in rows.columns]))


def _span(rows: pl.DataFrame, column: str) -> tuple[int, int] | None:
    """Earliest and latest instant; None if one is unknown."""
    if rows.is_empty() or rows[column].null_count():
        return None
    return int(rows[column].min()), int(rows[column].max())  # type: ignore[arg-type]
