"""The real server under people who take their time: idle streams, half-sent requests, slow bodies, slow readers, a
drain. Over plain sockets.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pyiceberg.catalog.sql import SqlCatalog
from test_serve_process import Serving

from limnograph.domain.metrics.gauges import SERVER_METRICS
from limnograph.domain.metrics.maintenance import UNVERIFIED
from served_lake import ROWS, small_lake

STREAMS = 500
HALVES = 300


@pytest.fixture
def settings_file(tmp_path) -> Path:
    small_lake(tmp_path, "[server]\nstreams = 600\n")
    return tmp_path / "limnograph.toml"


@pytest.fixture
def serving(settings_file, tmp_path) -> Iterator[Serving]:
    made = Serving(tmp_path, "--port", "0")
    yield made
    if made.child.poll() is None:
        made.child.kill()
    made.child.communicate()


class Line:
    """A connection by hand."""

    def __init__(self, serving: Serving) -> None:
        host, port = serving.url.removeprefix("http://").split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.text = b""

    def send(self, text: bytes) -> Self:
        self.socket.sendall(text)
        return self

    def until(self, mark: bytes) -> bytes:
        while mark not in self.text:
            part = self.socket.recv(65_536)
            if not part:
                return self.text
            self.text += part
        return self.text

    def ended(self) -> bool:
        """Whether the server closes the connection (what it still sends is read)."""
        try:
            while self.socket.recv(65_536):
                pass
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False
        return True


def own_numbers(serving: Serving) -> dict[str, float]:
    """What the server tells of itself, without what any Python process does."""
    with urllib.request.urlopen(serving.url + "/metrics", timeout=60) as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    samples = [sample for family in families for sample in family.samples if not sample.labels]
    return {sample.name: sample.value for sample in samples if sample.name.startswith("limnograph_")}


STREAM = b"GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
PAGE = b"GET /api/v1/tables HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def test_idle_streams_and_half_sent_requests_do_not_affect_other_clients(serving) -> None:
    serving.until("/api/v1/tables", lambda page: page["total"] == 1)
    streams = [Line(serving).send(STREAM) for _ in range(STREAMS)]
    halves = [Line(serving).send(b"GET /api/v1/tables HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ") for _ in range(HALVES)]
    for line in streams:
        assert b"retry:" in line.until(b"retry:")
    assert streams[0].text.startswith(b"HTTP/1.1 200")
    assert b"text/event-stream" in streams[0].text
    for _ in range(20):
        assert Line(serving).send(PAGE).until(b"\r\n\r\n").startswith(b"HTTP/1.1 200")
    catalog = SqlCatalog("lake", uri=f"sqlite:///{serving.folder}/catalog.db", warehouse=f"file://{serving.folder}/wh")
    catalog.load_table("sales.orders").append(ROWS)
    for line in (streams[0], streams[-1]):
        assert b"event: commit" in line.until(b"event: commit")
    for line in halves:  # headers that never end are not waited for
        assert line.ended()
    more = [Line(serving).send(STREAM) for _ in range(150)]
    answers = [line.until(b"\r\n\r\n")[:12] for line in more]
    assert answers.count(b"HTTP/1.1 429") == 50
    told = own_numbers(serving)
    assert (told["limnograph_streams"], told["limnograph_streams_refused_total"]) == (STREAMS + 100, 50)
    assert told["limnograph_page_hits_total"] + told["limnograph_page_stale_total"] > 0
    known = {metric.name for metric in (*SERVER_METRICS, UNVERIFIED)}
    # no pipeline has made a forecast here: what is not known has no sample
    assert set(told) == {name for name in known if not name.startswith("limnograph_forecast_")}


def test_a_drain_ends_streams_too(serving) -> None:
    streams = [Line(serving).send(STREAM) for _ in range(20)]
    for line in streams:
        line.until(b"retry:")
    serving.child.send_signal(signal.SIGTERM)
    assert serving.child.wait(60) == 0  # a stream that nobody ended would hold it for ever
    assert all(line.ended() for line in streams)


def test_a_stream_resumes_where_it_ended(serving) -> None:
    catalog = SqlCatalog("lake", uri=f"sqlite:///{serving.folder}/catalog.db", warehouse=f"file://{serving.folder}/wh")
    serving.until("/api/v1/tables", lambda page: page["total"] == 1)
    first = Line(serving).send(STREAM)
    first.until(b"retry:")
    catalog.load_table("sales.orders").append(ROWS)
    seen = first.until(b"event: table")
    last = seen.split(b"\nid: ")[1].split(b"\n")[0]
    again = Line(serving).send(STREAM.replace(b"\r\n\r\n", b"\r\nLast-Event-ID: " + last + b"\r\n\r\n"))
    assert b"event: table" in again.until(b"event: table")
    assert last not in again.text


def test_an_address_other_than_loopback_requires_authentication_and_accepts_a_token(settings_file, tmp_path) -> None:
    with settings_file.open("a") as file:
        file.write('host = "0.0.0.0"\n[auth]\nmode = "tokens"\nsession_key = "canary-of-the-sessions"\n')
        file.write('[prometheus.main]\nurl = "http://127.0.0.1:9"\nbearer_token = "canary-of-prometheus"\n')
    command = [sys.executable, "-m", "limnograph", "token", "create", "ann", "--scope", "read"]
    command += ["--config", str(settings_file)]
    token = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    assert (tmp_path / ".limnograph/tokens.json").stat().st_mode & 0o777 == 0o600
    serving = Serving(tmp_path, "--port", "0", "--no-watch")
    serving.url = serving.url.replace("0.0.0.0", "127.0.0.1")
    try:
        nobody = Line(serving).send(PAGE).until(b"\r\n\r\n")
        assert nobody.startswith(b"HTTP/1.1 401")
        headers = f"\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        assert Line(serving).send(PAGE.replace(b"\r\n\r\n", headers)).until(b"\r\n\r\n").startswith(b"HTTP/1.1 200")
        assert Line(serving).send(PAGE.replace(b"/api", b"//api")).until(b"\r\n\r\n").startswith(b"HTTP/1.1 400")
        body = json.dumps({"token": token}).encode()
        login = (
            b"POST /api/v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        )
        session = Line(serving).send(login % len(body) + body).until(b"\r\n\r\n")
        assert b"set-cookie: limnograph=" in session.lower()
        closing = headers.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        status = b"GET /api/v1/status HTTP/1.1\r\nHost: x" + closing
        told = Line(serving).send(status).until(b"never there").decode()
        assert "prometheus" in told
    finally:
        os.kill(serving.child.pid, signal.SIGTERM)
        out, errors = serving.child.communicate(timeout=60)
    lines = (tmp_path / ".limnograph/audit.log").read_text().splitlines()
    assert [json.loads(line)["what"] for line in lines] == ["token create", "login", "request"]
    for text in (out, errors, *lines, told):
        assert token.split("_", 2)[2] not in text
        assert "canary" not in text
