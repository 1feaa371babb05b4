"""A limit for the whole check, so that it cannot hang: it ends with the name of what it waited for."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

GRACE_S = 90.0
"""For the end of all programs. What has not ended then is killed."""


class CheckOverdue(BaseException):
    """The limit has passed. Not an Exception: no scenario may take it for a failure of its own."""


@contextmanager
def limited(seconds: float, doing: Callable[[], str], end: Callable[[int], Any] = os._exit) -> Iterator[None]:
    """Raise CheckOverdue in the main thread after `seconds`. If the block has not ended `GRACE_S` later, because a
    library does not return, say what it was `doing` and end the process, with which its children end.
    """

    def interrupt(*_: object) -> None:
        raise CheckOverdue(f"not over after {seconds:.0f} s")

    def wait() -> None:
        if not is_over.wait(seconds + GRACE_S):
            sys.stderr.write(f"lakehouse: did not end {GRACE_S:.0f} s after its limit: {doing()}\n")
            sys.stderr.flush()
            end(1)

    is_over = threading.Event()
    before = signal.signal(signal.SIGALRM, interrupt)
    threading.Thread(target=wait, name="limit", daemon=True).start()
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        is_over.set()
