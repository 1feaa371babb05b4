"""Measuring a PySpark job: what is exposed, what is pushed, and that a server which is away changes nothing."""

import json
import logging
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from lakes import Lake, rows
from limnograph.api.wire.views import RunIn
from limnograph.demo.processes.tools import free_port
from limnograph.spark_metrics import REGISTRY, RUNS, TOKEN_ENV, Pusher, _pusher, job_run, start_exposition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ANSWERED = 202


class Inbox:
    """A small real server that takes runs as Limnograph does; `status` can be changed."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.authorizations: list[str | None] = []
        self.status, self.delay = ANSWERED, 0.0
        inbox = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                time.sleep(inbox.delay)
                inbox.paths.append(self.path)
                inbox.authorizations.append(self.headers["authorization"])
                if inbox.status == ANSWERED:
                    inbox.bodies.append(body)
                self.send_response(inbox.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Silent."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def arrived(self, count: int, seconds: float = 10) -> list[dict[str, Any]]:
        wait(lambda: len(self.bodies) >= count, seconds)
        return self.bodies


def wait(until: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not until() and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    box = Inbox()
    yield box
    box.server.shutdown()
    box.server.server_close()


def session(application_id: str = "app-1") -> Any:
    return SimpleNamespace(sparkContext=SimpleNamespace(applicationId=application_id))


def value(name: str, **labels: str) -> float | None:
    usual = {"catalog": "lake", "table_namespace": "a.b", "table": "t", "application_id": "app-1", "role": "reads"}
    return REGISTRY.get_sample_value(name, {**usual, **labels})


def test_a_run_is_pushed_in_the_wire_format_when_it_starts_and_when_it_ends(inbox: Inbox) -> None:
    snapshot = 5_184_430_069_070_270_604
    with job_run("pair", reads={"lake.a.b.t": snapshot}, writes=["lake.a.o"], server=inbox.url, spark=session()) as run:
        assert [body["status"] for body in inbox.arrived(1)] == ["running"]
    bodies = inbox.arrived(2)
    first, last = (msgspec.convert(body, RunIn) for body in bodies)
    assert (first.status, last.status) == ("running", "ok")
    assert first.run_id == last.run_id == run.run_id
    assert first.ended_at is None
    assert last.ended_at is not None
    assert last.ended_at >= last.started_at
    assert last.application_id == "app-1"
    assert [(use.table_namespace, use.table, use.role, use.read_snapshot_id) for use in last.tables] == [
        ("a.b", "t", "reads", str(snapshot)),
        ("a", "o", "writes", None),
    ]
    assert set(inbox.paths) == {"/api/v1/runs"}


def test_duration_end_and_count_of_a_run_are_exposed() -> None:
    with job_run("measured", reads=["lake.a.b.t"], spark=session()):
        time.sleep(0.05)
    duration = value("spark_job_duration_seconds", job_name="measured")
    assert duration is not None
    assert 0.05 <= duration < 5
    assert value("spark_job_last_finished_timestamp_seconds", job_name="measured") == pytest.approx(time.time(), abs=5)
    assert value("spark_job_runs_total", job_name="measured", status="ok") == 1
    assert value("spark_job_runs_total", job_name="measured", status="failed") is None


def test_an_exception_makes_the_run_failed_and_reaches_the_caller(inbox: Inbox) -> None:
    with (
        pytest.raises(RuntimeError, match="boom"),
        job_run("breaks", reads=["lake.a.b.t"], server=inbox.url, spark=session()),
    ):
        raise RuntimeError("boom")
    assert [body["status"] for body in inbox.arrived(2)] == ["running", "failed"]
    assert value("spark_job_runs_total", job_name="breaks", status="failed") == 1


def test_an_unavailable_server_neither_breaks_nor_delays_the_job_and_warns_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = f"http://127.0.0.1:{free_port()}"
    with caplog.at_level(logging.WARNING, "limnograph.spark_metrics"):
        begin = time.monotonic()
        for _ in range(200):
            with job_run("lonely", reads=["lake.a.b.t"], server=server, spark=session()):
                pass
        assert time.monotonic() - begin < 2
        wait(lambda: bool(caplog.records), 5)
        time.sleep(1.5)
    assert len([record for record in caplog.records if server in record.getMessage()]) == 1
    assert len(_pusher(server)._waiting) <= Pusher.BUFFER


def test_runs_wait_for_a_server_that_comes_back(inbox: Inbox) -> None:
    inbox.status = 503
    with job_run("patient", server=inbox.url, spark=session()):
        pass
    wait(lambda: bool(inbox.paths), 5)
    inbox.status = ANSWERED
    assert [body["status"] for body in inbox.arrived(2, 15)] == ["running", "ok"]


def test_a_run_that_the_server_refuses_does_not_block_the_next_one(inbox: Inbox) -> None:
    inbox.status = 400
    with job_run("refused", server=inbox.url, spark=session()):
        pass
    wait(lambda: len(inbox.paths) >= 2, 5)
    inbox.status = ANSWERED
    with job_run("taken", server=inbox.url, spark=session()):
        pass
    assert {body["job_name"] for body in inbox.arrived(2)} == {"taken"}


@pytest.mark.parametrize("name", ["orders", "sales.orders", "lake..orders", ""])
def test_a_table_without_catalog_and_namespace_is_refused_before_the_job_runs(name: str) -> None:
    with pytest.raises(ValueError, match=r"write catalog\.namespace\.table"), job_run("bad", reads=[name]):
        pytest.fail("the body must not run")


def test_a_single_name_instead_of_a_list_is_refused() -> None:
    with pytest.raises(TypeError, match="give a list"), job_run("bad", writes="lake.a.t", spark=session()):
        pytest.fail("the body must not run")


def test_the_exposition_serves_the_registry_and_no_forbidden_label() -> None:
    with job_run("served", reads=["lake.a.b.t"], spark=session()):
        pass
    port = start_exposition(0)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    assert 'spark_job_duration_seconds{application_id="app-1",catalog="lake",job_name="served"' in text
    assert ' job="' not in text
    assert ",namespace=" not in text
    assert ",job=" not in text


@pytest.mark.spark
def test_app_id_of_the_snapshots_equals_the_application_id_of_the_metrics(
    spark: "SparkSession", shared_lake: Lake, inbox: Inbox
) -> None:
    shared_lake.table("measured.orders")
    with job_run("orders-writer", writes=["shared.measured.orders"], server=inbox.url, spark=spark):
        spark.createDataFrame(rows("eu", "us").to_pylist()).createOrReplaceTempView("fresh_orders")
        spark.sql("insert into shared.measured.orders select id, region from fresh_orders")
    summary = shared_lake.load("measured.orders").current_snapshot().summary
    labels = [
        sample.labels["application_id"]
        for metric in REGISTRY.collect()
        for sample in metric.samples
        if metric.name == "spark_job_duration_seconds" and sample.labels["job_name"] == "orders-writer"
    ]
    assert labels == [summary["app-id"]]
    assert inbox.arrived(2)[1]["application_id"] == summary["app-id"]


def test_the_token_of_the_environment_is_sent(inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_ENV, "lmn_1_2\n")
    pusher = Pusher(inbox.url)
    pusher.push({})
    inbox.arrived(1)
    assert inbox.authorizations == ["Bearer lmn_1_2"]


def test_a_server_that_does_not_speak_http_leaves_the_run_queued(caplog) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def babble() -> None:
            connection, _ = server.accept()
            connection.sendall(b"nonsense\r\n\r\n")
            connection.close()

        threading.Thread(target=babble, daemon=True).start()
        pusher = Pusher(f"http://127.0.0.1:{server.getsockname()[1]}")
        assert pusher._send(RUNS, {"run_id": "r"}) is False
    assert "is not responding" in caplog.text


class Connect:
    """A Spark Connect session: it has no context and says so."""

    @property
    def sparkContext(self) -> Any:  # noqa: N802
        raise RuntimeError("[JVM_ATTRIBUTE_NOT_SUPPORTED]")


def test_a_session_without_an_application_id_does_not_end_the_job() -> None:
    with job_run("remote", reads=["lake.a.b.t"], spark=Connect()) as run:
        assert run.application_id == ""
    assert value("spark_job_runs_total", job_name="remote", application_id="", status="ok") == 1
