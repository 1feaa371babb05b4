"""The settings of docker-compose.yml, run natively: PostgreSQL catalog and inbox, pipeline, server."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

import postgres
from crash_lake import run_item
from limnograph.adapters.inbox.store import SqlInbox
from quick_jvm import quick_options

ROOT = Path(__file__).parents[2]
LIMNOGRAPH = Path(sys.executable).with_name("limnograph")
PASSWORD = "only/in:this@test#50%"
QUOTED = quote(PASSWORD, safe="")
"""As it must stand in a URL; docker-compose.yml, which gives one variable to all, asks for plain letters instead."""
pytestmark = [
    pytest.mark.xdist_group("team"),
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(postgres.program("initdb") is None, reason="PostgreSQL is not installed (make system)"),
]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Environment of the services, with a lake of one table behind it."""
    folder = tmp_path_factory.mktemp("team")
    shutil.copy(ROOT / "deploy" / "compose" / "limnograph.toml", folder)
    with postgres.running("limnograph", PASSWORD, "lake") as address:
        warehouse = f"file://{folder}/warehouse"
        lake = SqlCatalog("lake", uri=f"postgresql+psycopg2://limnograph:{QUOTED}@{address}/lake", warehouse=warehouse)
        lake.create_namespace("sales")
        orders = lake.create_table("sales.orders", Schema(NestedField(1, "id", LongType())))
        for start in (0, 10):
            orders.append(pa.table({"id": list(range(start, start + 10))}))
        yield {
            **os.environ,
            "JDK_JAVA_OPTIONS": quick_options(),
            "LIMNOGRAPH_CONFIG": str(folder / "limnograph.toml"),
            "LIMNOGRAPH_CATALOG_HOST": address,
            "LIMNOGRAPH_CATALOG_PASSWORD": QUOTED,
            "LIMNOGRAPH_PROMETHEUS_URL": "http://127.0.0.1:1",
            "LIMNOGRAPH_STATE": str(folder / "state"),
            "LIMNOGRAPH_WAREHOUSE": warehouse,
        }


def passed(env: dict[str, str]) -> dict[str, int]:
    command = [LIMNOGRAPH, "pipeline", "--once", "--json"]
    found = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=180, cwd=ROOT)
    assert found.returncode == 0, found.stderr[-3000:]
    assert PASSWORD not in found.stdout + found.stderr
    assert QUOTED not in found.stdout + found.stderr
    return json.loads(found.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def first_pass(team: dict[str, str]) -> dict[str, int]:
    """What the first pass of the pipeline wrote."""
    return passed(team)


@pytest.fixture(scope="module")
def second_pass(team: dict[str, str], first_pass: dict[str, int]) -> dict[str, int]:
    """What the next one wrote, which found no new commit and a run in the inbox."""
    SqlInbox(database(team)).put([run_item("r2")])
    return passed(team)


def database(team: dict[str, str]) -> str:
    return f"postgresql+psycopg2://limnograph:{QUOTED}@{team['LIMNOGRAPH_CATALOG_HOST']}/lake"


def ready(base: str) -> None:
    """Wait until the server has read the meta tables once."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{base}/readyz") as answer:
            assert answer.status == 200
            return
        time.sleep(0.1)
    pytest.fail("not ready after 60 s")


@pytest.mark.usefixtures("first_pass")
def test_the_server_serves_it_and_keeps_runs_in_postgresql(team: dict[str, str]) -> None:
    port = postgres.free_port()
    command = [LIMNOGRAPH, "serve", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, env=team, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            assert server.stdout is not None
            assert str(port) in server.stdout.readline()
            ready(f"http://127.0.0.1:{port}")
            base = f"http://127.0.0.1:{port}/api/v1"
            with urllib.request.urlopen(f"{base}/tables") as answer:
                rows = json.load(answer)["rows"]
            assert [(row["table"], row["values"]["data_files"]) for row in rows] == [("orders", 2)]
            run = {"run_id": "r1", "job_name": "churn", "status": "ok", "started_at": 1, "ended_at": 2}
            request = urllib.request.Request(
                f"{base}/runs", json.dumps(run).encode(), {"content-type": "application/json"}, method="POST"
            )
            with urllib.request.urlopen(request) as answer:
                assert (answer.status, json.load(answer)["accepted"]) == (202, 1)
            with urllib.request.urlopen(request) as answer:
                assert json.load(answer)["duplicates"] == 1
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)


def test_the_pipeline_reads_and_keeps_everything_in_postgresql(
    first_pass: dict[str, int], second_pass: dict[str, int]
) -> None:
    assert first_pass["snapshots_appended"] == 2
    assert second_pass["snapshots_appended"] == 0


@pytest.mark.usefixtures("second_pass")
def test_the_pipeline_drains_the_inbox_in_postgresql_once(team: dict[str, str]) -> None:
    """What the server accepted is drained with it: its test is above."""
    warehouse = team["LIMNOGRAPH_WAREHOUSE"]
    runs = SqlCatalog("lake", uri=database(team), warehouse=warehouse).load_table("limnograph.runs")
    found = runs.scan(selected_fields=("run_id", "status")).to_arrow().to_pylist()
    assert {"run_id": "r2", "status": "ok"} in found
    passed(team)
    assert runs.refresh().scan().to_arrow().num_rows == len(found)
