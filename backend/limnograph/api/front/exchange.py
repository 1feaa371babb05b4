"""One request and its response: headers that every response carries, the request id, problems."""

from __future__ import annotations

import asyncio
import itertools
import re
import secrets
from collections.abc import Iterable
from typing import Any

from litestar.types import Message, Send

from limnograph.api.front.gate import Headers
from limnograph.api.front.page_callers import CallerGone
from limnograph.api.wire import problems
from limnograph.domain.errors import LimnographError
from limnograph.ports.fast_path import FinishedAnswer, Header

SEND_S = 60.0
"""A client that reads nothing from a stream for this long is considered disconnected."""
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_ID_BITS = 2**64 - 1
_IDS = itertools.count(secrets.randbits(64))
"""Request ids, not secrets: counted from a random start, so that two servers are unlikely to share one."""


class SecurityHeaders:
    """Headers of every response, whatever produced it. Immutable after construction."""

    def __init__(self, headers: Iterable[tuple[str, str]]) -> None:
        self._headers: list[Header] = [(name.encode(), value.encode()) for name, value in headers]
        self._names = {name for name, _ in self._headers}

    def complete(self, headers: Iterable[Header]) -> list[Header]:
        """The headers with ours added, without duplicates."""
        kept = [(name, value) for name, value in headers if name.lower() not in self._names]
        return [*kept, *self._headers]


def request_id(given: Headers) -> bytes:
    """The request id that the client sent, or a new one."""
    asked = given.get(b"x-request-id")
    if asked is not None and _REQUEST_ID.fullmatch(asked):
        return asked
    return b"%016x" % (next(_IDS) & _ID_BITS)


def whole(found: FinishedAnswer, age: float, method: str, name: bytes) -> FinishedAnswer:
    """The response to one request: with its id, its age in seconds, and no body for HEAD."""
    status, headers, body = found
    late = ((b"age", b"%d" % age),) if age >= 1 else ()
    return status, [*headers, *late, (b"x-request-id", name)], b"" if method == "HEAD" else body


class Exchange:
    """One request and its response."""

    def __init__(self, scope: Any, send: Send, headers: SecurityHeaders) -> None:
        self._send, self._headers = send, headers
        self.status = 0
        self.given: Headers = dict(scope["headers"])
        self._name = request_id(self.given)
        self.method: str = scope["method"]

    @property
    def request_id(self) -> str:
        """The request id."""
        return self._name.decode()

    @property
    def declared_length(self) -> int | None:
        """`Content-Length` of the request, bytes."""
        length = self.given.get(b"content-length", b"")
        return int(length[:20]) if length.isdigit() else None

    async def send(self, message: Message) -> None:
        """Forward a message: complete the headers, and drop the body of a HEAD request."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = self._headers.complete(message.get("headers", ()))
            message["headers"] = [*headers, (b"x-request-id", self._name)]
        elif message["type"] == "http.response.body" and self.method == "HEAD":
            if message.get("more_body"):
                return
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        if not message.get("more_body"):
            await self._send(message)
            return
        try:
            async with asyncio.timeout(SEND_S):
                await self._send(message)
        except TimeoutError as error:
            raise CallerGone from error

    async def give(self, found: FinishedAnswer, age: float = 0.0) -> None:
        """Send a finished response; `age` in seconds."""
        self.status, headers, body = whole(found, age, self.method, self._name)
        await self._send({"type": "http.response.start", "status": self.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def refuse(self, kind: Any, detail: str) -> None:
        """Send a problem unless the response has already started."""
        found = problems.problem(kind, detail, request_id=self.request_id)
        await self._problem(problems.encode(found), found.status, [])

    async def refuse_for(self, error: LimnographError) -> None:
        """Send the problem of an expected error."""
        found, more = problems.of_domain(error, self.request_id)
        await self._problem(problems.encode(found), found.status, more)

    async def _problem(self, body: bytes, status: int, more: list[tuple[str, str]]) -> None:
        if self.status:
            return
        headers = [(b"content-type", problems.MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
        headers += [(name.encode(), value.encode()) for name, value in more]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})
