"""Alerts with real parts: lake, server, Prometheus, our rules, Alertmanager, webhook, link; reports and a stream."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from limnograph.demo.burst import append
from limnograph.demo.processes import alerting
from limnograph.demo.processes.children import answers
from limnograph.demo.processes.tools import free_port, tool
from limnograph.spark_metrics import start_exposition
from limnograph.spark_streams import measure_streams
from served_lake import Served, served

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakes import Lake

ALERT = "SmallFileProliferation"
FILES = 1_200
"""More than the shipped threshold: rules and thresholds are those that are shipped."""
ORDERS = {"catalog": "lake", "table_namespace": "sales", "table": "orders"}
LABELS = f"alertname={ALERT}&catalog=lake&table_namespace=sales&table=orders"
LONG_S = 240
THRESHOLDS = """
groups:
  - name: ours
    rules:
      - record: limnograph:stream_lag_seconds:override
        expr: vector(0)
        labels: {catalog: lake, table_namespace: a.b, table: ticks}
"""
"""Any lag of the test's stream is too long."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def until(what: Callable[[], Any], why: str) -> Any:
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        try:
            if found := what():
                return found
        except OSError:
            pass
        time.sleep(0.5)
    pytest.fail(f"not within {LONG_S} s: {why}")


@contextmanager
def running(folder: Path, address: str, *command: object) -> Iterator[str]:
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen([*map(str, command)], cwd=folder, stdout=log, stderr=log)
    try:
        until(lambda: answers(f"{address}/-/ready"), f"{command[0]}: {(folder / 'log').read_text()[-2_000:]}")
        yield address
    finally:
        child.terminate()
        child.wait(60)


@contextmanager
def prometheus(
    folder: Path, server: Served, alertmanager: str = "127.0.0.1:9", job: int | None = None, port: int | None = None
) -> Iterator[str]:
    """Scrapes the server and, when there is one, a job on port `job`. Listens on `port`, else on one that is free."""
    folder.mkdir()
    (folder / "thresholds.yml").write_text(THRESHOLDS)
    scrape = {
        "job_name": "limnograph",
        "authorization": {"credentials": server.token},
        "static_configs": [{"targets": [server.url.removeprefix("http://")]}],
    }
    told = {"static_configs": [{"targets": [alertmanager.removeprefix("http://")]}]}
    streams = [] if job is None else [{"job_name": "stream", "static_configs": [{"targets": [f"127.0.0.1:{job}"]}]}]
    settings = {
        "global": {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "2s"},
        "rule_files": [str(alerting.rules() / "*.yml"), "thresholds.yml"],
        "alerting": {"alertmanagers": [told]},
        "scrape_configs": [scrape, *streams],
    }
    (folder / "prometheus.yml").write_text(json.dumps(settings))
    port = port or free_port()
    command = [tool("prometheus"), "--config.file=prometheus.yml", "--storage.tsdb.path=data"]
    address = f"http://127.0.0.1:{port}"
    with running(folder, address, *command, f"--web.listen-address=127.0.0.1:{port}") as up:
        yield up


@contextmanager
def alertmanager(folder: Path, server: Served, port: int) -> Iterator[str]:
    program = alerting.alertmanager() or pytest.fail("Alertmanager is missing; run `make system`")
    folder.mkdir()
    webhook = {
        "url": f"{server.url}/api/v1/alertmanager",
        "http_config": {"authorization": {"credentials": server.token}},
    }
    settings = {
        "route": {"receiver": "limnograph", "group_by": ["..."], "group_wait": "0s", "group_interval": "1s"},
        "receivers": [{"name": "limnograph", "webhook_configs": [webhook]}],
    }
    (folder / "alertmanager.yml").write_text(json.dumps(settings))
    command = [program, "--config.file=alertmanager.yml", "--storage.path=data", "--cluster.listen-address="]
    address = f"http://127.0.0.1:{port}"
    with running(folder, address, *command, f"--web.listen-address=127.0.0.1:{port}") as up:
        yield up


