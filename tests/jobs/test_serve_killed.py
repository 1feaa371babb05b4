"""A server that is killed under load: each answer that came was whole and right, and so is the first of the next."""

import http.client
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from test_serve_process import Serving

from limnograph.jobs.serve import free_port
from query_engine_contract import Iceberg
from serving_kit import MINUTE, moved, row

NOW = time.time_ns() // 1000
TABLE = "/api/v1/tables/lake/sales/orders"
READERS = 4
FIRST = 5


def filled(folder: Path) -> Iceberg:
    """A lake whose meta tables know five commits."""
    made = Iceberg(folder)
    for number in range(1, FIRST + 1):
        commit(made, number)
    lines = "".join(f'{key} = "{value}"\n' for key, value in {"type": "sql", **made.properties}.items())
    (folder / "limnograph.toml").write_text(f"[catalogs.lake]\n{lines}")
    return made


def commit(lake: Iceberg, number: int) -> None:
    at = NOW - (20 - number) * MINUTE
    lake.fill([row(number, at, number, parent_id=number - 1 or None)], [moved(number, at)])


class Readers:
    """People who ask all the time. `committed`: what may be shown; an answer below `durable` would be a step back."""

    def __init__(self, port: int) -> None:
        self.port, self.committed, self.durable = port, FIRST, FIRST
        self.right = self.broken = 0
        self.wrong: list[Any] = []
        self.over = threading.Event()

    @contextmanager
    def reading(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._read, args=(n,)) for n in range(READERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.over.set()
            for thread in threads:
                thread.join(90)

    def until_right(self, more: int) -> None:
        wanted, end = self.right + more, time.monotonic() + 120
        while self.right < wanted and not self.wrong and time.monotonic() < end:
            time.sleep(0.02)
        assert (self.wrong, self.right >= wanted) == ([], True)

    def _read(self, number: int) -> None:
        paths = (f"{TABLE}/commits", f"{TABLE}/timeline?lanes=data_files,commits", TABLE, "/api/v1/tables")
        while not self.over.is_set():
            least = self.durable
            try:
                status, body = self._asked(paths[number % len(paths)])
            except (OSError, http.client.HTTPException):
                self.broken += 1
                time.sleep(0.01)
                continue
            self._judge(paths[number % len(paths)], least, status, body)
            number += 1

    def _asked(self, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _judge(self, path: str, least: int, status: int, body: bytes) -> None:
        try:
            shown = shown_by(path, json.loads(body)) if status == 200 else []
        except (ValueError, KeyError, TypeError, IndexError, AssertionError):
            shown = ["not what the route answers"]
        if status == 200 and any(shown == list(range(1, n + 1)) for n in range(least, self.committed + 1)):
            self.right += 1
        elif status != 503:
            self.wrong.append((path, least, status, body[:500]))


def shown_by(path: str, page: Any) -> list[int]:
    """Snapshots that a page shows, oldest first."""
    if path.endswith("/commits"):
        return sorted(int(found["snapshot_id"]) for found in page["rows"])
    if "timeline" in path:
        lanes = {lane["id"]: lane for lane in page["lanes"]}
        found = sorted(int(event["snapshot_id"]) for event in lanes["commits"]["events"])
        assert lanes["data_files"]["v"][-1] == found[-1], "lanes of one page contradict each other"
        return found
    values = page["values"] if path == TABLE else page["rows"][0]["values"]
    return list(range(1, int(values["data_files"]) + 1))


def test_a_server_killed_under_load_returns_no_wrong_response_before_or_after(tmp_path) -> None:
    lake = filled(tmp_path)
    port = free_port("127.0.0.1", 0, given=False)
    readers = Readers(port)
    with readers.reading():
        for number in (FIRST + 1, FIRST + 2):
            serving = Serving(tmp_path, "--port", str(port), "--no-watch")
            try:
                readers.until_right(30)
                readers.committed = number
                commit(lake, number)
                readers.until_right(5)
            finally:
                os.kill(serving.child.pid, signal.SIGKILL)
                serving.child.communicate()
            readers.durable = number  # the next server has to know it from its first answer on
        serving = Serving(tmp_path, "--port", str(port), "--no-watch")
        try:
            readers.until_right(30)
        finally:
            serving.child.kill()
            serving.child.communicate()
    assert readers.wrong == []
    assert readers.broken > 0
