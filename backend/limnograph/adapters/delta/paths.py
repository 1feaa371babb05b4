"""One key per logical file: paths are compared as in Delta's Kernel, together with their deletion vector.

Kernel parses a path as `java.net.URI` and compares URIs (`LogReplayUtils.pathToUri`, `URI.equals`): hexadecimal digits
of escapes, the scheme and the server's name ignore case, and `file:///x` equals `file:/x`. Nothing is decoded or
resolved, so `/x` and `file:/x`, `a%2Db` and `a-b`, `s3a:` and `s3:`, `a//b` and `a/b` are different files.
"""

from __future__ import annotations

import re
from hashlib import blake2b

_ESCAPE = re.compile(rb"%[0-9A-Fa-f]{2}")
_SCHEME = re.compile(rb"([A-Za-z][A-Za-z0-9+.\-]*):(?=.)", re.DOTALL)
_AUTHORITY = re.compile(rb"//([^/?#]*)")
_LABEL = rb"[A-Za-z0-9](?:[A-Za-z0-9\-]*[A-Za-z0-9])?"
_SERVER = re.compile(
    rb"(?P<user>[^@]*@)?"
    rb"(?P<host>(?:(?:" + _LABEL + rb"\.)+(?=[A-Za-z]))?" + _LABEL + rb"\.?"  # the last of several begins with a letter
    rb"|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.%]+\])"
    rb"(?::(?P<port>\d*))?"
)


def canonical(path: str) -> bytes:
    """Canonical spelling for comparison: two paths have the same one exactly if `URI.equals` holds for them. A path
    that is not a valid URI, which Kernel refuses, equals only itself.
    """
    raw = path.encode("utf-8", "surrogatepass")
    if b"%" in raw:
        raw = _ESCAPE.sub(lambda escape: escape[0].upper(), raw)
    if b":" not in raw and raw[:2] != b"//":
        return raw
    scheme, rest = b"", raw
    if (named := _SCHEME.match(raw)) is not None:
        scheme, rest = named[0].lower(), raw[named.end() :]
    if (authority := _AUTHORITY.match(rest)) is None:
        return scheme + rest
    after = rest[authority.end() :]
    return scheme + (b"\0" + _server(authority[1]) if authority[1] else b"") + after


def path_key(path: str) -> bytes:
    """Key of a data file, 16 bytes: full paths would fill the memory for a table with a million files."""
    return blake2b(canonical(path), digest_size=16).digest()


def file_key(path: bytes, vector_id: str | None) -> bytes:
    """Key of a logical file: its data file's key and the unique id of its deletion vector (PROTOCOL, "Add File")."""
    if vector_id is None:
        return path
    return blake2b(path + vector_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _server(authority: bytes) -> bytes:
    """An authority that names a server: the host in lower case, the port as a number. Others stay as written."""
    found = _SERVER.fullmatch(authority)
    if found is None:
        return authority
    port = b":%d" % int(found["port"]) if found["port"] else b""
    return (found["user"] or b"") + found["host"].lower() + port
