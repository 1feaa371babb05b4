"""Callers of a page: the request without the caller, a caller that never disconnects, and one that did."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from litestar.types import Receive, Scope

_HEADERS = [(b"host", b"limnograph")]


class CallerGone(Exception):
    """The caller has disconnected."""


def without_headers(scope: Any) -> tuple[Scope, dict[str, Any]]:
    """The same request without any header of the caller, since none is part of the key: path, parameters and scopes
    alone determine the response.
    """
    state = {key: scope["state"][key] for key in ("identity", "request_id") if key in scope["state"]}
    return cast("Scope", {**scope, "method": "GET", "headers": _HEADERS, "state": state}), state


async def never_disconnects() -> Any:
    """A request without a body from a caller that never disconnects."""
    await asyncio.Event().wait()


async def wait_for_disconnect(receive: Receive) -> None:
    """Until the caller is no longer connected."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
