"""A proxy on loopback that misbehaves on demand: one mode for all who connect, changed while it runs.

Modes: `ok` passes bytes both ways; the others answer in the upstream's stead, or not at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import re
import threading
from collections.abc import Iterator
from typing import Self

from limnograph.domain.errors import SourceRejected, SourceTimeout, SourceUnavailable

FAULTS = {
    "down": SourceUnavailable,
    "late": SourceTimeout,
    "drip": SourceTimeout,
    "drip_head": SourceTimeout,
    "reset": SourceUnavailable,
    "500": SourceUnavailable,
    "429": SourceUnavailable,
    "truncated": SourceRejected,
    "bomb": SourceRejected,
}
"""Each fault as the error that a source of ours makes of it."""
BOMB_MB = 300
_bombs: list[bytes] = []


def bomb() -> bytes:
    """300 MB of spaces in a gzip of 300 KB."""
    if not _bombs:
        _bombs.append(gzip.compress(b" " * (BOMB_MB * 2**20), 1))
    return _bombs[0]


class FaultProxy:
    """`mode` may be set from any thread. `requests` counts heads that came, `cut` connections that the client cut."""

    def __init__(self, upstream: tuple[str, int] | None, late_s: float = 5.0, drip_s: float = 0.5) -> None:
        self._mode, self.requests, self.cut = "ok", 0, 0
        self._upstream, self._late_s, self._drip_s = upstream, late_s, drip_s
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    @property
    def mode(self) -> str:
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        if mode == "bomb":
            bomb()  # is made by who asks for it, not while a client waits
        self._mode = mode

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self.mode == "down":
                writer.transport.abort()
            elif self.mode == "ok":
                await self._pass(reader, writer)
            else:
                await self._misbehave(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            self.cut += 1
        finally:
            with contextlib.suppress(OSError):
                writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert self._upstream, "no upstream to pass to"
        up_reader, up_writer = await asyncio.open_connection(*self._upstream)

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, counts: bool) -> None:
            while data := await source.read(65_536):
                if self.mode != "ok":
                    sink.transport.abort()  # a kept connection does not outlive the fault that begins
                    return
                self.requests += counts and data.startswith((b"GET ", b"POST ", b"DELETE ", b"HEAD "))
                sink.write(data)
                await sink.drain()
            sink.write_eof()

        try:
            await asyncio.gather(pump(reader, up_writer, counts=True), pump(up_reader, writer, counts=False))
        finally:
            up_writer.close()

    async def _misbehave(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _question(reader)
        self.requests += 1
        mode = self.mode
        if mode == "late":
            await asyncio.sleep(self._late_s)
            return
        if mode in {"500", "429"}:
            reason = "Internal Server Error" if mode == "500" else "Too Many Requests"
            body = b"<html>it is not working</html>"
            writer.write(_head(f"{mode} {reason}", len(body), "text/html") + body)
        elif mode == "truncated":
            body = b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__na'
            writer.write(_head("200 OK", len(body)) + body)
        elif mode == "reset":
            writer.write(_head("200 OK", 100_000) + b'{"status":"success",')
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.transport.abort()
            return
        elif mode == "bomb":
            writer.write(_head("200 OK", len(bomb()), more="content-encoding: gzip\r\n") + bomb())
        else:
            await self._drip(writer, b"" if mode == "drip_head" else _head("200 OK", 1_000_000))
        await writer.drain()

    async def _drip(self, writer: asyncio.StreamWriter, first: bytes) -> None:
        writer.write(first or b"HTTP/1.1 200 OK\r\nx-slow: ")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(self._drip_s)


async def _question(reader: asyncio.StreamReader) -> None:
    """Read a request whole: what is left unread would make the kernel reset the connection under the answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    if length := re.search(rb"(?i)\r\ncontent-length: *(\d+)", head):
        await reader.readexactly(int(length[1]))


def _head(status: str, length: int, kind: str = "application/json", more: str = "") -> bytes:
    """It closes after its answer and says so, else a client might send its next question into the closed connection."""
    kept = f"content-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n"
    return f"HTTP/1.1 {status}\r\n{kept}{more}\r\n".encode()


@contextlib.contextmanager
def proxied(host: str, port: int) -> Iterator[FaultProxy]:
    """A proxy in front of a real server."""
    with FaultProxy((host, port)) as proxy:
        yield proxy
