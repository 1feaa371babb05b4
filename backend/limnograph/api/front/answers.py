"""Complete responses: as the application sent them, and as cached pages with validators and content codings."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from litestar.types import ASGIApp, Message, Receive, Scope

from limnograph.api.front.encodings import LEAST, Coding, chosen, encoded
from limnograph.api.wire.remembering import remembered
from limnograph.ports.fast_path import FinishedAnswer, Header

Complete = Callable[[Iterable[Header]], list[Header]]
"""Adds the headers that every response carries."""
_CACHING = [(b"cache-control", b"private, no-cache"), (b"vary", b"accept-encoding, authorization, cookie")]


class AppResponse:
    """The complete response of an application."""

    def __init__(self, status: int, headers: list[Header], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    def has(self, name: bytes) -> bool:
        """Whether the response has this header."""
        return any(found.lower() == name for found, _ in self.headers)


class CachedResponse(AppResponse):
    """A 200 response that can be sent to many clients: with strong validators and all headers except those of a single
    request. A coding is computed on first use; `grows` is then called with its size in bytes.
    """

    def __init__(self, media: bytes, body: bytes, complete: Complete) -> None:
        super().__init__(200, [], body)
        self._media, self._complete = media, complete
        self._tag = hashlib.blake2b(body, digest_size=12).hexdigest()
        self._bodies: dict[Coding, bytes] = {"": body}
        self._heads: dict[Coding, tuple[bytes, list[Header], list[Header]]] = {}
        self.grows: Callable[[int], None] | None = None

    @classmethod
    def of(cls, outcome: AppResponse, complete: Complete) -> CachedResponse:
        """Build it from the application's response."""
        media = next((value for name, value in outcome.headers if name.lower() == b"content-type"), b"")
        return cls(media, outcome.body, complete)

    @property
    def size(self) -> int:
        """Approximate size in memory, bytes."""
        return sum(map(len, self._bodies.values())) + 2_048

    def coding(self, accept: bytes) -> Coding:
        """The coding to use for an `Accept-Encoding` header."""
        return chosen(accept) if len(self.body) >= LEAST else ""

    async def bytes_in(self, coding: Coding) -> bytes:
        """The encoded body."""
        found = self._bodies.get(coding)
        if found is None:
            found = await asyncio.to_thread(encoded, self.body, coding)
            if coding not in self._bodies:
                self._bodies[coding] = found
                if self.grows is not None:
                    self.grows(len(found))
        return found

    def head(self, coding: Coding, body: bytes) -> tuple[bytes, list[Header], list[Header]]:
        """For one coding: the strong validator, the headers of the 200, and those of the 304."""
        found = self._heads.get(coding)
        if found is None:
            tag = f'"{self._tag}{"-" if coding else ""}{coding}"'.encode()
            common = [(b"etag", tag), *_CACHING]
            whole = [(b"content-type", self._media), (b"content-length", str(len(body)).encode()), *common]
            if coding:
                whole.append((b"content-encoding", coding.encode()))
            found = self._heads[coding] = (tag, self._complete(whole), self._complete(common))
        return found

    def given(self, headers: Mapping[bytes, bytes]) -> FinishedAnswer | None:
        """The response to a request with these headers; None until `bytes_in` computed its coding."""
        coding = self.coding(headers.get(b"accept-encoding", b""))
        body = self._bodies.get(coding)
        if body is None:
            return None
        tag, whole, unchanged = self.head(coding, body)
        asked = headers.get(b"if-none-match")
        if asked is not None and matches(asked, tag):
            return 304, unchanged, b""
        return 200, whole, body

    def aged(self, age: float, complete: Complete) -> CachedResponse:
        """The same response `age` seconds later, when no newer one is available: its lanes are marked stale."""
        try:
            document = msgspec.json.decode(self.body)
        except msgspec.MsgspecError:
            return self
        return CachedResponse(self._media, msgspec.json.encode(_older(document, age)), complete)


def _older(document: Any, age: float) -> Any:
    if isinstance(document, list):
        return [_older(item, age) for item in document]
    if not isinstance(document, dict):
        return document
    found = {key: _older(value, age) for key, value in document.items()}
    if isinstance(found.get("age_s"), int | float):
        found["age_s"] = round(found["age_s"] + age, 3)
        if found.get("status") in {"ok", "partial"}:
            found["status"] = "stale"
    return found


@remembered(1_024)
def matches(asked: bytes, tag: bytes) -> bool:
    """Whether `If-None-Match` contains the validator (RFC 9110 §13.1.2: weak comparison; `*` matches any)."""
    given = {part.strip() for part in asked.split(b",")}
    return b"*" in given or tag in given or b"W/" + tag in given


async def collected(app: ASGIApp, scope: Scope, receive: Receive) -> AppResponse:
    """The complete response of an application. Exceptions of the application propagate."""
    status, headers, parts = 500, [], []

    async def take(message: Message) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status, headers = message["status"], list(message.get("headers", ()))
        elif message["type"] == "http.response.body":
            parts.append(message.get("body", b""))

    await app(scope, receive, take)
    return AppResponse(status, headers, b"".join(parts))
