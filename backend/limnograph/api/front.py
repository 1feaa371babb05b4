"""The ASGI layer in front of Litestar: one spelling of paths, who asks, kept pages, security headers, the last resort.

It sees every response, also those that Litestar or a bug make, so that no answer leaves without its headers.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Iterable
from typing import Any, cast

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from limnograph.api import paths, problems
from limnograph.api.answers import Answer, Header, Outcome, matches
from limnograph.api.gate import SAFE, Gate, Headers, peer
from limnograph.api.pages import Gone, Pages
from limnograph.domain.access import AuditEvent, Identity
from limnograph.domain.errors import LimnographError
from limnograph.ports.access import AuditLog

MAX_BODY = 1024 * 1024
BODY_S = 30.0
"""A whole body has to arrive within this; a client that sends a byte now and then holds nothing for longer."""
SEND_S = 60.0
"""A caller that takes nothing of a stream for so long is taken to be gone."""
_TOO_LARGE = f"a body has at most {MAX_BODY} bytes"
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_log = logging.getLogger("limnograph.api")


class SecurityHeaders:
    """Headers that every answer carries, whoever made it."""

    def __init__(self, headers: Iterable[tuple[str, str]]) -> None:
        self._headers: list[Header] = [(name.encode(), value.encode()) for name, value in headers]
        self._names = {name for name, _ in self._headers}

    def complete(self, headers: Iterable[Header]) -> list[Header]:
        """Headers with ours added and none twice."""
        kept = [(name, value) for name, value in headers if name.lower() not in self._names]
        return [*kept, *self._headers]


class Front:
    """Wraps the application; `pages` keeps finished answers of it."""

    def __init__(self, app: ASGIApp, headers: SecurityHeaders, gate: Gate, pages: Pages) -> None:
        self._app, self._headers, self._gate, self._pages = app, headers, gate, pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if str(scope["type"]) != "http":
            await self._app(scope, receive, send)
            return
        exchange = Exchange(scope, send, self._headers)
        try:
            await self._serve(exchange, cast("Any", scope), receive)
        except Gone:
            return
        except problems.TooLarge as error:
            await exchange.refuse("too-large", str(error))
        except problems.TooSlow as error:
            await exchange.refuse("bad-request", str(error))
        except LimnographError as error:
            await exchange.refuse_for(error)
        except Exception:  # noqa: BLE001  # the last resort: nothing may leave without an answer
            _log.exception("request %s failed outside its handler", exchange.request_id)
            await exchange.refuse("internal", "an unexpected error; the server's log has it")
        if exchange.method not in SAFE and self._gate.audit is not None:
            _audit(self._gate.audit, exchange, scope)

    async def _serve(self, exchange: Exchange, scope: Any, receive: Receive) -> None:
        reason = paths.refusal(scope["raw_path"])
        if reason is not None:
            await exchange.refuse("bad-request", reason)
            return
        state = scope["state"] = {**scope.get("state", {}), "request_id": exchange.request_id}
        identity = await self._caller(scope, exchange.given, state)
        refused = self._gate.refusal(scope, exchange.given, identity)
        if refused is not None:
            raise refused
        length = exchange.declared_length
        if length is not None and length > MAX_BODY:
            await exchange.refuse("too-large", _TOO_LARGE)
            return
        if exchange.method in {"GET", "HEAD"}:
            key = self._pages.key(scope) if identity is not None else None
            if key is not None and identity is not None:
                await exchange.give(*await self._pages.answer(key, identity, scope, receive))
                return
            if exchange.method == "HEAD":
                scope = {**scope, "method": "GET"}
        await self._app(scope, _bounded(receive), exchange.send)

    async def _caller(self, scope: Any, given: Headers, state: dict[str, Any]) -> Identity | None:
        """Who asks. Why a claim did not hold is kept for the guard: what is open stays open."""
        identity = self._gate.known(scope, given)
        if identity is None:
            try:
                identity = await self._gate.identify(scope, given)
            except LimnographError as error:
                state["refusal"] = error
        state["identity"] = identity
        return identity


class Exchange:
    """One request and its answer."""

    def __init__(self, scope: Any, send: Send, headers: SecurityHeaders) -> None:
        self._send, self._headers = send, headers
        self.status = 0
        self.given: Headers = dict(scope["headers"])
        asked = self.given.get(b"x-request-id")
        known = asked is not None and _REQUEST_ID.fullmatch(asked)
        self.request_id = asked.decode() if asked and known else secrets.token_hex(8)
        self.method: str = scope["method"]
        length = self.given.get(b"content-length", b"")
        self.declared_length = int(length[:20]) if length.isdigit() else None

    async def send(self, message: Message) -> None:
        """Pass a message on: complete the head, leave the body of a HEAD request out."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = self._mine(self._headers.complete(message.get("headers", ())))
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
            raise Gone from error

    async def give(self, outcome: Outcome, age: float) -> None:
        """Answer with a finished page in the coding that the caller takes, or with 304."""
        if not isinstance(outcome, Answer):
            await self._whole(outcome.status, self._headers.complete(outcome.headers), outcome.body)
            return
        coding = outcome.coding(self.given.get(b"accept-encoding", b""))
        body = outcome.ready(coding)
        if body is None:
            body = await outcome.bytes_in(coding)
        tag, whole, unchanged = outcome.head(coding, body)
        late = [(b"age", str(int(age)).encode())] if age >= 1 else []
        asked = self.given.get(b"if-none-match")
        if asked is not None and matches(asked, tag):
            await self._whole(304, [*unchanged, *late], b"")
        else:
            await self._whole(200, [*whole, *late], body)

    async def _whole(self, status: int, headers: list[Header], body: bytes) -> None:
        self.status = status
        await self._send({"type": "http.response.start", "status": status, "headers": self._mine(headers)})
        body = b"" if self.method == "HEAD" else body
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    def _mine(self, headers: list[Header]) -> list[Header]:
        return [*headers, (b"x-request-id", self.request_id.encode())]

    async def refuse(self, kind: Any, detail: str) -> None:
        """Answer with a problem unless an answer has begun."""
        found = problems.problem(kind, detail, request_id=self.request_id)
        await self._problem(problems.encode(found), found.status, [])

    async def refuse_for(self, error: LimnographError) -> None:
        """The same for an error that was raised on purpose."""
        found, more = problems.of_domain(error, self.request_id)
        await self._problem(problems.encode(found), found.status, more)

    async def _problem(self, body: bytes, status: int, more: list[tuple[str, str]]) -> None:
        if self.status:
            return
        headers = [(b"content-type", problems.MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
        headers += [(name.encode(), value.encode()) for name, value in more]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})


