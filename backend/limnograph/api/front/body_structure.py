"""Limits on the structure of a JSON body, checked before it is parsed: one kilobyte of gzip can contain 349,000 alerts.
Only characters outside strings count. For text that is not JSON the count may be too high, but never too low for the
part that a parser would read before it fails.
"""

from __future__ import annotations

import re

from limnograph.api.wire.problems import TooLarge
from limnograph.domain.errors import InvalidInput

MOST_ITEMS = 10_000
"""Maximum number of elements of an array, or fields of an object."""
MOST_VALUES = 100_000
"""Maximum number of values in a body, at all depths; a full megabyte of real notifications has at most half as many."""
DEEPEST = 500
"""Maximum nesting depth of arrays and objects. Python's own recursion limit is 1,000, less the caller's stack."""
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""Possessive quantifiers and an optional closing quote: every quote is examined once, whatever follows it."""
_STRUCTURE = b"[]{},"
_OTHER = bytes(set(range(256)) - set(_STRUCTURE))
_OPENING, _CLOSING = frozenset(b"[{"), frozenset(b"]}")


def check(body: bytes) -> None:
    """Raises TooLarge, which names the exceeded limit, or InvalidInput if the body is not UTF-8 or too deep."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("body", f"is not UTF-8 at byte {error.start}") from error
    opening = body.count(b"[") + body.count(b"{")
    if opening <= DEEPEST and opening + body.count(b",") < MOST_ITEMS:
        return  # nearly every body: below the limits even if strings are counted
    structure = _outside_strings(body).translate(None, _OTHER)
    if structure.count(b",") > MOST_VALUES:
        raise _too_many_values()
    _count(structure)


def _outside_strings(body: bytes) -> bytes:
    """The body without its strings. Joins the gaps between matches, because one call of `sub` would block other
    threads.
    """
    found, at = [], 0
    for string in _STRING.finditer(body):
        found.append(body[at : string.start()])
        at = string.end()
    return b"".join([*found, body[at:]])


def _count(structure: bytes) -> None:
    """Every comma and every opening bracket counts as an item of its array or object, so an empty one has one item."""
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
