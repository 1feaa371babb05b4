"""The ASGI layer in front of Litestar: request id, security headers, HEAD, a cap on bodies, the last resort.

It sees every response, also those that Litestar or a bug make, so that no answer leaves without its headers.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Iterable
from typing import Any, cast

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from limnograph.api import problems

MAX_BODY = 1024 * 1024
_TOO_LARGE = f"a body has at most {MAX_BODY} bytes"
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_log = logging.getLogger("limnograph.api")

Header = tuple[bytes, bytes]


class Front:
    """Wraps an ASGI application; `headers` go onto every answer."""

    def __init__(self, app: ASGIApp, headers: Iterable[tuple[str, str]]) -> None:
        self._app = app
        self._headers: list[Header] = [(name.encode(), value.encode()) for name, value in headers]
        self._names = {name for name, _ in self._headers}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if str(scope["type"]) != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(self, scope, send)
        scope.setdefault("state", {})["request_id"] = exchange.request_id
        if exchange.head:
            scope = cast("Scope", {**scope, "method": "GET"})
        length = exchange.declared_length
        if length is not None and length > MAX_BODY:
            await exchange.refuse("too-large", _TOO_LARGE)
            return
        try:
            await self._app(scope, _capped(receive), exchange.send)
        except problems.TooLarge as error:
            await exchange.refuse("too-large", str(error))
        except Exception:  # noqa: BLE001  # the last resort: nothing may leave without an answer
            _log.exception("request %s failed outside its handler", exchange.request_id)
            await exchange.refuse("internal", "an unexpected error; the server's log has it")

    def complete(self, headers: Iterable[Header], request_id: str) -> list[Header]:
        """Headers of an answer with ours added and none twice."""
        kept = [(name, value) for name, value in headers if name.lower() not in self._names]
        return [*kept, *self._headers, (b"x-request-id", request_id.encode())]


class _Exchange:
    """One request and its answer."""

    def __init__(self, front: Front, scope: Any, send: Send) -> None:
        self._front, self._send, self._started = front, send, False
        given = dict(scope["headers"])
        asked = given.get(b"x-request-id", b"")
        self.request_id = asked.decode() if _REQUEST_ID.fullmatch(asked) else secrets.token_hex(8)
        self.head = scope["method"] == "HEAD"
        length = given.get(b"content-length", b"")
        self.declared_length = int(length) if length.isdigit() else None

    async def send(self, message: Message) -> None:
        """Pass a message on: complete the head, leave the body of a HEAD request out."""
        if message["type"] == "http.response.start":
            self._started = True
            message["headers"] = self._front.complete(message.get("headers", ()), self.request_id)
        elif message["type"] == "http.response.body" and self.head:
            if message.get("more_body"):
                return
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)

    async def refuse(self, kind: Any, detail: str) -> None:
        """Answer with a problem unless an answer has begun."""
        if self._started:
            return
        found = problems.problem(kind, detail, request_id=self.request_id)
        body = problems.encode(found)
        headers = [(b"content-type", problems.MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
        await self.send({"type": "http.response.start", "status": found.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})


def _capped(receive: Receive) -> Receive:
    taken = 0

    async def limited() -> Any:
        nonlocal taken
        message = await receive()
        if message["type"] == "http.request":
            taken += len(message.get("body", b""))
            if taken > MAX_BODY:
                raise problems.TooLarge(_TOO_LARGE)
        return message

    return limited
