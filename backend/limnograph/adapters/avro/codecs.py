"""Decompression of one block of an Avro file, never to more bytes than the caller allows."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from isal import isal_zlib

from limnograph.domain.errors import MetadataError

_IsalError: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # isal's stubs say an instance
_CRC_BYTES = 4
_STEP_BYTES = 1 << 20
_DEFLATE_RATIO = 1032
"""Maximum expansion of deflate: 258 bytes from two codes of one bit."""
_SNAPPY_RATIO = 64
"""Maximum expansion of snappy: an element of three bytes copies at most 64."""


def decompressor(codec: bytes) -> Callable[[memoryview, int], bytes | memoryview]:
    """`(block, limit) -> content` for the value of the header's `avro.codec`. Raises MetadataError."""
    found = _CODECS.get(codec)
    if found is None:
        raise MetadataError("avro_codec_unknown", f"codec {codec[:40]!r} is not supported")

    def decompress(block: memoryview, limit: int) -> bytes | memoryview:
        try:
            return found(block, limit)
        except (_IsalError, OSError, ValueError, EOFError, pa.ArrowException) as error:
            raise MetadataError("avro_damaged", f"a block cannot be decompressed: {error}") from error

    return decompress


def too_large(limit: int) -> MetadataError:
    """The error for a file with more content than the caller allows."""
    return MetadataError("avro_too_large", f"the blocks of an Avro file exceed {limit} bytes")


def _null(block: memoryview, limit: int) -> memoryview:
    if len(block) > limit:
        raise too_large(limit)
    return block


def _deflate(block: memoryview, limit: int) -> bytes:
    # Bytes after the end of the stream are allowed: fastavro leaves zlib's checksum there.
    if len(block) * _DEFLATE_RATIO <= limit:
        return isal_zlib.decompress(block, -15)
    inflater = isal_zlib.decompressobj(-15)
    content = inflater.decompress(block, limit + 1)
    if len(content) > limit:
        raise too_large(limit)
    if not inflater.eof:
        raise ValueError("the stream is truncated")
    return content


def _zstandard(block: memoryview, limit: int) -> bytes:
    parts: list[bytes] = []
    held = 0
    with pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(block)), "zstd") as stream:
        while part := stream.read(min(_STEP_BYTES, limit + 1 - held)):
            parts.append(part)
            held += len(part)
            if held > limit:
                raise too_large(limit)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _snappy(block: memoryview, limit: int) -> bytes:
    """Raw snappy: the decompressed length as an unsigned varint, the block, a CRC-32 of the decompressed content."""
    size = shift = 0
    for byte in block[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if size > limit:
        raise too_large(limit)
    if len(block) < _CRC_BYTES or size > len(block) * _SNAPPY_RATIO:
        raise ValueError("a snappy block is truncated")
    content = pa.decompress(pa.py_buffer(block[:-_CRC_BYTES]), decompressed_size=size, codec="snappy", asbytes=True)
    if isal_zlib.crc32(content) != int.from_bytes(block[-_CRC_BYTES:], "big"):
        raise ValueError("the checksum of a snappy block is wrong")
    return bytes(content)


_CODECS: dict[bytes, Callable[[memoryview, int], bytes | memoryview]] = {
    b"null": _null,
    b"deflate": _deflate,
    b"zstandard": _zstandard,
    b"snappy": _snappy,
}