def asked(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def samples(prometheus: str, metric: str) -> int:
    found = asked(f"{prometheus}/api/v1/query?query={metric}%5B2m%5D")["data"]["result"]
    return len(found[0]["values"]) if found else 0


def leads_to(server: Served, link: str) -> str:
    request = urllib.request.Request(link, headers={"authorization": f"Bearer {server.token}"})
    with pytest.raises(urllib.error.HTTPError) as told:
        urllib.request.build_opener(NoRedirect).open(request, timeout=60)
    assert told.value.code == 303
    return str(told.value.headers["location"])


def post(server: Served, path: str, body: Any) -> None:
    headers = {"authorization": f"Bearer {server.token}", "content-type": "application/json"}
    request = urllib.request.Request(server.url + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 202


def pending(prometheus: str, alert: str) -> list[dict[str, str]]:
    told = asked(f"{prometheus}/api/v1/alerts")["data"]["alerts"]
    return [one["labels"] for one in told if one["labels"]["alertname"] == alert]


def waiting(server: Served) -> list[dict[str, Any]]:
    """Bars of alerts that wait, of the last ten minutes of the table."""
    now = int(time.time() * 1000)
    span = f"from={now - 600_000}&to={now}&step=5"
    lane = server.get(f"/api/v1/tables/lake/sales/orders/timeline?lanes=alerts&{span}")["lanes"][0]
    return [bar for bar in lane["bars"] if bar["state"] == "pending"]


def commit_report(snapshot: int, attempts: int) -> dict[str, Any]:
    """As Iceberg's clients send it."""
    metrics = {
        "attempts": {"unit": "count", "value": attempts},
        "total-duration": {"count": 1, "time-unit": "nanoseconds", "total-duration": 4_000_000},
    }
    named = {"report-type": "commit-report", "table-name": "lake.sales.orders", "snapshot-id": snapshot}
    return {**named, "sequence-number": snapshot, "operation": "append", "metrics": metrics}


def data_files(server: Served) -> str:
    request = urllib.request.Request(f"{server.url}/metrics", headers={"authorization": f"Bearer {server.token}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return next((line for line in lines if line.startswith("lakehouse_table_data_files{")), "")


def test_a_burst_fires_and_its_link_leads_to_the_incident_also_when_alertmanager_has_forgotten_it(
    tmp_path: Path,
) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(served(tmp_path))
        port = free_port()
        told_by = ExitStack()
        manager = told_by.enter_context(alertmanager(tmp_path / "alertmanager", server, port))
        stack.enter_context(told_by)
        observer = stack.enter_context(prometheus(tmp_path / "prometheus", server, manager))
        until(lambda: samples(observer, "lakehouse_table_added_data_files_total") >= 3, "three samples of the counter")

        catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/wh")
        made = append(catalog.load_table("sales.orders"), FILES)
        until(lambda: data_files(server).endswith((f" {FILES + 2}", f" {FILES + 2}.0")), "the gauge tells the step")
        page = until(lambda: server.get(f"/api/v1/alerts?state=firing&q={ALERT}")["rows"], "the server is told")
        # The finding behind the burst may raise the alert of its severity, too.
        active = [one for one in asked(f"{manager}/api/v2/alerts") if one["labels"]["alertname"] == ALERT]
        assert len(active) == 1

        alert = page[0]
        assert len(page) == 1
        assert alert["table"] == ORDERS
        # The fingerprint is that of Alertmanager, which hashes labels as Prometheus does.
        assert alert["fingerprint"] == active[0]["fingerprint"]
        page_of_it = f"/alerts/{alert['fingerprint']}?starts_at={alert['starts_at']}"
        incident = server.get(f"/api/v1{page_of_it}")
        link = incident["annotations"]["dashboard_url"]
        assert link.endswith(f"/a?{LABELS}")
        assert leads_to(server, f"{server.url}/a?{LABELS}") == page_of_it
        assert incident["window"]["from"] <= min(alert["starts_at"], made.at) - 3_540_000
        culprit = incident["commits"][0]
        assert culprit["snapshot_id"] == str(made.snapshot_id)
        assert len(incident["commits"]) == 3

        told_by.close()
        with pytest.raises(OSError, match="refused"):
            asked(f"{manager}/api/v2/alerts")
        manager = stack.enter_context(alertmanager(tmp_path / "again", server, port))
        target = server.get(f"/api/v1/alerts/resolve?{LABELS}")
        assert (target["source"], target["path"]) == ("record", page_of_it)
        assert target["tables"] == [ORDERS]
        assert leads_to(server, f"{server.url}/a?{LABELS}") == page_of_it
        with urllib.request.urlopen(incident["annotations"]["runbook_url"], timeout=60) as runbook:
            assert runbook.read().startswith(f"# {ALERT}".encode())


def test_reported_commits_and_a_real_stream_raise_the_alerts_about_contention_and_lag(
    tmp_path: Path, spark: SparkSession, shared_lake: Lake
) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.chained")
    spark.sql("CREATE TABLE shared.chained.ticks (timestamp TIMESTAMP, value BIGINT) USING iceberg")
    port = free_port()
    start_exposition(port)
    told = measure_streams(spark, {"ticks": ["lake.a.b.ticks"]})
    source = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    writer = source.writeStream.queryName("ticks").option("checkpointLocation", str(tmp_path / "checkpoint"))
    (tmp_path / "server").mkdir()
    listening = free_port()
    settings = f'[prometheus.main]\nurl = "http://127.0.0.1:{listening}"\n'
    with (
        served(tmp_path / "server", settings) as server,
        prometheus(tmp_path / "prometheus", server, job=port, port=listening) as observer,
    ):
        query = writer.trigger(processingTime="0 seconds").toTable("shared.chained.ticks")
        try:
            post(server, "/api/v1/notify/iceberg-report", commit_report(1, 1))
            counted = "lakehouse_table_reported_commits_total"
            until(lambda: samples(observer, counted) >= 3, "three samples of the reported commits")
            for snapshot in range(2, 12):
                post(server, "/api/v1/notify/iceberg-report", commit_report(snapshot, 4))
            contention = until(lambda: pending(observer, "LakehouseCommitContention"), "retries are seen")
            waits = until(lambda: waiting(server), "the table's lane shows that the alert waits")
            lag = until(lambda: pending(observer, "LakehouseStreamingLag"), "the lag of the stream is seen")
        finally:
            query.stop()
            spark.streams.removeListener(told)
    assert {name: contention[0][name] for name in ORDERS} == ORDERS
    assert [(bar["label"], bar["end"]) for bar in waits] == [("LakehouseCommitContention", None)]
    assert (lag[0]["table"], lag[0]["query_name"]) == ("ticks", "ticks")
