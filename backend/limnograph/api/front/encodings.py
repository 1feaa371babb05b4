"""Content codings of finished responses: which one a client accepts, and the bytes, computed once."""

from __future__ import annotations

import zlib
from typing import Literal

import zstandard

from limnograph.api.wire.remembering import remembered

Coding = Literal["", "gzip", "zstd"]
OFFERED: tuple[Coding, ...] = ("zstd", "gzip")
"""In the server's order of preference; `""` is the unencoded body."""
LEAST = 1_024
"""Smaller bodies are sent unencoded: they fit one packet either way. Bytes."""


@remembered(256)
def chosen(accept: bytes) -> Coding:
    """The coding for an `Accept-Encoding` header: the client's highest weight, then the server's order (RFC 9110
    §12.5.3).
    """
    weights: dict[str, float] = {}
    for part in accept.decode("latin-1").split(","):
        name, _, parameters = part.partition(";")
        weights.setdefault(name.strip().lower(), _weight(parameters))
    anything = weights.get("*", 0.0)
    best: tuple[float, Coding] = (0.0, "")
    for coding in OFFERED:
        weight = weights.get(coding, anything)
        if weight > best[0]:
            best = (weight, coding)
    return "" if weights.get("identity", 0.0) > best[0] else best[1]


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip().lower() != "q":
        return 1.0
    try:
        found = float(value)
    except ValueError:
        return 0.0
    return found if 0.0 <= found <= 1.0 else 0.0


def encoded(body: bytes, coding: Coding) -> bytes:
    """The encoded body, deterministic. 90 KB of JSON take a few hundred microseconds: call it in a thread."""
    if coding == "zstd":
        return zstandard.ZstdCompressor(level=3).compress(body)
    if coding == "gzip":
        packing = zlib.compressobj(level=6, wbits=31)  # no name, no time: strong validators need stable bytes
        return packing.compress(body) + packing.flush()
    return body
