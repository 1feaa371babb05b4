"""The current activity of a child process, in a page of memory shared with its parent.

Messages cannot report it: a child that hangs sends none, and two messages per file would cost more than the file.
"""

from __future__ import annotations

import mmap
import struct
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

_BYTES = 4096
_READING, _PARSING, _STARTING = b"R", b"P", b"S"
_SINCE = struct.Struct("=d")
_TEXT = 1 + _SINCE.size


class ProgressBoard:
    """`descriptor` of a file of one page. The child writes it, the parent polls it."""

    def __init__(self, descriptor: int) -> None:
        self._page = mmap.mmap(descriptor, _BYTES)

    @contextmanager
    def reading(self, location: str) -> Iterator[None]:
        """The child waits for storage inside this context; afterwards it parses the location."""
        where = location.encode("utf-8", "replace")[: _BYTES - _TEXT - 1] + b"\0"
        # The monotonic clock is the same for all processes of a machine.
        self._page[: _TEXT + len(where)] = _READING + _SINCE.pack(time.monotonic()) + where
        try:
            yield
        finally:
            self._page[0:1] = _PARSING

    def clear(self) -> None:
        """Reset for a new request: no file has been read."""
        self._page[: _TEXT + 1] = bytes(_TEXT + 1)

    def starting(self, phase: str) -> None:
        """Record a phase before the first request: `loading`, `compiling` ..."""
        said = phase.encode()[: _BYTES - _TEXT - 1] + b"\0"
        self._page[: _TEXT + len(said)] = _STARTING + bytes(_SINCE.size) + said

    def phase(self) -> str:
        """The phase before the first request; empty if the child reported none."""
        return self.location() if self._page[:1] == _STARTING else ""

    def read_since(self) -> float | None:
        """When the pending storage request was sent, which identifies it. None: no request is pending."""
        if self._page[:1] != _READING:
            return None
        return float(_SINCE.unpack(self._page[1:_TEXT])[0])

    def location(self) -> str:
        """The file that was requested last; empty before the first one."""
        return bytes(self._page[_TEXT:]).partition(b"\0")[0].decode("utf-8", "replace")


@contextmanager
def shared_page() -> Iterator[int]:
    """Descriptor of a new page, open until it is passed to the child."""
    with tempfile.TemporaryFile() as file:
        file.truncate(_BYTES)
        yield file.fileno()
