"""Paths are taken in one spelling only: what proxies, caches and routers could read differently is refused unread."""

from __future__ import annotations

import re

from limnograph.api.wire.remembering import remembered

_PLAIN = re.compile(rb"(?:/[A-Za-z0-9_~!$&'()*+,=:@-][A-Za-z0-9._~!$&'()*+,=:@-]*)+/?|/")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})?")
_UNIT_SEPARATOR = 0x1F
_LONGEST = 4_096
_NEVER_ESCAPED = {ord("."): "a dot", ord("/"): "a slash", ord("\\"): "a backslash"}


@remembered(4_096)
def refusal(raw: bytes) -> str | None:
    """Why a raw path (before decoding) is not canonical; None when it is.

    Namespaces carry `/` as `~s`, so an escaped slash is never ours; the unit separator stands between the levels of
    Iceberg's REST paths and is taken there alone.
    """
    if len(raw) > _LONGEST:
        return f"a path has at most {_LONGEST} bytes"
    if _PLAIN.fullmatch(raw):
        return None
    segments = raw.split(b"/")[1:]
    rules = (
        (not raw.startswith(b"/"), "a path begins with a slash"),
        (any(byte <= 0x20 or byte >= 0x7F for byte in raw), "a path is printable ASCII; escape everything else"),
        (b"\\" in raw or b";" in raw, "a path has neither backslashes nor semicolons; in names, write %3B"),
        (b"" in segments[:-1], "a path has no empty segments"),
        (b"." in segments or b".." in segments, "a path has no segments . or .."),
    )
    return next((reason for broken, reason in rules if broken), None) or _escapes(raw)


def _escapes(raw: bytes) -> str | None:
    for found in _ESCAPE.finditer(raw):
        if found[1] is None:
            return "a path has % only before two hexadecimal digits"
        byte = int(found[1], 16)
        if byte in _NEVER_ESCAPED:
            return f"a path has {_NEVER_ESCAPED[byte]} only unescaped; in names `/` is written ~s and a backslash ~b"
        if (byte < 0x20 or byte == 0x7F) and not (byte == _UNIT_SEPARATOR and raw.startswith(b"/v1/")):
            return "a path has no control characters"
    try:
        _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), raw).decode()
    except UnicodeDecodeError:
        return "a path is UTF-8"
    return None
