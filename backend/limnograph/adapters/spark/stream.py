"""Structured streaming around a pass: the DataSource ticks, `foreachBatch` makes the pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from limnograph.adapters.sandbox.messages import Access
from limnograph.adapters.spark.source import NAME, LimnographSource


def pass_stream(
    session: SparkSession,
    access: Access,
    run_pass: Callable[[], object],
    *,
    checkpoint: Path,
    trigger: str,
    seconds: float,
) -> StreamingQuery:
    """Started query. `trigger`: Spark's interval, `60 seconds`; `seconds`: a pass is due then even if nothing moved."""
    session.dataSource.register(LimnographSource)
    ticks = session.readStream.format(NAME).option("mode", "ticks").option("seconds", str(seconds))
    frame = ticks.option("access", msgspec.json.encode(access).decode()).load()

    def batch(_frame: DataFrame, _epoch: int) -> None:
        run_pass()

    writer = frame.writeStream.queryName("limnograph").foreachBatch(batch)
    location = checkpoint.absolute().as_uri()
    return writer.option("checkpointLocation", location).trigger(processingTime=trigger).start()
