"""The live job: a small real PySpark job that scans the carts, writes orders, deletes rows, and measures itself.

`python -m limnograph.demo.processes.live_job --config F --port P --server URL`. Runs in its own process and compacts
its tables now and then.
"""

from __future__ import annotations

import argparse
import logging
import random
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limnograph.demo.folder import Folder
from limnograph.demo.lab.jobs import Laboratory
from limnograph.demo.lake.session import start
from limnograph.demo.story.plan import LIVE_APPEND_TABLE, LIVE_DELETE_TABLE, LIVE_JOB
from limnograph.settings import load
from limnograph.spark_metrics import job_run, start_exposition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS, CARTS = f"lake.{LIVE_APPEND_TABLE}", f"lake.{LIVE_DELETE_TABLE}"
CUSTOMERS = 200
EVERY_SECONDS = 6.0
COMPACT_EVERY_SECONDS = 900.0
LAB_EVERY = 5
LOG = logging.getLogger("limnograph.demo.live")
LEAN = {
    "spark.driver.memory": "320m",
    # Spark rejects heaps below 450 MB because it reserves 300 MB; this job holds a few thousand rows.
    "spark.testing.reservedMemory": str(64 * 2**20),
    # A second collector thread and the optimising compiler would cost more than they save.
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=64m",
}


def main() -> None:
    """Run until SIGTERM or SIGINT."""
    options = _options()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    stop = threading.Event()
    spark = start(load(options.config), app_name=LIVE_JOB, master="local[1]", conf=LEAN)
    # After the session has started, because PySpark installs its own handler for SIGINT.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    start_exposition(options.port)
    LOG.info("application %s, metrics on port %s", spark.sparkContext.applicationId, options.port)
    try:
        work(spark, options.server, stop, Laboratory(spark, options.server, Folder(options.config.parent)))
    finally:
        spark.stop()


def work(
    spark: SparkSession,
    server: str | None,
    stop: threading.Event,
    lab: Laboratory | None = None,
    every: float = EVERY_SECONDS,
) -> None:
    """Run repeatedly until `stop` is set, with a turn of the laboratory between some runs; a failed run is logged, and
    the next one retries.
    """
    compacted = time.monotonic()
    number = 0
    while not stop.is_set():
        begin = time.monotonic()
        try:
            run_once(spark, server, number)
            if begin - compacted > COMPACT_EVERY_SECONDS:
                compacted = begin
                compact(spark)
            if lab is not None and number % LAB_EVERY == LAB_EVERY - 1:
                lab.turn()
        except Exception:
            if stop.is_set():
                return
            LOG.exception("run %s failed", number)
        number += 1
        stop.wait(max(0.5, every - (time.monotonic() - begin)))


def run_once(spark: SparkSession, server: str | None, number: int) -> str:
    """One run: scans the carts, appends orders, deletes rows; every fourth also adds carts. Returns the run id."""
    rng = random.Random(number)  # noqa: S311 - sample data
    customer = rng.randrange(CUSTOMERS)
    reads = {CARTS: _head(spark, CARTS)}
    with job_run(LIVE_JOB, reads=reads, writes=[ORDERS, CARTS], server=server, spark=spark) as run:
        spark.sql(f"select customer, sum(amount) from {CARTS} group by customer").collect()  # noqa: S608 - own names
        _insert(spark, ORDERS, rng.randint(20, 60))
        if number % 4 == 0:
            _insert(spark, CARTS, 400)
        spark.sql(f"delete from {CARTS} where customer = {customer}")  # noqa: S608
    return run.run_id


def _insert(spark: SparkSession, table: str, rows: int) -> None:
    # Not `from range(…)`: Spark counts its rows as input without bytes, and the bytes of the run would be unknown.
    spark.sql(
        f"insert into {table} select /*+ coalesce(1) */ unix_micros(now()) + id, now(),"  # noqa: S608
        f" cast(rand() * {CUSTOMERS} as bigint), round(rand() * 90, 2)"
        f" from (select explode(sequence(0, {rows - 1})) as id)"
    )


def _head(spark: SparkSession, table: str) -> int | None:
    row: Any = spark.sql(f"select snapshot_id from {table}.refs where name = 'main'").first()  # noqa: S608
    return None if row is None else int(row[0])


def compact(spark: SparkSession) -> None:
    """Compact data files, and remove delete files that no longer apply."""
    for table in (ORDERS, CARTS):
        spark.sql(f"call lake.system.rewrite_data_files(table => '{table.removeprefix('lake.')}')").collect()
    spark.sql(f"call lake.system.rewrite_position_delete_files(table => '{LIVE_DELETE_TABLE}')").collect()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m limnograph.demo.processes.live_job", description=__doc__)
    parser.add_argument("--config", required=True, type=Path, help="limnograph.toml of the demo")
    parser.add_argument("--port", type=int, required=True, help="port of the job's own /metrics")
    parser.add_argument("--server", help="base URL of the Limnograph server")
    return parser.parse_args()


if __name__ == "__main__":
    main()
