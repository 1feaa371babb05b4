"""The stream: clicks, Debezium's changes and the events of the outbox from Kafka into bronze, and the newest change of
each row into silver.

Bronze keeps the offsets that a commit reached in the summary of that commit, which is written with the rows or not at
all, so a batch that is repeated after a kill, or by a lost checkpoint, adds only what is missing. Clicks are written by
Iceberg's own sink, which trusts the checkpoint instead. Runs, reads and epochs are reported by `limnograph`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lakehouse.bronze.tables import CDC, CLICKS, EVENTS
from lakehouse.ingest.batch_reports import BatchReports
from lakehouse.parts import kafka
from lakehouse.parts.lake import SNAPSHOT_PROPERTY, Lake, TableLayout
from lakehouse.parts.memory import processor_s
from lakehouse.parts.observed import read_patiently
from lakehouse.parts.places import Places, Ports
from lakehouse.parts.spark import start_session
from lakehouse.silver.merge import COLUMNS, layout, merge_statement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUERY, EPOCH, REACHED = "spark.sql.streaming.queryId", "spark.sql.streaming.epochId", "lake.offsets"
"""Properties of a snapshot: the first two are those that Iceberg's sink writes, the last one is ours."""
EARLIEST = "earliest"
ENVELOPE = (
    "op string, before string, after string, ts_ms bigint,"
    " source struct<lsn: bigint, txId: bigint, ts_ms: bigint, sequence: string>"
)
CLICK = "event_id string, user_id bigint, page string, event_at timestamp"

REFUSED = ("CommitFailedException", "ValidationException")
ATTEMPTS = 8
CONFLICT = "another writer was first:"
"""What the log says of each commit that was refused."""

Offsets = dict[str, int]
"""The next offset of each `topic/partition`."""


class StreamTarget(NamedTuple):
    """Where the stream writes. `into` replaces both namespaces, for a measurement beside the lake's own tables."""

    into: str = ""

    def named(self, table: TableLayout) -> TableLayout:
        """The table of this target."""
        if not self.into:
            return table
        return table._replace(name=f"{self.into}.{table.name.rpartition('.')[2]}")

    @property
    def changes(self) -> TableLayout:
        """`bronze.cdc` with the position in Kafka, which the decoder of pgoutput does not have."""
        columns = f"{CDC.columns}, source_partition int, source_offset bigint"
        return self.named(CDC._replace(columns=columns))

    @property
    def events(self) -> TableLayout:
        return self.named(EVENTS)

    @property
    def clicks(self) -> TableLayout:
        return self.named(CLICKS)

    def silver(self, name: str) -> TableLayout:
        return self.named(layout(name))


class ChangeStream:
    """Writes batches of changes. Used by the thread of its query."""

    def __init__(self, places: Places, target: StreamTarget, server: str | None) -> None:
        self._places, self._target, self.reports = places, target, BatchReports(server)

    def write(self, frame: DataFrame, epoch: int) -> None:
        """One batch: append, then merge. The frame lives in a session of its own, which sees its views."""
        lake = Lake(self._places, frame.sparkSession)
        query = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        bronze = [self._target.changes.name, self._target.events.name]
        silver = [self._target.silver(name).name for name in COLUMNS]
        with (
            self.reports.run("stream.changes", [*bronze, *silver], lake.spark) as run,
            _stamped(lake, {QUERY: query, EPOCH: str(epoch)}),
        ):
            records = frame.persist()
            try:
                for table in self._write(lake, records):
                    self.reports.wrote(run, lake, table)
            finally:
                records.unpersist()

    def _write(self, lake: Lake, records: DataFrame) -> Iterator[str]:
        """Yields the tables that were written."""
        changes, events = (
            change_rows(of_topics(records, kafka.CHANGE_TOPICS)),
            event_rows(of_topics(records, kafka.EVENT_TOPICS)),
        )
        ends = records.groupBy("topic", "partition").max("offset").collect()
        for rows, table, topics in (
            (changes, self._target.changes.name, kafka.CHANGE_TOPICS),
            (events, self._target.events.name, kafka.EVENT_TOPICS),
        ):
            batch = {f"{row[0]}/{row[1]}": int(row[2]) + 1 for row in ends if row[0] in topics}
            if append_once(lake, rows, table, batch):
                yield table
        changes.createOrReplaceTempView("changes")
        present = {row[0] for row in ends}
        for name, columns in COLUMNS.items():
            source = f"shop.public.{name}"
            if source in present:
                target = self._target.silver(name).name
                statement = merge_statement(target, columns, f"changes where source = '{source}'")
                insist(lambda statement=statement: lake.sql(statement), f"MERGE into {target}")
                yield target


