"""A closed loop of requests over keep-alive connections on raw sockets: `front_load.py JSON`. Prints its results.

The first quarter of the time is a warm-up. Responses need a content-length; a status of 400 or more aborts the run.
Bodies are discarded in the kernel (`MSG_TRUNC`, tcp(7)): the client shares two cores with the server, and copying 100
KB per response would be half of its work.
"""

from __future__ import annotations

import json
import re
import selectors
import socket
import sys
import time
from typing import Any
from urllib.parse import urlsplit

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


class Connection:
    """A connection with one request at a time."""

    def __init__(self, address: tuple[str, int], request: bytes) -> None:
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request, self._head, self._left = request, b"", 0
        self._buffer = bytearray(1 << 18)
        self.sent_at = 0.0

    def ask(self) -> None:
        self._head, self._left = b"", -1
        self.sent_at = time.perf_counter()
        self.socket.sendall(self._request)

    def took(self) -> float | None:
        """Seconds taken, once the response is complete."""
        count = self.socket.recv_into(self._buffer, 0, socket.MSG_TRUNC if self._left > 0 else 0)
        if not count:
            raise SystemExit("the server closed the connection")
        if self._left >= 0:
            self._left -= count
        else:
            self._head += bytes(self._buffer[:count])
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                return None
            status = int(self._head[9:12])
            if status >= 400:
                raise SystemExit(self._head[:2_000].decode("latin-1"))
            length = _LENGTH.search(self._head[:end])
            whole = int(length[1]) if length and status != 304 else 0
            self._left = whole - (len(self._head) - end - 4)
        return time.perf_counter() - self.sent_at if self._left == 0 else None


def main(asked: dict[str, Any]) -> None:
    """Run and print."""
    url = urlsplit(asked["url"])
    lines = [f"GET {asked['path']} HTTP/1.1", f"Host: {url.netloc}"]
    lines += [f"{name}: {value}" for name, value in asked["headers"].items()]
    request = ("\r\n".join(lines) + "\r\n\r\n").encode()
    ready = selectors.DefaultSelector()
    for _ in range(asked["connections"]):
        connection = Connection((url.hostname or "", url.port or 80), request)
        connection.ask()
        ready.register(connection.socket, selectors.EVENT_READ, connection)
    began = time.perf_counter()
    warm, end = began + asked["seconds"] / 3, began + asked["seconds"] * 4 / 3
    taken: list[float] = []
    count = 0
    while (now := time.perf_counter()) < end:
        for key, _ in ready.select(1):
            seconds = key.data.took()
            if seconds is None:
                continue
            count += 1
            if now >= warm:
                taken.append(seconds)
            key.data.ask()
    taken.sort()
    found = {"all": count, "measured": len(taken), "p99_ms": 1000 * taken[int(len(taken) * 0.99)]}
    print(json.dumps({**found, "cpu_us": 1e6 * time.process_time() / count}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
