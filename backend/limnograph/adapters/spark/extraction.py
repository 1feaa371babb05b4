"""Port Extraction on Spark: the DataSource reads the due tables in tasks, the rows come back as one Arrow table."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from limnograph.adapters.iceberg.schema import arrow_schema
from limnograph.adapters.sandbox.messages import Access
from limnograph.adapters.spark.source import NAME, LimnographSource
from limnograph.domain.due import DueTable
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts import SNAPSHOTS

TASKS_PER_CORE = 2


class SparkExtraction:
    """Distributes `extract` over the session's executors."""

    def __init__(self, session: SparkSession, access: Access) -> None:
        self._session, self._access = session, msgspec.json.encode(access).decode()
        session.dataSource.register(LimnographSource)

    def run(self, due: Sequence[DueTable]) -> pa.Table:
        tasks = self._session.sparkContext.defaultParallelism * TASKS_PER_CORE
        reader = self._session.read.format(NAME).option("access", self._access).option("tasks", str(tasks))
        frame = reader.option("due", msgspec.json.encode(list(due)).decode()).load()
        try:
            return frame.toArrow().cast(arrow_schema(SNAPSHOTS))
        except (Py4JError, PySparkException) as error:
            raise SourceUnavailable("spark", _first_line(error)) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
