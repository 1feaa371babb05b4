"""Separates the computation of a page from its caller: a request without headers, a caller that never disconnects, and
the detection of one that did.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from litestar.types import Receive, Scope

_HEADERS = [(b"host", b"limnograph")]


class CallerGone(Exception):
    """The caller has disconnected."""


def without_headers(scope: Any) -> tuple[Scope, dict[str, Any]]:
    """The request without the caller's headers. They are not part of the cache key: path, parameters and scopes alone
    determine the response.
    """
    state = {key: scope["state"][key] for key in ("identity", "request_id") if key in scope["state"]}
    return cast("Scope", {**scope, "method": "GET", "headers": _HEADERS, "state": state}), state


async def never_disconnects() -> Any:
    """`receive` of a request without a body whose caller never disconnects."""
    await asyncio.Event().wait()


async def wait_for_disconnect(receive: Receive) -> None:
    """Return once the caller has disconnected."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
