"""`limnograph serve` as a process: its one line, its watcher, its end."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from served_lake import ROWS, small_lake


@pytest.fixture
def lake(tmp_path) -> SqlCatalog:
    return small_lake(tmp_path)


class Serving:
    """A running server."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "limnograph", "serve", "--config", str(folder / "limnograph.toml"), *arguments]
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.line = self.child.stdout.readline()
        self.url = self.line.rsplit(" ", 1)[-1].strip()

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return json.load(answer)

    def until(self, path: str, holds: Callable[[Any], bool], seconds: float = 120) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.get(path)
            if holds(found):
                return found
            time.sleep(0.2)
        raise AssertionError(f"{path} never held: {found}")

    def watcher(self) -> psutil.Process:
        return psutil.Process(self.child.pid).children()[0]


@pytest.fixture
def serving(lake, tmp_path) -> Iterator[Serving]:
    made = Serving(tmp_path, "--port", "0")
    yield made
    if made.child.poll() is None:
        made.child.kill()
    made.child.communicate()


def gone(process: psutil.Process, seconds: float = 10) -> bool:
    try:
        process.wait(seconds)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "limnograph", "serve", "--config", str(folder / "limnograph.toml"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_commit_is_visible_soon_after_it_happened_and_a_dead_watcher_comes_back(serving, lake) -> None:
    assert serving.line.startswith("Limnograph serves http://127.0.0.1:")
    table = "/api/v1/tables/lake/sales/orders"
    serving.until("/api/v1/tables", lambda page: page["total"] == 1)
    lake.load_table("sales.orders").append(ROWS)
    began = time.monotonic()
    serving.until(f"{table}/commits", lambda page: len(page["rows"]) == 2)
    assert time.monotonic() - began < 10
    serving.watcher().kill()
    sources = lambda status: {s["id"]: s["status"] for s in status["sources"]}  # noqa: E731
    serving.until("/api/v1/status", lambda status: sources(status)["watcher"] == "error")
    serving.until("/api/v1/status", lambda status: sources(status)["watcher"] == "ok")
    lake.load_table("sales.orders").append(ROWS)
    serving.until(f"{table}/commits", lambda page: len(page["rows"]) == 3)


def test_sigterm_ends_the_server_and_its_watcher(serving) -> None:
    serving.until("/api/v1/tables", lambda page: page["total"] == 1)
    watcher = serving.watcher()
    serving.child.send_signal(signal.SIGTERM)
    assert serving.child.wait(60) == 0
    assert gone(watcher)


def test_a_killed_server_leaves_no_watcher_behind(serving) -> None:
    serving.until("/api/v1/tables", lambda page: page["total"] == 1)
    watcher = serving.watcher()
    os.kill(serving.child.pid, signal.SIGKILL)
    assert gone(watcher)


def test_a_run_survives_a_restart(lake, tmp_path) -> None:
    first = Serving(tmp_path, "--port", "0", "--no-watch")
    body = json.dumps({"run_id": "r", "job_name": "churn", "status": "ok", "started_at": 1, "ended_at": 2}).encode()
    request = urllib.request.Request(first.url + "/api/v1/runs", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 202
    first.child.kill()
    first.child.communicate()
    second = Serving(tmp_path, "--port", "0", "--no-watch")
    with urllib.request.urlopen(
        urllib.request.Request(second.url + "/api/v1/runs", body, {"content-type": "application/json"}), timeout=10
    ) as answer:
        assert json.load(answer) == {"accepted": 0, "duplicates": 1}
    status = second.get("/api/v1/status")
    assert {s["id"]: s["status"] for s in status["sources"]}["watcher"] == "absent"
    second.child.terminate()
    second.child.communicate(timeout=60)


def test_an_explicit_port_in_use_is_a_one_line_error(lake, tmp_path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = run(tmp_path, "--port", str(port))
    assert found.returncode == 2
    assert found.stdout == ""
    assert found.stderr.count("\n") == 1
    assert str(port) in found.stderr
    assert "--port" in found.stderr


def test_a_configured_port_in_use_is_an_error_too_and_unused_keys_are_reported(lake, tmp_path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (tmp_path / "limnograph.toml").open("a") as settings:
            settings.write(f'\n[server]\nport = {port}\n[[jobs]]\nname = "x"\ntemplate = "mine"\n')
        found = run(tmp_path)
    assert found.returncode == 2
    assert str(port) in found.stderr
    assert "jobs[0].template is not used by this version" in found.stderr


def test_an_address_other_than_loopback_is_refused(lake, tmp_path) -> None:
    found = run(tmp_path, "--host", "0.0.0.0")
    assert found.returncode == 2
    assert "server.insecure" in found.stderr
    assert found.stderr.count("\n") == 1


def test_help_shows_an_example() -> None:
    command = [sys.executable, "-m", "limnograph", "serve", "--help"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "limnograph serve --config" in found.stdout