def append_once(lake: Lake, rows: DataFrame, table: str, batch: Offsets) -> bool:
    """Append the rows that the table does not have, with the offsets that it then has. Whether there were any."""
    reached = reached_offsets(lake, table) if batch else {}
    if not any(end > reached.get(place, 0) for place, end in batch.items()):
        return False
    with _stamped(lake, {REACHED: json.dumps({**reached, **_later(reached, batch)})}):
        rows.where(beyond(reached)).coalesce(1).writeTo(table).append()
    return True


def of_topics(records: DataFrame, topics: Sequence[str]) -> DataFrame:
    """The records of some topics."""
    from pyspark.sql import functions as F  # noqa: N812 - the usual name

    return records.where(F.col("topic").isin(*topics))


def insist(commit: Callable[[], Any], what: str) -> None:
    """Commit, and again if another writer was first: a merge by position may be repeated. Raises what the last of
    ATTEMPTS raises, and anything else at once.
    """
    for attempt in range(ATTEMPTS):
        try:
            commit()
        except Exception as error:
            if attempt == ATTEMPTS - 1 or not any(name in str(error) for name in REFUSED):
                raise
            sys.stdout.write(f"{CONFLICT} {what}, attempt {attempt + 1}\n")
            sys.stdout.flush()
        else:
            return


def change_rows(frame: DataFrame) -> DataFrame:
    """Records of Debezium by the columns of `bronze.cdc`. No record has the position of its transaction's commit."""
    from pyspark.sql import functions as F  # noqa: N812 - the usual name

    envelope = F.from_json(F.col("value").cast("string"), ENVELOPE).alias("v")
    rows = frame.select("topic", F.col("key").cast("string"), "partition", "offset", envelope)
    return rows.select(
        F.col("topic").alias("source"),
        "key",
        "v.op",
        F.timestamp_millis("v.source.ts_ms").alias("ts"),
        F.col("v.source.lsn").alias("lsn"),
        F.lit(None).cast("bigint").alias("commit_lsn"),
        F.col("v.source.txId").alias("tx_id"),
        F.col("v.before").alias("before"),
        F.col("v.after").alias("after"),
        F.current_timestamp().alias("ingested_at"),
        F.col("partition").alias("source_partition"),
        F.col("offset").alias("source_offset"),
    )


def event_rows(frame: DataFrame) -> DataFrame:
    """Routed rows of the outbox by the columns of `bronze.events`: the value is the payload."""
    from pyspark.sql import functions as F  # noqa: N812 - the usual name

    def header(name: str) -> Any:
        found = F.filter("headers", lambda each: each["key"] == name)
        return F.try_element_at(found, F.lit(1))["value"].cast("string")

    return frame.select(
        F.col("topic").alias("source"),
        header("aggregateid").alias("aggregate_id"),
        header("id").alias("event_id"),
        header("type").alias("type"),
        F.col("value").cast("string").alias("payload"),
        F.to_timestamp(header("created_at")).alias("created_at"),
        F.current_timestamp().alias("ingested_at"),
        F.col("partition").alias("source_partition"),
        F.col("offset").alias("source_offset"),
    )


def reached_offsets(lake: Lake, table: str) -> Offsets:
    """The offsets that the newest stamped commit names; once it has expired, those of the rows."""
    stamps = lake.sql(
        f"select summary['{REACHED}'] from {table}.snapshots where summary['{REACHED}'] is not null"
        " order by committed_at desc limit 1"
    )
    if stamps:
        return {place: int(end) for place, end in json.loads(stamps[0][0]).items()}
    rows = lake.sql(f"select source, source_partition, max(source_offset) from {table} group by 1, 2")
    return {f"{row[0]}/{row[1]}": int(row[2]) + 1 for row in rows}


def _later(reached: Offsets, batch: Offsets) -> Offsets:
    return {place: max(end, reached.get(place, 0)) for place, end in batch.items()}


def beyond(reached: Offsets) -> str:
    """The condition, in SQL, for rows that the table does not have."""
    there = [
        f"(source = '{topic}' and source_partition = {partition} and source_offset < {end})"
        for place, end in reached.items()
        for topic, _, partition in (place.rpartition("/"),)
    ]
    return f"not ({' or '.join(there)})" if there else "true"


@contextlib.contextmanager
def _stamped(lake: Lake, properties: Mapping[str, str]) -> Iterator[None]:
    """Every commit of the block carries these properties in its summary."""
    for key, value in properties.items():
        lake.spark.conf.set(SNAPSHOT_PROPERTY + key, value)
    try:
        yield
    finally:
        for key in properties:
            lake.spark.conf.unset(SNAPSHOT_PROPERTY + key)


def create_tables(lake: Lake, target: StreamTarget) -> None:
    """Create what does not exist."""
    for table in (target.changes, target.events, target.clicks, *map(target.silver, COLUMNS)):
        lake.create(table)


