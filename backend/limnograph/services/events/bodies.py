"""JSON bodies of untrusted clients: parsed, or rejected with the name of the invalid field. No input causes an internal
error.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from limnograph.domain.errors import InvalidInput

_T = TypeVar("_T")
BODY = "body"
SMALL = 16 * 1024
"""Bodies up to this many bytes are parsed faster than a thread can be scheduled."""


async def apart(size: int, act: Callable[..., _T], *given: Any) -> _T:
    """`act(*given)`, in a thread for more than SMALL bytes, so that the event loop stays responsive."""
    return await asyncio.to_thread(act, *given) if size > SMALL else act(*given)


def parse(body: bytes, kind: type[_T]) -> _T:
    """Raises InvalidInput."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise _refused(error) from error
    except (msgspec.DecodeError, ValueError) as error:
        raise InvalidInput(BODY, f"is not JSON: {error}") from error
    except RecursionError as error:
        raise InvalidInput(BODY, "is too deeply nested") from error


def convert(value: Any, kind: type[_T], prefix: str = "") -> _T:
    """Convert an already parsed value. Raises InvalidInput."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _refused(error, prefix) from error
    except RecursionError as error:
        raise InvalidInput(prefix or BODY, "is too deeply nested") from error


def _refused(error: msgspec.ValidationError, prefix: str = "") -> InvalidInput:
    """`Object missing required field `runId` - at `$.run`` -> (`run.runId`, sentence)."""
    message = str(error)
    path = re.search(r" - at `\$\.?(.*)`$", message)
    detail = message[: path.start()] if path else message
    parts = [prefix, path[1] if path else ""]
    if missing := re.search(r"missing required field `(.+?)`", detail):
        parts.append(missing[1])
        detail = "is required"
    elif unknown := re.search(r"unknown field `(.+?)`", detail):
        parts.append(unknown[1])
        detail = "is not a field of this body"
    return InvalidInput(".".join(filter(None, parts)) or BODY, detail[0].lower() + detail[1:])
