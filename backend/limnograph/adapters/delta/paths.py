"""One key for one logical file, however its path was spelled: paths are compared decoded, and with their vector."""

from __future__ import annotations

import re
from hashlib import blake2b
from urllib.parse import unquote_to_bytes

_LOCAL = re.compile(rb"^file:(?://(?:localhost)?(?=/))?/*", re.IGNORECASE)
_SCHEMES = re.compile(rb"^s3[an]://")


def canonical(path: str) -> bytes:
    """Spelling to compare by. Paths are URIs: `a%20b` is `a b`; `file:/x`, `file:///x` are `/x`; `s3a:` is `s3:`."""
    raw = path.encode("utf-8", "surrogatepass")
    if b"%" in raw:
        raw = unquote_to_bytes(raw)
    if raw[:5].lower() == b"file:":
        return b"/" + _LOCAL.sub(b"", raw)
    return _SCHEMES.sub(b"s3://", raw)


def path_key(path: str) -> bytes:
    """Key of a data file, 16 bytes: paths themselves would fill the memory of a table with a million files."""
    return blake2b(canonical(path), digest_size=16).digest()


def file_key(path: bytes, vector_id: str | None) -> bytes:
    """Key of a logical file: its data file's key and the unique id of its deletion vector (PROTOCOL, "Add File")."""
    if vector_id is None:
        return path
    return blake2b(path + vector_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()
