"""`GET /api/v1/stream`: server-sent events from `services/server/live.py`. WHATWG HTML §9.2."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from typing import Annotated, Any, cast

from litestar import Request, get
from litestar.datastructures import State
from litestar.params import HeaderParameter
from litestar.response import Stream

from limnograph.api.front.gate import Authenticator, Headers, peer
from limnograph.api.wire.access import READ
from limnograph.api.wire.problems import documented
from limnograph.domain.access import Identity
from limnograph.services.server.live import Live, LiveEvent, Reader

HEARTBEAT_S = 15.0
"""Interval of heartbeats; each checks the token or session, so a stream outlives it by at most this long."""
LONGEST_S = 3_600.0
"""Maximum duration of a connection, which then holds its resources no longer. Browsers reconnect with their last id."""
MEDIA_TYPE = "text/event-stream"
LastId = Annotated[str | None, HeaderParameter(name="Last-Event-ID", description="Id of the last event received.")]


@get(
    "/stream",
    operation_id="getStream",
    summary="Live events",
    responses=documented(),
    media_type=MEDIA_TYPE,
    opt=READ,
)
async def get_stream(request: Request[Any, Any, Any], state: State, last_id: LastId = None) -> Stream:
    """Server-sent events `commit`, `table`, `alert`, `finding`, `note`, `plan`, `sources` and `reset`, each with an id,
    so that a reconnecting browser misses none; a comment every 15 seconds. A client that reads too slowly is
    disconnected.
    """
    live, gate = cast("Live", state["live"]), cast("Authenticator", state["gate"])
    identity: Identity = request.scope["state"]["identity"]
    asked = gate.credentials is not None
    caller = f"{identity.method}:{identity.subject}" if asked else peer(request.scope)
    reader = live.open(caller, last_id, capped=asked)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return Stream(_events(reader, gate, request.scope), media_type=MEDIA_TYPE, headers=headers)


async def _events(reader: Reader, gate: Authenticator, scope: Any) -> AsyncGenerator[bytes]:
    began, given = time.monotonic(), cast("Headers", dict(scope["headers"]))
    try:
        yield b"retry: 2000\n\n"
        checked = began
        while time.monotonic() - began < LONGEST_S:
            events = await reader.next(HEARTBEAT_S)
            if events is None:
                return
            if time.monotonic() - checked >= HEARTBEAT_S:
                checked = time.monotonic()
                if not await _still_allowed(gate, scope, given):
                    return
            yield b"".join(map(_text, events)) if events else b":\n\n"
    finally:
        reader.close()


async def _still_allowed(gate: Authenticator, scope: Any, given: Headers) -> bool:
    """Whether the token or session is still valid. A proxy or a JWT authenticates only this request."""
    identity = scope["state"]["identity"]
    if identity.method not in {"token", "session"}:
        return True
    now = gate.known(scope, given)
    return now is not None and "read" in now.scopes


def _text(event: LiveEvent) -> bytes:
    """An event as text. msgspec's JSON contains no line breaks, so one `data` line is enough."""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (event.id.encode(), event.kind.encode(), event.data)


HANDLERS: list[Any] = [get_stream]
