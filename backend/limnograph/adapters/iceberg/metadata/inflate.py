"""Decompresses a gzipped metadata file in small steps, with a limit on its size."""

from __future__ import annotations

from isal import isal_zlib

from limnograph.domain.errors import MetadataError

MAX_METADATA_BYTES = 256 * 2**20
GZIP_MAGIC = b"\x1f\x8b"
_MAX_EXPANSION = 64
"""JSON of a long history shrinks to an eighth; no real file shrinks to a sixty-fourth."""
_ALWAYS = 16 * 2**20
_INPUT, _OUTPUT = 1 << 16, 1 << 22
_GZIP = 16 + 15
_IsalError: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # isal's stubs say an instance


def inflated(content: bytes, location: str) -> bytearray:
    """All members of a gzip file. Raises MetadataError: metadata_unreadable, file_too_large."""
    limit = min(MAX_METADATA_BYTES, _ALWAYS + _MAX_EXPANSION * len(content))
    # The trailer states the length: a bomb that states its size is refused before it is decompressed.
    if int.from_bytes(content[-4:], "little") > limit:
        raise _too_large(location, limit)
    view, out = memoryview(content), bytearray()
    position = 0
    try:
        while position < len(view):
            position = _member(view, position, out, limit)
            while position < len(view) and view[position] == 0:
                position += 1
    except (_IsalError, EOFError) as error:
        raise MetadataError("metadata_unreadable", f"{location} is not complete gzip: {error}") from error
    if len(out) > limit:
        raise _too_large(location, limit)
    return out


def _member(view: memoryview, position: int, out: bytearray, limit: int) -> int:
    """Append one member to `out`; returns the position after it."""
    inflater = isal_zlib.decompressobj(_GZIP)
    while not inflater.eof:
        piece = view[position : position + _INPUT]
        if not piece:
            raise EOFError("it is truncated")
        position += len(piece)
        out += inflater.decompress(piece, _OUTPUT)
        while inflater.unconsumed_tail and not inflater.eof and len(out) <= limit:
            out += inflater.decompress(inflater.unconsumed_tail, _OUTPUT)
        if len(out) > limit:
            return len(view)
    return position - len(inflater.unused_data)


def _too_large(location: str, limit: int) -> MetadataError:
    return MetadataError("file_too_large", f"{location} is longer than {limit} bytes decompressed")
