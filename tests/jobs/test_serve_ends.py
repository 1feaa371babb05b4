"""The server ends within ten seconds of a signal, whatever hangs: sources, callers, threads, its own event loop."""

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from limnograph.jobs.ending import Signals
from served_lake import PROGRAM, small_lake

PROMISED_S = 10.0
STARTED_S = 150.0


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes every connection and never says a word."""
    kept: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listening:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    kept.append(listening.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
    for each in kept:
        each.close()


class Server:
    """A running server, its address, and what it left behind."""

    def __init__(self, folder: Path, settings: str) -> None:
        small_lake(folder, settings)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        config = ["--config", str(folder / "limnograph.toml"), "--port", str(self.port)]
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.child = subprocess.Popen([*PROGRAM, "serve", *config], stdout=subprocess.DEVNULL, stderr=log)

    def listening(self) -> None:
        end = time.monotonic() + STARTED_S
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            assert self.child.poll() is None, self.log.read_text()
            time.sleep(0.1)
        raise AssertionError("the server never listened")

    def sent(self, head: str, body: bytes = b"") -> socket.socket:
        """A connection on which a request, or a part of one, was sent."""
        made = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        made.sendall(f"{head} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\n".encode() + (body or b"\r\n"))
        return made

    def until(self, path: str, holds: Callable[[object], bool]) -> None:
        end = time.monotonic() + STARTED_S
        while time.monotonic() < end:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            connection.request("GET", path)
            answer = connection.getresponse()
            if answer.status == 200 and holds(json.loads(answer.read())):
                return
            time.sleep(0.2)
        raise AssertionError(f"{path} never held")

    def ended_by(self, number: int) -> float:
        """Seconds from the signal to the end; nothing of the server's may outlive it."""
        children = psutil.Process(self.child.pid).children(recursive=True)
        began = time.monotonic()
        self.child.send_signal(number)
        code = self.child.wait(60)
        took = time.monotonic() - began
        _, alive = psutil.wait_procs(children, timeout=5)
        assert (code, alive) == (0, []), self.log.read_text()
        return took


@pytest.fixture
def started(tmp_path) -> Iterator[Callable[[str], Server]]:
    made: list[Server] = []

    def start(settings: str = "") -> Server:
        made.append(Server(tmp_path, settings))
        return made[-1]

    yield start
    for server in made:
        if server.child.poll() is None:
            server.child.kill()
            server.child.wait()


def test_streams_half_sent_bodies_a_slow_page_and_a_busy_watcher_do_not_delay_shutdown(started, silent) -> None:
    server = started(f'[prometheus.main]\nurl = "http://127.0.0.1:{silent}"\n')
    server.listening()
    server.until("/api/v1/tables", lambda page: page["total"] == 1)
    run = b'{"run_id":"r","job_name":"j","status":"ok","started_at":1,"ended_at":2}'
    whole = b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(run), run)
    accepted = http.client.HTTPResponse(server.sent("POST /api/v1/runs", whole))
    accepted.begin()
    assert accepted.status == 202
    streams = [server.sent("GET /api/v1/stream") for _ in range(5)]
    half = server.sent("POST /api/v1/runs", b"content-type: application/json\r\ncontent-length: 100\r\n\r\n{")
    now = int(time.time()) * 1000
    slow = server.sent(f"GET /api/v1/tables/lake/sales/orders/timeline?from={now - 3_600_000}&to={now}")
    time.sleep(0.5)
    threading.Timer(1.0, server.child.send_signal, [signal.SIGTERM]).start()  # a second one changes nothing
    assert server.ended_by(signal.SIGTERM) < PROMISED_S
    assert all(each.recv(1 << 16).startswith(b"HTTP/1.1 200") for each in streams)
    for refused in (half, slow):
        head = refused.recv(1 << 16)
        assert head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 503"))
        assert b"content-security-policy" in head
    for each in (*streams, half, slow):
        each.close()


FAR = '[catalogs.far]\ntype = "rest"\nuri = "http://127.0.0.1:{port}"\n'
META_FAR = f'[meta]\ncatalog = "far"\n{FAR}'
TRINO = f'[trino]\nurl = "http://127.0.0.1:{{port}}"\ncatalog = "lake"\n[meta]\ncatalog = "lake"\n{FAR}'


@pytest.mark.parametrize("settings", [META_FAR, TRINO], ids=["meta catalog", "Trino and an observed catalog"])
def test_shutdown_does_not_wait_for_threads_that_hang_in_a_source(settings, started, silent) -> None:
    server = started(settings.format(port=silent))
    server.listening()
    time.sleep(2)  # the reads of the start hang now
    assert server.ended_by(signal.SIGINT) < PROMISED_S


@pytest.mark.parametrize("seconds", [0.5, 1.5, 3.0])
def test_a_signal_during_startup_ends_it(seconds, started) -> None:
    server = started()
    end = time.monotonic() + seconds
    while time.monotonic() < end and not _catches(server.child.pid):
        time.sleep(0.05)  # before its first line runs a process is the interpreter's, which the signal kills
    time.sleep(max(0.0, end - time.monotonic()))
    began = time.monotonic()
    server.child.send_signal(signal.SIGTERM)
    assert server.child.wait(60) in {0, -signal.SIGTERM}
    assert time.monotonic() - began < PROMISED_S
    assert "Traceback" not in server.log.read_text()


def _catches(pid: int) -> bool:
    """Whether a process has a handler of its own for SIGTERM (Linux)."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return True
    caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) & 1 << signal.SIGTERM - 1)


def test_a_permanently_busy_event_loop_is_cut_off() -> None:
    program = (
        "import asyncio, os, signal, threading, time\n"
        "from limnograph.jobs.ending import Signals, run\n"
        "async def main():\n"
        "    with Signals(lambda: print('heard', flush=True), longest_s=0.5):\n"
        "        print('ready', flush=True)\n"
        "        time.sleep(600)\n"
        "run(main())\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    began = time.monotonic()
    child.send_signal(signal.SIGTERM)
    assert child.wait(60) == 0
    assert 0.5 <= time.monotonic() - began < PROMISED_S
    assert child.stdout.read() == "heard\n"
    child.stdout.close()


def test_signal_handlers_of_the_program_are_restored_afterwards() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    heard = threading.Event()

    async def main() -> None:
        with Signals(heard.set, longest_s=60):
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.to_thread(heard.wait, 10)

    asyncio.run(main())
    assert heard.is_set()
    assert {number: signal.getsignal(number) for number in before} == before
