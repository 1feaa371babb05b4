"""How much a piece of work takes at its peak, by Python's own account of allocations: the memory of the process says
that only for a process that does nothing else, and nothing of what was given back before it is read.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager


class Peak:
    """`size`: bytes above what was taken before; known when the work is done."""

    size = 0


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Watches the work of a block, that of other threads included."""
    found, ours = Peak(), not tracemalloc.is_tracing()
    if ours:
        tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    try:
        yield found
    finally:
        found.size = tracemalloc.get_traced_memory()[1] - before
        if ours:
            tracemalloc.stop()
