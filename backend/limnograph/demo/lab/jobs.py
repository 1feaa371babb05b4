"""The jobs of the laboratory, one after the other: reports that scan a sorted and an unsorted table, a stream, a
backfill that forgets a column, a correction that loses against another writer, and a rollback.
"""

from __future__ import annotations

import contextlib
import logging
import random
import threading
import time
from typing import TYPE_CHECKING, Any

from limnograph.demo.folder import Folder
from limnograph.demo.lab import formats
from limnograph.demo.lab.tables import COPY, CUSTOMERS, SORTED, STOCK, VISITS, prepare, visits
from limnograph.demo.lake.commits import open_table
from limnograph.spark_metrics import job_run
from limnograph.spark_streams import measure_streams

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAM = "visits_stream"
TRIGGER = "20 seconds"
BACKFILL, ROLLBACK, COLLIDE_EVERY, COMPACT_EVERY = 50, 6, 4, 60
"""Turns: of the backfill, once the table's columns have twenty usual commits to be compared with; of the rollback;
between two collisions; between two compactions.
"""
PAUSE = 3
"""Turns without ingestion before the backfill: of each minute, only the first commit has statistics of columns."""
FEED = {"app-name": "stock_feed", "app-id": "stock-feed-1", "engine-name": "pyiceberg"}
_log = logging.getLogger("limnograph.demo.lab")


class Laboratory:
    """One turn after the other in the session of the live job. Belongs to one thread, apart from its stream."""

    def __init__(self, spark: SparkSession, server: str | None, folder: Folder) -> None:
        self._spark, self._server, self._folder = spark, server, folder
        self._stream: Any = None
        self._turn = 0

    def turn(self) -> None:
        """One turn: a few seconds of work. Raises what Spark raises, but not the conflict that it provokes."""
        number, self._turn = self._turn, self._turn + 1
        if number == 0:
            prepare(self._spark)
            measure_streams(self._spark, {STREAM: [COPY]})
        formats.grow(self._folder.files)
        self._keep_streaming()
        if number == BACKFILL:
            self._backfill()
        elif not BACKFILL - PAUSE <= number < BACKFILL:
            self._ingest()
        self._report(number)
        if number == ROLLBACK:
            self._roll_back()
        if number % COLLIDE_EVERY == 1:
            self._collide()
        if number % COMPACT_EVERY == COMPACT_EVERY - 1:
            self._compact()

    def _run(self, name: str, reads: list[str], writes: list[str]) -> Any:
        return job_run(name, reads=reads, writes=writes, server=self._server, spark=self._spark)

    def _keep_streaming(self) -> None:
        """Copies visits; one file per batch, so that it falls behind while files are small and many."""
        if self._stream is not None and self._stream.isActive:
            return
        visits_of = self._spark.readStream.option("streaming-max-files-per-micro-batch", "1")
        visits_of = visits_of.option("streaming-skip-overwrite-snapshots", "true")
        writing = visits_of.table(VISITS).writeStream.queryName(STREAM).outputMode("append")
        writing = writing.option("checkpointLocation", self._folder.checkpoints.as_uri())
        self._stream = writing.trigger(processingTime=TRIGGER).toTable(COPY)

    def _ingest(self) -> None:
        with self._run("visits_ingest", [], [VISITS]):
            self._spark.sql(f"insert into {VISITS} select /*+ repartition(2) */ * from ({visits(200)})")  # noqa: S608

    def _report(self, number: int) -> None:
        customer = random.Random(number).randrange(CUSTOMERS)  # noqa: S311 - sample data
        with self._run("visits_report", [VISITS, SORTED], []):
            for table in (VISITS, SORTED):
                self._spark.sql(f"select sum(amount) from {table} where customer = {customer}").collect()  # noqa: S608
            self._spark.sql(f"select count(amount) from {VISITS} where kind = 'order'").collect()  # noqa: S608

    def _backfill(self) -> None:
        """Forgets the amounts: the share of nulls jumps."""
        with self._run("visits_backfill", [], [VISITS]):
            lost = visits(8_000, amount="cast(null as double)", at="now() - interval 1 day")
            self._spark.sql(f"insert into {VISITS} select /*+ repartition(4) */ * from ({lost})")  # noqa: S608

    def _roll_back(self) -> None:
        row: Any = self._spark.sql(f"select parent_id from {STOCK}.history order by made_current_at desc").first()  # noqa: S608
        if row is not None and row[0] is not None:
            self._spark.sql(f"call lake.system.rollback_to_snapshot('lab.stock', {row[0]})").collect()

    def _collide(self) -> None:
        """A correction of all prices, while a feed of another program appends: the feed wins."""
        ended = threading.Event()
        feed = threading.Thread(target=self._feed, args=(ended,), name="stock feed")
        feed.start()
        try:
            with self._run("stock_correction", [STOCK], [STOCK]):
                self._spark.sql(f"update {STOCK} set price = round(price * 1.01, 2) where id >= 0")  # noqa: S608
        except Exception as error:  # noqa: BLE001 - Spark wraps Iceberg's exception
            _log.info("the correction lost against the feed: %s", str(error).splitlines()[0])
        finally:
            ended.set()
            feed.join()

    def _feed(self, ended: threading.Event) -> None:
        """Append by PyIceberg until the correction has ended, so that one append falls between its read and its
        commit.
        """
        import pyarrow as pa
        from pyiceberg.exceptions import CommitFailedException

        rows = pa.table({"id": [int(time.time())], "shelf": ["new"], "price": [1.0]})
        while not ended.wait(0.1):
            with contextlib.suppress(CommitFailedException):  # the correction was first
                open_table(self._folder.place, STOCK.removeprefix("lake.")).append(rows, snapshot_properties=FEED)

    def _compact(self) -> None:
        for table in (VISITS, COPY, STOCK):
            self._spark.sql(f"call lake.system.rewrite_data_files(table => '{table.removeprefix('lake.')}')").collect()
