"""What a child is doing at this moment, in a page of memory that it shares with its parent.

Frames could not say it: a child that hangs sends none, and two frames for every file would cost more than the file.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

_BYTES = 4096
_READING, _PARSING = b"R", b"P"


class Board:
    """`descriptor` of a file of one page. The child writes, the parent looks after a deadline has passed."""

    def __init__(self, descriptor: int) -> None:
        self._page = mmap.mmap(descriptor, _BYTES)

    @contextmanager
    def reading(self, location: str) -> Iterator[None]:
        """Inside, storage is what is waited for; afterwards the location is being parsed."""
        where = location.encode("utf-8", "replace")[: _BYTES - 2]
        self._page[: len(where) + 2] = _READING + where + b"\0"
        try:
            yield
        finally:
            self._page[0:1] = _PARSING

    def clear(self) -> None:
        """A new request: nothing was read yet."""
        self._page[:2] = b"\0\0"

    def waits_for_storage(self) -> bool:
        """Whether storage has not answered yet."""
        return bool(self._page[:1] == _READING)

    def location(self) -> str:
        """The file that was asked for last; empty before the first one."""
        return bytes(self._page[1:]).partition(b"\0")[0].decode("utf-8", "replace")


@contextmanager
def shared_page() -> Iterator[int]:
    """Descriptor of a new page, open while it is handed over."""
    with tempfile.TemporaryFile() as file:
        file.truncate(_BYTES)
        yield file.fileno()
