"""The OpenAPI document for tests, built once in a process: that takes most of a second, and many tests read it."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from limnograph.api.docs import openapi


@cache
def _encoded() -> bytes:
    return msgspec.json.encode(openapi.document())


def document() -> dict[str, Any]:
    """The whole document. Each caller has its own, and may change it."""
    found: dict[str, Any] = msgspec.json.decode(_encoded())
    return found
