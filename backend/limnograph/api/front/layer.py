"""The ASGI layer in front of Litestar: canonical paths, authentication, page cache, security headers, unexpected
errors. Every response passes through it, including Litestar's own and those after a bug, so that none is sent without
security headers.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

from litestar.types import ASGIApp, Receive, Scope, Send

from limnograph.api.front import paths
from limnograph.api.front.answers import AppResponse, CachedResponse
from limnograph.api.front.bodies import bounded, most_bytes, too_large, without_length
from limnograph.api.front.exchange import Exchange, SecurityHeaders, request_id, whole
from limnograph.api.front.gate import SAFE, Authenticator, Headers, peer
from limnograph.api.front.page_callers import CallerGone
from limnograph.api.front.pages import Pages
from limnograph.api.wire import problems
from limnograph.api.wire.access import AUDITED
from limnograph.domain.access import AuditEvent, Identity
from limnograph.domain.errors import LimnographError, SourceUnavailable
from limnograph.ports.access import AuditLog
from limnograph.ports.fast_path import FinishedAnswer

_PAGE = frozenset(("GET", "HEAD"))
_log = logging.getLogger("limnograph.api")


class EdgeApp:
    """Wraps the application; `pages` caches its responses. Immutable after construction."""

    def __init__(self, app: ASGIApp, headers: SecurityHeaders, gate: Authenticator, pages: Pages) -> None:
        self._app, self._headers, self._gate, self._pages = app, headers, gate, pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if str(scope["type"]) != "http":
            await self._app(scope, receive, send)
            return
        exchange = Exchange(scope, send, self._headers)
        try:
            await self._serve(exchange, cast("Any", scope), receive)
        except CallerGone:
            return
        except asyncio.CancelledError:
            await exchange.refuse_for(SourceUnavailable("server", "the server is shutting down; retry in a moment"))
            raise
        except problems.TooLarge as error:
            await exchange.refuse("too-large", str(error))
        except (problems.TooSlow, problems.ClientDisconnected) as error:
            await exchange.refuse("bad-request", str(error))
        except LimnographError as error:
            await exchange.refuse_for(error)
        except Exception:  # noqa: BLE001  # the last resort: every request gets a response
            _log.exception("request %s failed outside of its handler", exchange.request_id)
            await exchange.refuse("internal", "unexpected error; see the server's log")
        if exchange.method not in SAFE and self._gate.audit is not None:
            _audit(self._gate.audit, exchange, scope)

    def finished_answer(self, scope: Any) -> FinishedAnswer | None:
        """The complete response if a cached page is available without waiting; None: call the application. Callable
        from any thread.
        """
        given = dict(scope["headers"])
        finished = self._finished(scope, given)
        return None if finished is None else whole(*finished, scope["method"], request_id(given))

    async def _serve(self, exchange: Exchange, scope: Any, receive: Receive) -> None:
        finished = self._finished(scope, exchange.given)
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
        if length is not None and length > (most := most_bytes(scope)):
            await exchange.refuse("too-large", too_large(most))
            return
        if exchange.method in _PAGE:
            key = self._pages.key(scope) if identity is not None else None
            if key is not None and identity is not None:
                outcome, age = await self._pages.answer(key, identity, scope, receive)
                await exchange.give(await self._sent(outcome, exchange.given), age)
                return
            if exchange.method == "HEAD":
                scope = {**scope, "method": "GET"}
        await self._app(without_length(scope), bounded(scope, receive), exchange.send)

    def _finished(self, scope: Any, given: Headers) -> tuple[FinishedAnswer, float] | None:
        """A cached page that is available without waiting, and its age; None: take the slow path. It makes every check
        of `_serve`: a path that has a key was found canonical before, and caller and host are checked again.
        """
        key = self._pages.known(scope["raw_path"], scope["query_string"])
        if key is None or scope["method"] not in _PAGE or b"content-length" in given:
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
        self._pages.counts.hit()
        return finished, age

    async def _caller(self, scope: Any, given: Headers, state: dict[str, Any]) -> Identity | None:
        """Authenticate the caller. A failure is stored for the guard of the route, because open routes stay open."""
        identity = self._gate.known(scope, given)
        if identity is None:
            try:
                identity = await self._gate.identify(scope, given)
            except LimnographError as error:
                state["refusal"] = error
        state["identity"] = identity
        return identity

    async def _sent(self, outcome: AppResponse, given: Headers) -> FinishedAnswer:
        """What to send for a response: the page in a coding that the client accepts, or 304."""
        if not isinstance(outcome, CachedResponse):
            return outcome.status, self._headers.complete(outcome.headers), outcome.body
        found = outcome.given(given)
        while found is None:
            await outcome.bytes_in(outcome.coding(given.get(b"accept-encoding", b"")))
            found = outcome.given(given)
        return found


def _audit(log: AuditLog, exchange: Exchange, scope: Any) -> None:
    """Record every request that could change something, rejected ones included."""
    state = scope.get("state", {})
    identity: Identity | None = state.get("identity")
    what, detail = state.get(AUDITED, ("request", ""))
    log.write(
        AuditEvent(
            at=problems.now_text(),
            who=identity.subject if identity else "",
            what=what,
            outcome=str(exchange.status),
            method=exchange.method,
            path=scope["raw_path"].decode("latin-1"),
            address=peer(scope),
            request_id=exchange.request_id,
            detail=detail,
        )
    )
