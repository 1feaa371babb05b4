"""Values of partitions as text, one notation for every format: it alone identifies a partition."""

from __future__ import annotations

import hashlib

NULL = "null"
MAX_TEXT = 500
"""Letters of one value; a longer one ends in its digest. No path of a real partition is as long."""


def string_text(value: str) -> str:
    """A string that reads neither as null nor as another field: `"null"`, `a%2Fb`."""
    if value == NULL:
        return f'"{NULL}"'
    escaped = value.replace("%", "%25").replace("/", "%2F")
    return "%22" + escaped[1:] if escaped.startswith('"') else escaped


def shortened(text: str) -> str:
    """At most MAX_TEXT letters and a digest."""
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}...{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:32]}"
