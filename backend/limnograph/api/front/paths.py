"""Accepts paths in their canonical spelling only: proxies, caches and routers could interpret any other differently."""

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
    """Why a raw path (before decoding) is not canonical; None if it is.

    Namespaces escape `/` as `~s`, so none of our paths contains `%2F`. The unit separator `%1F` separates namespace
    levels in Iceberg's REST paths and is accepted only there.
    """
    if len(raw) > _LONGEST:
        return f"the path must have at most {_LONGEST} bytes"
    if _PLAIN.fullmatch(raw):
        return None
    segments = raw.split(b"/")[1:]
    rules = (
        (not raw.startswith(b"/"), "the path must begin with a slash"),
        (
            any(byte <= 0x20 or byte >= 0x7F for byte in raw),
            "the path must be printable ASCII; percent-encode other characters",
        ),
        (b"\\" in raw or b";" in raw, "the path must not contain backslashes or semicolons; in names, write %3B"),
        (b"" in segments[:-1], "the path must not have empty segments"),
        (b"." in segments or b".." in segments, "the path must not have segments . or .."),
    )
    return next((reason for broken, reason in rules if broken), None) or _escapes(raw)


def _escapes(raw: bytes) -> str | None:
    for found in _ESCAPE.finditer(raw):
        if found[1] is None:
            return "the path must have two hexadecimal digits after each %"
        byte = int(found[1], 16)
        if byte in _NEVER_ESCAPED:
            escaped = _NEVER_ESCAPED[byte]
            return f"the path must not percent-encode {escaped}; in names, `/` is written ~s and a backslash ~b"
        if (byte < 0x20 or byte == 0x7F) and not (byte == _UNIT_SEPARATOR and raw.startswith(b"/v1/")):
            return "the path must not contain control characters"
    try:
        _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), raw).decode()
    except UnicodeDecodeError:
        return "the path must be UTF-8"
    return None
