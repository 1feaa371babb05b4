"""Alerts of the demo: what its Prometheus and Alertmanager read is accepted by their own programs, and the burst."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, DayTransform
from pyiceberg.types import DoubleType, LongType, NestedField, StringType, TimestamptzType

from limnograph.demo.burst import arrived, commit
from limnograph.demo.folder import Folder
from limnograph.demo.processes import alerting
from limnograph.demo.processes.configuration import limnograph_toml, prometheus_yml
from limnograph.demo.processes.tools import TOOLS_ENV, tool
from limnograph.domain.errors import InvalidInput, LimnographError
from limnograph.settings import load

SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "event_time", TimestamptzType()),
    NestedField(3, "kind", StringType()),
    NestedField(4, "amount", DoubleType()),
)
BY_DAY_AND_BUCKET = PartitionSpec(
    PartitionField(2, 1000, DayTransform(), "day"), PartitionField(1, 1001, BucketTransform(4), "id_bucket")
)


def lake(folder: Folder) -> SqlCatalog:
    folder.make()
    catalog = SqlCatalog("lake", uri=folder.place.uri, warehouse=folder.place.warehouse)
    catalog.create_namespace("sales")
    catalog.create_table("sales.plain", SCHEMA)
    catalog.create_table("sales.parted", SCHEMA, partition_spec=BY_DAY_AND_BUCKET)
    return catalog


@pytest.mark.prometheus
def test_promtool_accepts_what_the_demos_prometheus_reads(tmp_path: Path) -> None:
    tables = ["lake.sales.orders", "lake.ops.deployments", "lake.ops.inventory", "lake.marketing.leads"]
    (tmp_path / "thresholds.yml").write_text(alerting.thresholds_yml(tables))
    files = [alerting.rules() / "*.yml", tmp_path / "thresholds.yml"]
    token = tmp_path / "token"
    token.touch()
    for told in (None, 9093):
        text = prometheus_yml(
            {"limnograph": 8787, "live": 1, "jobs": 2}, rules=files, alertmanager_port=told, token=token
        )
        (tmp_path / "prometheus.yml").write_text(text)
        command = [tool("promtool"), "check", "config", tmp_path / "prometheus.yml"]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout + found.stderr
        assert bool(yaml.safe_load(text)["alerting"]["alertmanagers"]) == (told is not None)
        assert len(yaml.safe_load(text)["rule_files"]) == 2
        scraped = {each["job_name"]: each.get("authorization") for each in yaml.safe_load(text)["scrape_configs"]}
        assert scraped == {"limnograph": {"credentials_file": str(token)}, "live": None, "jobs": None}
    muted = yaml.safe_load((tmp_path / "thresholds.yml").read_text())["groups"][0]["rules"]
    assert [rule["labels"]["table"] for rule in muted] == ["inventory", "leads"]


def test_amtool_accepts_what_the_demos_alertmanager_reads_and_it_waits_for_no_group(tmp_path: Path) -> None:
    (tmp_path / "token").touch()
    (tmp_path / "alertmanager.yml").write_text(alerting.alertmanager_yml(8787, tmp_path / "token"))
    found = subprocess.run(
        ["amtool", "check-config", tmp_path / "alertmanager.yml"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    told = yaml.safe_load((tmp_path / "alertmanager.yml").read_text())
    assert told["route"]["group_wait"] == "0s"
    receivers = {each["name"]: each for each in told["receivers"]}
    assert "webhook_configs" not in receivers["findings"], "the server shows findings themselves"
    webhook = receivers["limnograph"]["webhook_configs"][0]
    assert webhook["url"] == "http://127.0.0.1:8787/api/v1/alertmanager"
    assert webhook["http_config"]["authorization"]["credentials_file"] == str(tmp_path / "token")


def test_the_demos_settings_name_an_alertmanager_only_where_there_is_one(tmp_path: Path) -> None:
    place = Folder(tmp_path).place
    for port, url in ((None, None), (9093, "http://127.0.0.1:9093")):
        text = limnograph_toml(place, 9090, 8787, [], pipeline_port=9464, alertmanager_port=port)
        (tmp_path / "limnograph.toml").write_text(text)
        found = load(str(tmp_path / "limnograph.toml")).alertmanager
        assert (found.url if found else None) == url


def test_alertmanager_is_found_by_either_name_or_absent_if_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOOLS_ENV, str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert alerting.alertmanager() is None
    for name in reversed(alerting.NAMES):
        file = tmp_path / name
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
        assert alerting.alertmanager() == file


@pytest.mark.parametrize("name", ["sales.plain", "sales.parted"])
def test_a_burst_is_one_commit_of_real_readable_files(tmp_path: Path, name: str) -> None:
    folder = Folder(tmp_path)
    catalog = lake(folder)
    made = commit(folder, name, 12)
    table = catalog.load_table(name)
    assert [one.snapshot_id for one in table.snapshots()] == [made.snapshot_id]
    assert table.current_snapshot().summary["added-data-files"] == "12"
    rows = table.scan(row_filter="kind = 'demo_burst'").to_arrow()
    assert rows.num_rows == 12 * 8
    assert table.scan(row_filter=f"event_time < '{rows['event_time'][0].as_py().isoformat()}'").to_arrow().num_rows == 0
    sizes = {task.file.file_size_in_bytes for task in table.scan().plan_files()}
    assert sizes == {made.file_bytes}
    assert len(list((tmp_path / "warehouse").rglob("burst-*.parquet"))) == 12


@pytest.mark.parametrize("name", ["sales.nothing", "sales", "limnograph.snapshots"])
def test_a_burst_into_an_unknown_table_names_the_existing_ones(tmp_path: Path, name: str) -> None:
    folder = Folder(tmp_path)
    lake(folder)
    with pytest.raises(InvalidInput, match=r"sales\.parted, sales\.plain"):
        commit(folder, name, 1)


class Answers(BaseHTTPRequestHandler):
    """A server and a Prometheus that know of the alerts in `rows` and `alerts`, once they were asked three times."""

    asked = 0
    began = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        known = self.asked > 2
        table = {"catalog": "lake", "table_namespace": "sales", "table": "plain"}
        rows = [{"table": {**table, "table": "other"}, "fingerprint": "1", "starts_at": self.began}]
        rows += [{"table": table, "fingerprint": "old", "starts_at": 5}]  # of an alert that nobody ended
        rows += [{"table": table, "fingerprint": "2", "starts_at": self.began}] * known
        labels = {**table, "alertname": "SmallFileProliferation"}
        active = datetime.fromtimestamp(self.began / 1000, UTC).isoformat()
        alerts = [{"state": "firing" if known else "pending", "labels": labels, "activeAt": active}]
        body = json.dumps({"rows": rows, "data": {"alerts": alerts}}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def answering(began: int, already: int = 0) -> Iterator[str]:
    """An alert that began then (epoch ms); `already`: so many questions were asked before."""
    handler = type("Own", (Answers,), {"began": began, "asked": already})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


@pytest.mark.parametrize("told", [True, False])
def test_the_alert_is_awaited_at_the_server_or_at_prometheus_when_there_is_no_webhook(
    tmp_path: Path, *, told: bool
) -> None:
    folder = Folder(tmp_path)
    lake(folder)
    made = commit(folder, "sales.plain", 1)
    with answering(made.at + 4_000) as url:
        addresses = {"server": url, "prometheus": url, "alertmanager": url if told else None}
        found = arrived(addresses, made, 60)
    assert found.endswith(f"{url}/alerts/2?starts_at={made.at + 4_000}" if told else f"{url}/alerts")


def test_a_burst_while_the_alert_of_another_one_fires_is_reported_as_such(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    lake(folder)
    made = commit(folder, "sales.plain", 1)
    with answering(made.at - 60_000, already=9) as url:
        found = arrived({"server": url, "prometheus": url, "alertmanager": url}, made, 60)
    assert "before this commit, which prolongs it" in found
    assert found.endswith(f"/alerts/2?starts_at={made.at - 60_000}")


def test_an_alert_that_does_not_fire_is_an_error_that_names_the_threshold(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    lake(folder)
    made = commit(folder, "sales.parted", 1)
    with answering(made.at) as url, pytest.raises(LimnographError, match="limnograph:added_data_files_5m:threshold"):
        arrived({"server": url, "prometheus": url, "alertmanager": url}, made, 0)


@pytest.mark.parametrize("way", [("--dir", "{dir}", "burst"), ("burst", "--dir", "{dir}")])
def test_a_burst_without_a_running_demo_is_a_one_line_error_with_the_remedy(
    tmp_path: Path, way: tuple[str, ...]
) -> None:
    arguments = [part.format(dir=tmp_path / "demo") for part in way]
    command = [sys.executable, "-m", "limnograph", "demo", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"no demo runs in {tmp_path / 'demo'}; start one with `limnograph demo --dir {tmp_path}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "demo").exists()
