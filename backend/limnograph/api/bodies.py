"""Bodies of requests: bounded in bytes and in time before anybody reads them."""

from __future__ import annotations

import asyncio
from typing import Any

from litestar.types import Receive

from limnograph.api import problems

MAX_BODY = 1024 * 1024
BODY_S = 30.0
"""A whole body has to arrive within this; a client that sends a byte now and then holds nothing for longer."""
TOO_LARGE = f"a body has at most {MAX_BODY} bytes"


def bounded(receive: Receive) -> Receive:
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
            raise problems.TooLarge(TOO_LARGE)
        return message

    return limited
