"""How a child process confines itself before it reads anything: kernel limits, and death together with its parent."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from typing import BinaryIO

from limnograph.adapters.sandbox.limits import PATIENCE

ADDRESS_SPACE_BYTES = 3 << 29
"""1.5 GB: turns a decompression bomb into a MemoryError before it affects the machine."""
GRACE_SECONDS = 2.0
"""Time after its deadline at which a child exits by itself if its parent is gone."""
LATE = signal.SIGPROF
"""The signal that the kernel sends when the processor time is used up. Its default action ends the process, even
inside native code that never returns.
"""
_PR_SET_PDEATHSIG = 1


def confine() -> BinaryIO:
    """Set the limits; returns the stream for frames. Other writes to standard output now go to standard error."""
    _limit(resource.RLIMIT_AS, ADDRESS_SPACE_BYTES)
    _limit(resource.RLIMIT_CORE, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the parent decides
    for number in (LATE, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    frames = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return frames


def end_after(seconds: float) -> None:
    """End this process after `seconds` of processor time plus a grace period; 0 cancels. Where the kernel cannot end it
    with its parent, a wall-clock timer does so too, long after a parent would have.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds + GRACE_SECONDS if seconds else 0)
    if sys.platform != "linux":
        signal.setitimer(signal.ITIMER_REAL, PATIENCE * (seconds + GRACE_SECONDS) if seconds else 0)


def _limit(kind: int, wanted: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(kind, (value, value))
    except (ValueError, OSError):
        # Kernels other than Linux do not support every limit; there the parent's own checks must suffice.
        if sys.platform == "linux":
            raise
