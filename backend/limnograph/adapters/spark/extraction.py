"""Port Extraction on Spark: the DataSource reads the due tables in tasks, the rows come back as one Arrow table."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from limnograph.adapters.iceberg.schema import arrow_schema
from limnograph.adapters.sandbox.messages import Access
from limnograph.adapters.spark.source import MISSED, NAME, PLACE, LimnographSource
from limnograph.domain.due import DueTable
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts import SNAPSHOTS
from limnograph.ports.extraction import Extracted

TASKS_PER_CORE = 2
ROUND_BYTES = 64 * 2**20
"""What all tasks of a round may bring together, about: a driver of 1 GB holds it several times."""


class SparkExtraction:
    """Distributes `extract` over the session's executors."""

    def __init__(self, session: SparkSession, access: Access) -> None:
        self._session, self._access = session, msgspec.json.encode(access).decode()
        session.dataSource.register(LimnographSource)

    def run(self, due: Sequence[DueTable]) -> Extracted:
        tasks = self._session.sparkContext.defaultParallelism * TASKS_PER_CORE
        options = {"access": self._access, "tasks": str(tasks), "task_bytes": str(ROUND_BYTES // tasks)}
        options["due"] = msgspec.json.encode(list(due)).decode()
        try:
            found = self._session.read.format(NAME).options(**options).load().toArrow()
        except (Py4JError, PySparkException) as error:
            raise SourceUnavailable("spark", _first_line(error)) from error
        return extracted(found)


def extracted(found: pa.Table) -> Extracted:
    """What the tasks brought, told apart."""
    wanting = pc.is_valid(found.column(PLACE))
    told = found.filter(wanting)
    reasons = dict(zip(told.column(PLACE).to_pylist(), told.column(MISSED).to_pylist(), strict=True))
    return Extracted(
        found.filter(pc.invert(wanting)).drop_columns([PLACE, MISSED]).cast(arrow_schema(SNAPSHOTS)),
        {place: reason for place, reason in reasons.items() if reason},
        frozenset(place for place, reason in reasons.items() if not reason),
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
