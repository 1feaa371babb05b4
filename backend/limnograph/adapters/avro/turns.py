"""A lock for compilation: of several processes that start at once, one compiles and the others wait for its result.

Imports neither numba nor numpy: the parent of a compiling process imports it to learn the phases.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

COMPILING, WAITING, LOADING = "compiling", "waiting for another process to compile", "loading"
LONGEST_WAIT_S = 900.0
"""After this wait a process compiles by itself. A process that exits for any reason releases the lock."""
_LOOK_S = 0.1
_tell: list[Callable[[str], None]] = []


def listen(tell: Callable[[str], None]) -> None:
    """Report every phase of this process to this function only, from now on."""
    _tell[:] = [tell]


def enter(phase: str) -> None:
    """Report the phase that this process enters."""
    for tell in _tell:
        tell(phase)


@contextmanager
def turn(folder: str) -> Iterator[None]:
    """Exclude other processes with the same folder. In a folder without support for locks, all enter at once."""
    descriptor = None
    with suppress(OSError):
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - numba makes it by this call too
        descriptor = os.open(os.path.join(folder, "compiling.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)  # noqa: PTH118
    if descriptor is None:
        yield
        return
    try:
        _take(descriptor)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> None:
    """Wait for the lock, with a limit."""
    end, waits = time.monotonic() + LONGEST_WAIT_S, False
    while time.monotonic() < end:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            enter(WAITING)
            waits = True
            time.sleep(_LOOK_S)
        except OSError:
            break  # a file system without locks
        else:
            break
    if waits:
        enter(LOADING)
