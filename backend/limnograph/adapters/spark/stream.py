"""Structured streaming of passes: the DataSource ticks, `foreachBatch` runs the pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from limnograph.adapters.spark.source import NAME, LimnographSource


def pass_stream(
    session: SparkSession,
    run_pass: Callable[[], object],
    *,
    checkpoint: Path,
    trigger: str,
    seconds: float,
    inbox_url: str = "",
) -> StreamingQuery:
    """The started query.

    trigger    how often Spark checks whether a pass is due: `2 seconds`
    seconds    interval after which a pass is due
    inbox_url  notifications in this inbox make a pass due immediately
    """
    session.dataSource.register(LimnographSource)
    ticks = session.readStream.format(NAME).option("mode", "ticks").option("seconds", str(seconds))
    # Spark redacts an option whose name says that it is a URL from plans and logs.
    frame = ticks.option("inbox_url", inbox_url).load()

    def batch(_frame: DataFrame, _epoch: int) -> None:
        run_pass()

    writer = frame.writeStream.queryName("limnograph").foreachBatch(batch)
    location = checkpoint.absolute().as_uri()
    return writer.option("checkpointLocation", location).trigger(processingTime=trigger).start()
