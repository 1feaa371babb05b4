"""Port Extraction on Spark: a DataSource reads the due tables in tasks; the rows return as one Arrow table."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from limnograph.adapters.meta.extraction_rows import EXTRACTED, column_rows, snapshot_rows
from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.adapters.spark.manifests import MOST_MANIFESTS, SharedTables
from limnograph.adapters.spark.source import MISSED, NAME, PLACE, LimnographSource
from limnograph.domain.errors import MetadataError, SourceError, SourceUnavailable
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.manifests import MANY_MANIFESTS
from limnograph.domain.secrecy import clean
from limnograph.ports.extraction import ExtractedRows

_log = logging.getLogger("limnograph.extraction")
TASKS_PER_CORE = 2
ROUND_BYTES = 64 * 2**20
"""Approximate maximum of a round's results: a driver of 1 GB holds them several times."""


class SparkExtraction:
    """Distributes `extract` over the session's executors. `access` is called each time, because credentials are
    renewed. `most_manifests`: see MOST_MANIFESTS.
    """

    def __init__(
        self, session: SparkSession, access: Callable[[], StorageAccess], most_manifests: int = MOST_MANIFESTS
    ) -> None:
        self._session, self._access, self._most = session, access, most_manifests
        session.dataSource.register(LimnographSource)

    def run(self, due: Sequence[DueTable]) -> ExtractedRows:
        tasks = self._session.sparkContext.defaultParallelism * TASKS_PER_CORE
        access = self._access()
        # Without a cache, the results of other readers could not be stored for the table's own reader.
        told = msgspec.structs.replace(access, most_manifests=self._most if access.cache_dir else 0)
        options = {"access": msgspec.json.encode(told).decode(), "due": msgspec.json.encode(list(due)).decode()}
        options |= {"tasks": str(tasks), "task_bytes": str(ROUND_BYTES // tasks)}
        try:
            return self._with_shared(SharedTables(access, self._frame), due, extracted(self._frame(options).toArrow()))
        except (Py4JError, PySparkException) as error:
            raise SourceUnavailable("spark", _first_line(error)) from error

    def _with_shared(self, shared: SharedTables, due: Sequence[DueTable], found: ExtractedRows) -> ExtractedRows:
        """Add tables that were too large for one reader, read by many."""
        rows, columns, missed = [found.rows], [found.columns], dict(found.missed)
        for place in [place for place, reason in missed.items() if reason == MANY_MANIFESTS]:
            try:
                whole = shared.rows(due[place])
                rows.append(snapshot_rows(whole))
                columns.append(column_rows(whole))
                del missed[place]
            except (SourceError, MetadataError) as error:
                missed[place] = str(error)
            except Exception as error:  # noqa: BLE001 - one table's surprise must not end the pass of all
                _log.exception("%s could not be extracted", due[place].name)
                missed[place] = clean(f"unexpected {type(error).__name__}: {_first_line(error)}")
        told = [table for table in columns if table is not None]
        return ExtractedRows(pa.concat_tables(rows), missed, found.unreached, pa.concat_tables(told))

    def _frame(self, options: Mapping[str, str]) -> DataFrame:
        return self._session.read.format(NAME).options(**options).load()


def extracted(found: pa.Table) -> ExtractedRows:
    """Results of the tasks, split by kind."""
    wanting = pc.is_valid(found.column(PLACE))
    told = found.filter(wanting)
    reasons = dict(zip(told.column(PLACE).to_pylist(), told.column(MISSED).to_pylist(), strict=True))
    rows = found.filter(pc.invert(wanting)).drop_columns([PLACE, MISSED]).cast(EXTRACTED)
    return ExtractedRows(
        snapshot_rows(rows),
        {place: reason for place, reason in reasons.items() if reason},
        frozenset(place for place, reason in reasons.items() if not reason),
        column_rows(rows),
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
