"""Clients that break HTTP on the real server, over plain sockets: what they send is refused or forgotten, without an
error of ours and without a line of the log.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import struct
from collections.abc import Callable
from typing import Any

from limnograph.jobs.serve import free_port, serve
from pushed_bodies import knowing
from serving_kit import application

HEAD = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
POSTS = [b"/api/v1/runs", b"/api/v1/lineage", b"/api/v1/alertmanager", b"/api/v1/tables/lake/sales/orders/labels"]
LENGTH, CHUNKED = b"Content-Length: 90000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"
STATUS = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def run(scenario: Callable[[int], None]) -> None:
    """`scenario` gets the port of a real server, and runs in a thread beside it."""

    async def main() -> None:
        ready = asyncio.Event()
        port = free_port("127.0.0.1", 0, given=True)
        serving = asyncio.create_task(serve(application(knowing()), "127.0.0.1", port, lambda _: ready.set()))
        await ready.wait()
        try:
            await asyncio.to_thread(scenario, port)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            await serving

    asyncio.run(main())


def connected(port: int, text: bytes) -> socket.socket:
    line = socket.create_connection(("127.0.0.1", port), timeout=60)
    line.sendall(text)
    return line


def answered(line: socket.socket) -> bytes:
    """All that the server still sends; it may close without an answer."""
    found = b""
    try:
        while part := line.recv(65_536):
            found += part
    except ConnectionResetError:
        pass
    line.close()
    return found


def left(line: socket.socket) -> None:
    """As a client ends that is killed: a reset instead of a goodbye."""
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()


def status(port: int, request: bytes) -> int | None:
    found = answered(connected(port, request))
    return int(found.split(b" ")[1]) if found else None


def test_clients_that_disconnect_mid_body_or_send_broken_chunks_cause_no_server_error(caplog) -> None:
    bad_chunks = (
        b"zz\r\n{}\r\n0\r\n\r\n",
        b"-1\r\n{}\r\n",
        b"f" * 17 + b"\r\n{}",
        b"2\r\n{}XX0\r\n\r\n",
        b"5\r\n{}\r\n0\r\n\r\n",
        b"\x00\r\n",
    )
    statuses: list[int | None] = []

    def scenario(port: int) -> None:
        for path in POSTS:
            for chunks in bad_chunks:
                line = connected(port, HEAD % path + CHUNKED + chunks)
                line.shutdown(socket.SHUT_WR)
                found = answered(line)
                statuses.append(int(found.split(b" ")[1]) if found else None)
            for head in (LENGTH, CHUNKED + b'4\r\n{"a"\r\n'):
                left(connected(port, HEAD % path + head + b"{"))
                half = connected(port, HEAD % path + head + b"{")
                half.shutdown(socket.SHUT_WR)
                found = answered(half)
                statuses.append(int(found.split(b" ")[1]) if found else None)
        assert status(port, STATUS) == 200

    with caplog.at_level(logging.DEBUG):
        run(scenario)
    assert set(statuses) <= {400, None}
    assert lines_of_ours(caplog) == []


def lines_of_ours(caplog: Any) -> list[str]:
    loggers = ("limnograph", "granian", "_granian", "litestar")
    return [record.getMessage() for record in caplog.records if record.name.startswith(loggers)]


TARGETS = [
    *(
        b"/api/v1/tables/%s/sales/orders" % odd
        for odd in (b"\xff", b"%ff", b"\xc3\xa9", b"\xed\xa0\x80", b"%00", b"|^`")
    ),
    *(
        b"/api/v1/tables?%s" % odd
        for odd in (b"q=\xff", b"\xff=\xff", b"q=%ff", b"q=\xc3\xa9", b"%", b"q=\xed\xa0\x80")
    ),
    *(b"/a?%s" % odd for odd in (b"table=\xff", b"\xff=1", b"fp=%ff")),
    *(b"/api/v1/alerts/resolve?%s" % odd for odd in (b"\xff=\xff", b"table=%ff")),
    *(b"/login?next=%s" % odd for odd in (b"\xff", b"/%ff", b"/\xc3\xa9")),
    *(b"/v1/namespaces/%s/tables/t/metrics" % odd for odd in (b"\xff", b"%ff", b"a%1Fb")),
    *(b"/%s" % odd for odd in (b"\xff", b"?\xff", b"healthz?\xff", b"docs/\xff", b"metrics?\xff=\xfe")),
]
HEADERS = [
    b"Cookie: limnograph=\xff\xfe; \x80=1",
    b"Authorization: Bearer \xff",
    b"X-Request-Id: \xff",
    b"Accept-Encoding: \xff;q=\xff, gzip;q=1e999",
    b"If-None-Match: \xff",
    b"Last-Event-ID: \xff",
    b"Origin: \xff",
    b"Sec-Fetch-Site: \xff",
    b"Content-Type: \xff; charset=\xff",
    b"Content-Encoding: \xff",
    b"Content-Length: 99999999999999999999999",
    b"Content-Length: -1",
    b"Host: \xff",
    b"Host: 127.0.0.1@evil",
]
PAGES = [b"/api/v1/tables", b"/healthz", b"/api/v1/runs", b"/api/v1/session", b"/login", b"/"]


def test_odd_bytes_in_targets_and_headers_cause_no_server_error(caplog) -> None:
    statuses: dict[bytes, int | None] = {}

    def scenario(port: int) -> None:
        for method in (b"GET", b"POST", b"DELETE"):
            sent = [(target, b"X-Plain: 1") for target in TARGETS]
            sent += [(target, header) for header in HEADERS for target in PAGES]
            for target, header in sent:
                request = b"%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n" % (method, target, header)
                statuses[request] = status(port, request + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}")

    with caplog.at_level(logging.DEBUG):
        run(scenario)
    assert {request: found for request, found in statuses.items() if found is not None and found >= 500} == {}
    assert lines_of_ours(caplog) == []
