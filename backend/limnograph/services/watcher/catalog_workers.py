"""The threads of one catalog, counted, and the progress of its first probes. Guarded by the lock of the catalog's
watch.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LEFT_BEHIND = 8
"""Hanging threads, per thread that may work, after which no more are started until one returns."""
PROGRESS_S = 5.0


class WorkerPool:
    """Counts threads; `most` may work at once. A generation ends when its threads hang and are left behind."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.generation = 0
        """The current generation."""
        self.workers = 0
        """Threads of this generation."""
        self.busy = 0
        """Those of them that are querying the catalog."""
        self.left = 0
        """Threads of older generations that have not returned."""

    @property
    def has_room(self) -> bool:
        """Whether another thread may work."""
        return self.workers < self._most

    @property
    def exhausted(self) -> bool:
        """Whether so many threads hang that no more may be started."""
        return self.left >= LEFT_BEHIND * self._most

    def leave_behind(self) -> None:
        """Start the next generation, which takes over from hanging threads."""
        self.generation += 1
        self.left += self.workers
        self.workers = self.busy = 0

    def ended(self, generation: int) -> None:
        """A thread of a generation ended."""
        if generation == self.generation:
            self.workers -= 1
        else:
            self.left -= 1


class ProbeProgress:
    """Reports the progress of a catalog's first probes if they take long."""

    def __init__(self, name: str, progress: Callable[[str], None]) -> None:
        self._name, self._progress = name, progress
        self._reported_at = float("-inf")

    def report(self, tables: int, unprobed: int) -> None:
        """Another table was probed: of `tables` in total, `unprobed` remain."""
        now = time.monotonic()
        if self._reported_at == float("-inf"):
            self._reported_at = now
        if unprobed and now - self._reported_at >= PROGRESS_S:
            self._reported_at = now
            self._progress(f"catalog {self._name}: {tables - unprobed} of {tables} tables probed")