def run(lake: Lake, arguments: argparse.Namespace) -> None:
    """Both queries, until they end or one fails. Raises what ended it."""
    target, server = StreamTarget(arguments.into), arguments.server or None
    create_tables(lake, target)
    begun = processor_s()
    changes = ChangeStream(lake.places, target, server)
    queries = [_start_changes(lake, arguments, changes)]
    with BatchReports(server).run("stream.clicks", [target.clicks.name], lake.spark):
        # A query inherits the run of the thread that starts it. Each batch of changes is a run of its own instead.
        queries.append(_start_clicks(lake, arguments, target))
        sys.stdout.write("streaming\n")
        sys.stdout.flush()
        while any(query.isActive for query in queries):
            time.sleep(0.5)
            for query in queries:
                if error := query.exception():
                    raise error
    for query in queries:
        _say_work(query)
    _say({"reports_s": round(changes.reports.seconds, 2)})
    if begun is not None and (used := processor_s()) is not None:
        _say({"processor_s": round(used - begun, 1)})


def _say_work(query: Any) -> None:
    """A line with the records and the time of the batches of a query that has ended."""
    batches = query.recentProgress
    rows = sum(each.numInputRows for each in batches)
    spent = sum(each.durationMs.get("triggerExecution", 0) for each in batches)
    _say({"query": query.name, "batches": len(batches), "rows": rows, "ms": spent})


def _say(found: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def _start_changes(lake: Lake, arguments: argparse.Namespace, changes: ChangeStream) -> Any:
    topics = (*kafka.CHANGE_TOPICS, *kafka.EVENT_TOPICS)
    writing = _writing(lake, arguments, "changes", lambda frame: frame, topics)
    return writing.foreachBatch(changes.write).start()


def _start_clicks(lake: Lake, arguments: argparse.Namespace, target: StreamTarget) -> Any:
    writing = _writing(lake, arguments, "clicks", lambda frame: click_rows(frame).coalesce(1), (kafka.CLICKS_TOPIC,))
    return writing.format("iceberg").outputMode("append").toTable(target.clicks.name)


def _writing(
    lake: Lake,
    arguments: argparse.Namespace,
    name: str,
    shaped: Callable[[DataFrame], DataFrame],
    topics: Sequence[str],
) -> Any:
    """A query of topics with its name, checkpoint and trigger."""
    every = {"availableNow": True} if arguments.trigger == "now" else {"processingTime": arguments.trigger}
    checkpoint = (Path(arguments.checkpoints).absolute() / name).as_uri()
    records = _records(lake, ",".join(topics), arguments.most)
    writing = shaped(records).writeStream.queryName(name)
    return writing.option("checkpointLocation", checkpoint).trigger(**every)


def click_rows(frame: DataFrame) -> DataFrame:
    """Records of clicks by the columns of `bronze.clicks`."""
    from pyspark.sql import functions as F  # noqa: N812 - the usual name

    return frame.select(
        F.from_json(F.col("value").cast("string"), CLICK).alias("v"),
        F.current_timestamp().alias("ingested_at"),
        F.col("partition").alias("source_partition"),
        F.col("offset").alias("source_offset"),
    ).select("v.*", "ingested_at", "source_partition", "source_offset")


def _records(lake: Lake, topics: str, most: int) -> DataFrame:
    options = {
        **({"maxOffsetsPerTrigger": str(most)} if most else {}),
        "kafka.bootstrap.servers": lake.places.broker,
        "subscribe": topics,
        "startingOffsets": EARLIEST,
        "includeHeaders": "true",
        "failOnDataLoss": "true",
    }
    return lake.spark.readStream.format("kafka").options(**options).load()


def main() -> int:
    """Exit 0 when the trigger is `now` and all was read, 1 if a query failed."""
    parser = argparse.ArgumentParser(prog="lakehouse stream", description=__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="folder of the lakehouse")
    parser.add_argument("--ports", type=json.loads, required=True, help="its ports, JSON")
    parser.add_argument("--checkpoints", required=True, help="folder of checkpoints")
    parser.add_argument("--trigger", default="10 seconds", help="how often, or `now`: what is there, then end")
    parser.add_argument("--server", default="", help="Limnograph; empty: the stream is not observed")
    parser.add_argument("--most", type=int, default=0, help="records a batch; 0: all that are there")
    parser.add_argument("--into", default="", help="namespace of all tables, instead of bronze and silver")
    arguments = parser.parse_args()
    read_patiently()
    places = Places(arguments.dir, Ports(**arguments.ports))
    spark = start_session(places, "lakehouse.stream", more_jars=kafka.spark_jars())
    try:
        run(Lake(places, spark), arguments)
    except Exception as error:  # noqa: BLE001 - whatever Spark raises; who started this program starts it again
        sys.stdout.write(f"the stream ended: {' '.join(str(error).split())[:500]}\n")
        return 1
    finally:
        with contextlib.suppress(Exception):
            spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
