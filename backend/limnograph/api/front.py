"""The ASGI layer in front of Litestar: one spelling of paths, who asks, kept pages, security headers, the last resort.

It sees every response, also those that Litestar or a bug make, so that no answer leaves without its headers.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
import secrets
from collections.abc import Iterable
from typing import Any, cast

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from limnograph.api import paths, problems
from limnograph.api.answers import Answer, Given, Header, Outcome
from limnograph.api.bodies import MAX_BODY, TOO_LARGE, bounded
from limnograph.api.gate import SAFE, Gate, Headers, peer
from limnograph.api.pages import Gone, Pages
from limnograph.domain.access import AuditEvent, Identity
from limnograph.domain.errors import LimnographError
from limnograph.ports.access import AuditLog

SEND_S = 60.0
"""A caller that takes nothing of a stream for so long is taken to be gone."""
_PAGE = frozenset(("GET", "HEAD"))
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_ID_BITS = 2**64 - 1
_IDS = itertools.count(secrets.randbits(64))
"""Names for requests, not secrets: counted from anywhere, so that two servers hardly share one."""
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
        finished = self._finished(exchange, scope)
        if finished is not None:
            await exchange.give(*finished)
            return
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
            await exchange.refuse("too-large", TOO_LARGE)
            return
        if exchange.method in _PAGE:
            key = self._pages.key(scope) if identity is not None else None
            if key is not None and identity is not None:
                outcome, age = await self._pages.answer(key, identity, scope, receive)
                await exchange.give(await self._sent(outcome, exchange.given), age)
                return
            if exchange.method == "HEAD":
                scope = {**scope, "method": "GET"}
        await self._app(scope, bounded(receive), exchange.send)

    def _finished(self, exchange: Exchange, scope: Any) -> tuple[Given, float] | None:
        """A kept page, where nothing has to be waited for. Asks all that `_serve` asks: a path that has a key was
        canonical once and is so for ever, who asks and by which name is looked at anew. None: go the long way.
        """
        given = exchange.given
        key = self._pages.known(scope["raw_path"], scope["query_string"])
        if key is None or exchange.method not in _PAGE or b"content-length" in given:
            return None
        identity = self._gate.known(scope, given)
        if identity is None or self._gate.refusal(scope, given, identity) is not None:
            return None
        found = self._pages.fresh(key, identity)
        if found is None:
            return None
        answer, age = found
        finished = answer.given(given)
        if finished is None:
            return None
        self._pages.counts.hits += 1
        return finished, age

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

    async def _sent(self, outcome: Outcome, given: Headers) -> Given:
        """What is sent of an answer: a finished page in the coding that the caller takes, or 304."""
        if not isinstance(outcome, Answer):
            return outcome.status, self._headers.complete(outcome.headers), outcome.body
        found = outcome.given(given)
        while found is None:
            await outcome.bytes_in(outcome.coding(given.get(b"accept-encoding", b"")))
            found = outcome.given(given)
        return found


class Exchange:
    """One request and its answer."""

    def __init__(self, scope: Any, send: Send, headers: SecurityHeaders) -> None:
        self._send, self._headers = send, headers
        self.status = 0
        self.given: Headers = dict(scope["headers"])
        asked = self.given.get(b"x-request-id")
        if asked is not None and _REQUEST_ID.fullmatch(asked):
            self.request_id = asked.decode()
        else:
            self.request_id = f"{next(_IDS) & _ID_BITS:016x}"
        self.method: str = scope["method"]

    @property
    def declared_length(self) -> int | None:
        """Bytes of the body, as the caller says."""
        length = self.given.get(b"content-length", b"")
        return int(length[:20]) if length.isdigit() else None

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

    async def give(self, found: Given, age: float = 0.0) -> None:
        """Answer with what is finished."""
        status, headers, body = found
        self.status = status
        late = ((b"age", b"%d" % age),) if age >= 1 else ()
        own = (b"x-request-id", self.request_id.encode())
        await self._send({"type": "http.response.start", "status": status, "headers": [*headers, *late, own]})
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
