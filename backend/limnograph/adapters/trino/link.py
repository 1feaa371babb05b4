"""One HTTP link to a coordinator that can be cut at any moment: at the deadline, on cancellation, at the size limit.

`requests` restarts its timeout with every byte; here the sockets themselves are shut down, whatever they wait for.
Requests go only to the coordinator's own address: a redirect elsewhere is rejected.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from limnograph.domain.errors import SourceError, SourceRejected

_CHUNK = 65_536


class TrinoLink(requests.Session):
    """A session for one query at a time. `max_bytes` bounds the decoded bytes of all its responses until `begin`."""

    def __init__(self, name: str, url: str, max_bytes: int, ca_file: str = "") -> None:
        super().__init__()
        self.trust_env = False
        self.max_redirects = 0
        self.verify = ca_file or True
        self.cut = False
        self.refused: SourceError | None = None
        self._name, self._origin, self._max_bytes, self._left = name, _origin(url), max_bytes, max_bytes
        self._open: tuple[socket.socket, ...] = ()
        adapter = _Adapter(self)
        self.mount("http://", adapter)
        self.mount("https://", adapter)

    def begin(self) -> None:
        """Start a new query and reset the count of bytes."""
        self._left, self.refused = self._max_bytes, None

    def abort(self) -> None:
        """Shut down every socket; any read from one fails immediately. The link cannot be used again."""
        self.cut = True
        for sock in self._open:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def opened(self, sock: socket.socket) -> None:
        """Record the socket of a new connection. The connection itself is not enough: for a response with `connection:
        close` it releases its socket before the body is read.
        """
        self._open = (*(one for one in self._open if one.fileno() != -1), sock)
        if self.cut:
            self.abort()

    def admit(self, url: str | None) -> None:
        """Check an address. Raises unless it is the coordinator's."""
        if url is None or _origin(url) != self._origin:
            self._refuse("a response redirects to an address other than the coordinator's")
        if self.cut:
            raise requests.ConnectionError("cut")

    def taken(self, size: int) -> None:
        """Count decoded bytes. Raises if they exceed the limit."""
        self._left -= size
        if self._left < 0:
            self._refuse(f"the response is larger than {self._max_bytes // 2**20} MB; choose a shorter range")

    def _refuse(self, detail: str) -> None:
        self.refused = SourceRejected(self._name, detail)
        raise requests.RequestException(detail)


class _Adapter(HTTPAdapter):
    def __init__(self, link: TrinoLink) -> None:
        self._link = link
        super().__init__(pool_connections=1, pool_maxsize=2)

    def init_poolmanager(self, *args: Any, **given: Any) -> None:
        super().init_poolmanager(*args, **given)
        self.poolmanager.pool_classes_by_scheme = _pools(self._link)

    def send(self, request: requests.PreparedRequest, *args: Any, **given: Any) -> requests.Response:
        self._link.admit(request.url)
        response = super().send(request, *args, **given)
        response.raw = _CountedBody(response.raw, self._link)
        return response


class _CountedBody:
    """The body as `requests` reads it, counted after decompression."""

    def __init__(self, raw: Any, link: TrinoLink) -> None:
        self._raw, self._link = raw, link

    def stream(self, amount: int = _CHUNK, decode_content: bool | None = None) -> Iterator[bytes]:
        for chunk in self._raw.stream(min(amount or _CHUNK, _CHUNK), decode_content=decode_content):
            self._link.taken(len(chunk))
            yield chunk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


def _pools(link: TrinoLink) -> dict[str, type]:
    class Plain(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            link.opened(self.sock)

    class Secure(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            link.opened(self.sock)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
