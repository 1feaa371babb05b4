"""The size of a body's JSON, counted before it is parsed: one kilobyte of gzip can be 349,000 alerts. Only characters
outside of strings count. For text that is not JSON the count may be too high, never too low for the part that a parser
would read before it stops.
"""

from __future__ import annotations

import re

from limnograph.api.wire.problems import TooLarge
from limnograph.domain.errors import InvalidInput

MOST_ITEMS = 10_000
"""Elements of one array, or fields of one object."""
MOST_VALUES = 100_000
"""Values of a whole body, at all depths: a full megabyte of real notifications has at most half of it."""
DEEPEST = 500
"""Arrays and objects inside each other. Python's own limit is a thousand, less what the caller's stack takes."""
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""Possessive and with an optional end: every quote is examined once, whatever follows it."""
_STRUCTURE = b"[]{},"
_OTHER = bytes(set(range(256)) - set(_STRUCTURE))
_OPENING, _CLOSING = frozenset(b"[{"), frozenset(b"]}")


def check(body: bytes) -> None:
    """Raises TooLarge naming the bound that a body is over, InvalidInput when it is no UTF-8 or nested too deeply."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("body", f"is not UTF-8 at byte {error.start}") from error
    opening = body.count(b"[") + body.count(b"{")
    if opening <= DEEPEST and opening + body.count(b",") < MOST_ITEMS:
        return  # nearly every body: strings included, there is too little of it
    structure = _outside_strings(body).translate(None, _OTHER)
    if structure.count(b",") > MOST_VALUES:
        raise _too_many_values()
    _count(structure)


def _outside_strings(body: bytes) -> bytes:
    """Match by match and not by one call of `sub`, so that other threads get their turn."""
    found, at = [], 0
    for string in _STRING.finditer(body):
        found.append(body[at : string.start()])
        at = string.end()
    return b"".join([*found, body[at:]])


def _count(structure: bytes) -> None:
    """An item is a comma or what follows an opening bracket; an empty array counts as one item."""
    values, items = 0, [0]
    for sign in structure:
        if sign in _CLOSING:
            if len(items) > 1:
                items.pop()
            continue
        if sign in _OPENING:
            if len(items) > DEEPEST:
                raise InvalidInput("body", f"is too deeply nested; at most {DEEPEST} levels of arrays and objects")
            items.append(0)
        items[-1] += 1
        values += 1
        if items[-1] > MOST_ITEMS:
            raise TooLarge(
                f"the body has an array or object with more than {MOST_ITEMS} items; split it into several requests"
            )
        if values > MOST_VALUES:
            raise _too_many_values()


def _too_many_values() -> TooLarge:
    return TooLarge(f"the body has more than {MOST_VALUES} values; split it into several requests")
