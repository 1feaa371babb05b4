"""Text form of partition values, the same for every format. The text alone identifies a partition."""

from __future__ import annotations

import hashlib

NULL = "null"
MAX_TEXT = 500
"""Maximum length of a value in characters; a longer one ends in its digest. No real partition's path is this long."""


def string_text(value: str) -> str:
    """A string value, quoted or escaped so that it reads neither as null nor as another field: `"null"`, `a%2Fb`."""
    if value == NULL:
        return f'"{NULL}"'
    escaped = value.replace("%", "%25").replace("/", "%2F")
    return "%22" + escaped[1:] if escaped.startswith('"') else escaped


def shortened(text: str) -> str:
    """The text cut to MAX_TEXT characters, with a digest if it was longer."""
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}...{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:32]}"
