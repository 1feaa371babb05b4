"""The stream's own rules: what bronze has is not written twice, a refused merge is repeated, records become rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakehouse.bronze.tables import CDC, EVENTS
from lakehouse.check.stream.freshness import quantiles
from lakehouse.check.stream.throughput import cost_of, work_of
from lakehouse.ingest.stream import ATTEMPTS, StreamTarget, beyond, change_rows, event_rows, insist
from lakehouse.parts import kafka
from lakehouse.parts.places import Places, Ports
from lakehouse.parts.streaming import driver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class RefusedWriter:
    """A commit that is refused some times, and then accepted."""

    def __init__(self, times: int, said: str) -> None:
        self._left, self._said = times, said
        self.calls = 0

    def commit(self) -> None:
        self.calls += 1
        if self.calls <= self._left:
            raise RuntimeError(self._said)


def test_a_commit_is_repeated_only_if_another_writer_was_first(capsys: pytest.CaptureFixture[str]) -> None:
    refused = "org.apache.iceberg.exceptions.ValidationException: Found conflicting files"
    writer = RefusedWriter(2, refused)
    insist(writer.commit, "MERGE")
    assert writer.calls == 3
    assert capsys.readouterr().out.count("another writer was first: MERGE") == 2
    for writer, calls in ((RefusedWriter(99, refused), ATTEMPTS), (RefusedWriter(1, "no space left"), 1)):
        with pytest.raises(RuntimeError):
            insist(writer.commit, "MERGE")
        assert writer.calls == calls


@pytest.mark.spark
def test_records_of_debezium_become_rows_of_bronze_once(spark: SparkSession) -> None:
    image = {"id": 1, "status": "new", "updated_at": "2026-05-01T10:00:00Z"}
    source = {"lsn": 77, "txId": 5, "ts_ms": 1_777_629_600_000}
    value = json.dumps({"op": "u", "before": image, "after": {**image, "status": "paid"}, "source": source, "ts_ms": 1})
    records = [
        ("shop.public.orders", '{"id":1}', value, partition, offset) for partition in (0, 1) for offset in (4, 5)
    ]
    frame = spark.createDataFrame(records, "topic string, key string, value string, partition int, offset bigint")
    rows = change_rows(frame)
    assert rows.columns == [column.split()[0] for column in StreamTarget().changes.columns.split(", ")]
    assert set(CDC.columns.split(", ")) < set(StreamTarget().changes.columns.split(", "))
    first = rows.first()
    assert first is not None
    assert json.loads(first["after"])["status"] == "paid", "an image stays the text that Debezium wrote"
    assert (first["op"], first["lsn"], first["tx_id"], first["commit_lsn"]) == ("u", 77, 5, None)
    assert rows.where(beyond({})).count() == 4
    reached = {"shop.public.orders/0": 5, "shop.public.orders/1": 6, "shop.public.customers/0": 9}
    left = rows.where(beyond(reached)).collect()
    assert [(row["source_partition"], row["source_offset"]) for row in left] == [(0, 5)]


@pytest.mark.spark
def test_a_routed_event_is_its_payload_with_the_rest_in_headers(spark: SparkSession) -> None:
    said = {"aggregateid": "7", "id": "31", "type": "OrderCreated", "created_at": "2026-05-01T10:00:00.5Z"}
    headers = [(key, bytearray(value.encode())) for key, value in said.items()]
    record = ("events.Order", '{"id": 7}', headers, 1, 4)
    columns = (
        "topic string, value string, headers array<struct<key: string, value: binary>>, partition int, offset bigint"
    )
    rows = event_rows(spark.createDataFrame([record, (*record[:2], None, 1, 5)], columns))
    assert rows.columns == [column.split()[0] for column in EVENTS.columns.split(", ")]
    routed, bare = rows.collect()
    assert (routed["aggregate_id"], routed["event_id"], routed["type"]) == ("7", "31", "OrderCreated")
    assert json.loads(routed["payload"]) == {"id": 7}
    assert routed["created_at"].microsecond == 500_000
    assert (bare["event_id"], bare["created_at"]) == (None, None)


def test_programs_listen_on_loopback_and_name_what_they_read(tmp_path: Path) -> None:
    places = Places(tmp_path, Ports())
    places.kafka.joinpath("logs").mkdir(parents=True)
    places.kafka.joinpath("logs", "meta.properties").touch()
    kafka.broker(places)
    properties = dict(line.split("=", 1) for line in (places.kafka / "server.properties").read_text().splitlines())
    assert properties["listeners"] == "PLAINTEXT://127.0.0.1:9592,CONTROLLER://127.0.0.1:9593"
    command = kafka.connect(places).command
    shop = json.loads(Path(command[-2]).read_text())["config"]
    assert (shop["slot.name"], shop["publication.autocreate.mode"]) == ("lake", "disabled")
    assert json.loads(Path(command[-1]).read_text())["config"]["file"] == str(places.click_log)


def test_the_driver_knows_its_ports_and_has_a_checkpoint_of_its_own(tmp_path: Path) -> None:
    places = Places(tmp_path, Ports(broker=12345))
    given = list(driver(places, "--into", "lake.aside", name="aside", trigger="now").command)
    options = dict(zip(given[3::2], given[4::2], strict=True))
    assert Ports(**json.loads(options["--ports"])) == places.ports
    assert options["--checkpoints"].endswith("checkpoints/aside")
    assert (options["--server"], options["--trigger"], options["--into"]) == (places.server, "now", "lake.aside")
    assert StreamTarget("lake.aside").silver("orders").name == "lake.aside.orders"


def test_quantiles_are_of_sorted_seconds() -> None:
    assert quantiles([float(n) for n in reversed(range(100))]) == {"p50_s": 50.0, "p95_s": 95.0, "max_s": 99.0}


def test_the_work_of_a_query_is_read_from_its_line() -> None:
    lines = [
        '{"query": "clicks", "batches": 1, "rows": 9, "ms": 10}',
        "streaming",
        '{"query": "changes", "rows": 600, "ms": 1500}',
    ]
    assert work_of("\n".join(lines)) == (600, 1.5, None, 0.0)
    ended = [*lines, '{"reports_s": 0.25}', '{"processor_s": 31.5}']
    assert work_of("\n".join(ended)) == (600, 1.5, 31.5, 0.25)


def test_what_reports_cost_is_claimed_as_far_as_runs_agree() -> None:
    quiet = cost_of({"observed": [97.0, 98.0, 99.0], "alone": [100.0, 101.0, 99.0]})
    assert (round(quiet.impact, 2), round(quiet.noise, 2), quiet.verdict) == (0.02, 0.02, "at most 5%")
    busy = cost_of({"observed": [55.0, 52.0, 80.0], "alone": [60.0, 63.0, 90.0]})
    assert (busy.is_too_much, busy.verdict) == (False, "not known: runs of one kind differ by 51%")
    costly = cost_of({"observed": [70.0, 71.0, 72.0], "alone": [100.0, 101.0, 99.0]})
    assert (costly.is_too_much, costly.verdict) == (True, "more than 5%")