def _bounded(receive: Receive) -> Receive:
    """A body of at most MAX_BODY bytes within BODY_S seconds; what comes after it (the end of the connection) may take
    as long as it likes.
    """
    taken, whole = 0, False
    loop = asyncio.get_running_loop()
    until = loop.time() + BODY_S

    async def limited() -> Any:
        nonlocal taken, whole
        if whole:
            return await receive()
        try:
            async with asyncio.timeout_at(until):
                message: Any = await receive()
        except TimeoutError as error:
            raise problems.TooSlow(f"the body did not arrive within {BODY_S:.0f} s") from error
        whole = not message.get("more_body", False)
        taken += len(message.get("body", b""))
        if taken > MAX_BODY:
            raise problems.TooLarge(_TOO_LARGE)
        return message

    return limited


def _audit(log: AuditLog, exchange: Exchange, scope: Any) -> None:
    """Everything that could change something, refused or not."""
    identity: Identity | None = scope.get("state", {}).get("identity")
    log.write(
        AuditEvent(
            at=problems.now_text(),
            who=identity.subject if identity else "",
            what="request",
            outcome=str(exchange.status),
            method=exchange.method,
            path=scope["raw_path"].decode("latin-1"),
            address=peer(scope),
            request_id=exchange.request_id,
        )
    )
