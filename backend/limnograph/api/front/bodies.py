"""Request bodies: read completely, decompressed, and limited in bytes, time and JSON values before a handler receives
them. This covers every route, because the layer in front wraps `receive`. A body is read only when the handler awaits
it, so a forbidden request is rejected unread.
"""

from __future__ import annotations

import asyncio
import zlib
from typing import Any, TypeVar, cast

from litestar import Request
from litestar.types import Receive, Scope

from limnograph.api.front import body_structure
from limnograph.api.wire.problems import ClientDisconnected, TooLarge, TooSlow
from limnograph.domain.errors import InvalidInput
from limnograph.services.events.bodies import apart, parse

MAX_BODY = 1024 * 1024
LARGER = {b"/api/v1/notify/trino": 8 * MAX_BODY}
"""Paths with a larger limit: an event of Trino repeats the plan of its query."""
BODY_S = 30.0
"""Time limit for receiving a body, so that a client that sends a byte now and then cannot hold a connection."""
_T = TypeVar("_T")


def most_bytes(scope: Any) -> int:
    """The limit of a request's body in bytes."""
    return LARGER.get(scope["raw_path"], MAX_BODY)


def too_large(most: int) -> str:
    """Says that a body exceeds its limit."""
    return f"the body must have at most {most} bytes"


def bounded(scope: Scope, receive: Receive) -> Receive:
    """A `receive` that returns the body in one message. The time limit does not apply to later messages (the
    disconnect). Raises TooLarge, TooSlow, ClientDisconnected, InvalidInput.
    """
    read, most = False, most_bytes(scope)

    async def whole() -> Any:
        nonlocal read
        if read:
            return await receive()
        read = True
        body = await _arrived(receive, most)
        if body:
            coding = dict(scope["headers"]).get(b"content-encoding", b"").decode("latin-1").strip().lower()
            packed = coding not in {"", "identity"}
            body = await apart(MAX_BODY if packed else len(body), _checked, body, coding, most)
        return {"type": "http.request", "body": body, "more_body": False}

    return cast("Receive", whole)


def without_length(scope: Any) -> Any:
    """The scope without `content-length`, which is the length of the compressed body."""
    kept = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
    return scope if len(kept) == len(scope["headers"]) else {**scope, "headers": kept}


async def parsed(request: Request[Any, Any, Any], kind: type[_T]) -> _T:
    """The body as a struct; a large one is parsed in a thread. Raises InvalidInput, which names the field."""
    body = await request.body()
    return await apart(len(body), parse, body, kind)


async def parsed_json(request: Request[Any, Any, Any], kind: type[_T]) -> _T:
    """As `parsed`, for routes that accept declared JSON only: a form of another site cannot declare it. Raises
    InvalidInput.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise InvalidInput("content-type", "must be application/json")
    return await parsed(request, kind)


async def _arrived(receive: Receive, most: int) -> bytes:
    parts: list[bytes] = []
    taken = 0
    try:
        async with asyncio.timeout(BODY_S):
            while True:
                message: Any = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnected
                parts.append(message.get("body", b""))
                taken += len(parts[-1])
                if taken > most:
                    raise TooLarge(too_large(most))
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError as error:
        raise TooSlow(f"the body was not received within {BODY_S:.0f} s") from error


def _checked(body: bytes, coding: str, most: int) -> bytes:
    unpacked = body if coding in {"", "identity"} else _unpacked(body, coding, most)
    body_structure.check(unpacked)
    return unpacked


def _unpacked(body: bytes, coding: str, most: int) -> bytes:
    """Decompress a body (OpenLineage's clients may send gzip). The size limit applies to the result."""
    if coding != "gzip":
        raise InvalidInput("content-encoding", f"{coding[:40]!r} is not supported; use gzip or no encoding")
    unpacking = zlib.decompressobj(wbits=31)
    try:
        found = unpacking.decompress(body, most + 1)
    except zlib.error as error:
        raise InvalidInput("body", "is not gzip, although its content-encoding is") from error
    if len(found) > most:
        raise TooLarge(f"{too_large(most)}, unpacked")
    if not unpacking.eof:
        raise InvalidInput("body", "ends before the end of its gzip stream")
    return found
