"""Opaque cursors: where the next page goes on, bound to the question they belong to."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any

import msgspec

from limnograph.domain.errors import InvalidInput


def encode(question: tuple[Any, ...], position: list[Any]) -> str:
    """`position` is JSON; `question` is everything that must stay the same from page to page."""
    body = msgspec.json.encode([_digest(question), position])
    return base64.urlsafe_b64encode(body).decode().rstrip("=")


def decode(question: tuple[Any, ...], cursor: str, kinds: tuple[type, ...]) -> list[Any]:
    """The position; its items have exactly these types. Raises InvalidInput naming `cursor`."""
    try:
        body = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        digest, position = msgspec.json.decode(body, type=tuple[str, list[Any]])
    except (binascii.Error, UnicodeError, ValueError, msgspec.MsgspecError) as error:
        raise InvalidInput("cursor", "is not a cursor of this server; start at the first page") from error
    if digest != _digest(question):
        raise InvalidInput("cursor", "belongs to another question; start at the first page")
    if tuple(type(item) for item in position) != kinds:
        raise InvalidInput("cursor", "is not a cursor of this server; start at the first page")
    return position


def _digest(question: tuple[Any, ...]) -> str:
    return hashlib.sha256(msgspec.json.encode(question)).hexdigest()[:12]
