"""What a child does to itself before it reads anything: limits that the kernel keeps, and an end with its parent."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from typing import BinaryIO

from limnograph.adapters.sandbox.limits import PATIENCE

ADDRESS_SPACE_BYTES = 3 << 29
"""1.5 GB: turns a decompression bomb into a MemoryError before the machine feels it."""
GRACE_SECONDS = 2.0
"""After its deadline a child ends by itself, should its parent have gone without killing it."""
LATE = signal.SIGPROF
"""What the kernel sends to a child that used so much processor time. Its default action ends the process, also inside
native code that never returns.
"""
_PR_SET_PDEATHSIG = 1


def confine() -> BinaryIO:
    """Set the limits; the stream for frames. Whatever else writes to standard output writes to standard error now."""
    _limit(resource.RLIMIT_AS, ADDRESS_SPACE_BYTES)
    _limit(resource.RLIMIT_CORE, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the group: the parent decides
    for number in (LATE, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    frames = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return frames


def end_after(seconds: float) -> None:
    """End this process after that many seconds of processor time and a grace; 0 calls it off. Where the kernel does not
    end it with its parent, a clock does so too, long after a parent would have.
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
        # Kernels other than Linux do not keep every limit; there the parent's look at the clock has to do.
        if sys.platform == "linux":
            raise
