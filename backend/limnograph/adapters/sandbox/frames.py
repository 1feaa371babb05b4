"""Frames on a pipe: four bytes of length, then the body. Knows nothing of messages."""

from __future__ import annotations

import struct
from typing import BinaryIO

_HEADER = struct.Struct(">I")


def framed(body: bytes) -> bytes:
    """A body with its length prefix."""
    return _HEADER.pack(len(body)) + body


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next body; blocks until it is complete. None at the end of the stream."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    (length,) = _HEADER.unpack(header)
    body = stream.read(length)
    return body if len(body) == length else None


class FrameReader:
    """Assembles frames from chunks of any size. `limit`: bytes of one frame, and of all unconsumed data."""

    def __init__(self, limit: int) -> None:
        self._limit, self._held = limit, bytearray()

    def feed(self, piece: bytes) -> None:
        """Add received bytes. Raises ValueError for a frame larger than the limit."""
        self._held += piece
        if self._length() > self._limit:
            raise ValueError(f"a frame of {self._length()} bytes, of {self._limit} at most")

    def next(self) -> bytes | None:
        """The next complete body; None if there is none yet."""
        end = _HEADER.size + self._length()
        if len(self._held) < _HEADER.size or len(self._held) < end:
            return None
        body = bytes(self._held[_HEADER.size : end])
        del self._held[:end]
        return body

    def _length(self) -> int:
        return int(_HEADER.unpack_from(self._held)[0]) if len(self._held) >= _HEADER.size else 0
