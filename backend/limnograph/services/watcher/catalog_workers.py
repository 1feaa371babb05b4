"""The threads of one catalog, counted, and their progress in a first check. Called with the owner's lock."""

from __future__ import annotations

import time
from collections.abc import Callable

LEFT_BEHIND = 8
"""Hanging threads, for each that may work, after which no more are started until one comes back."""
PROGRESS_S = 5.0


class WorkerPool:
    """`workers`: threads of this generation; `busy`: those that ask the catalog; `left`: older ones, not yet back."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.generation = self.workers = self.busy = self.left = 0

    @property
    def has_room(self) -> bool:
        """Whether one more may work."""
        return self.workers < self._most

    @property
    def hangs(self) -> bool:
        """Whether so many were left behind that none is to be started."""
        return self.left >= LEFT_BEHIND * self._most

    def leave(self) -> None:
        """The next generation takes over from threads that hang."""
        self.generation += 1
        self.left += self.workers
        self.workers = self.busy = 0

    def ended(self, generation: int) -> None:
        """A thread of a generation is back."""
        if generation == self.generation:
            self.workers -= 1
        else:
            self.left -= 1


class FirstLook:
    """Progress of a first look at a catalog that takes a while."""

    def __init__(self, name: str, progress: Callable[[str], None]) -> None:
        self._name, self._progress, self._told_at = name, progress, float("-inf")

    def probed(self, tables: int, fresh: int) -> None:
        """One more table is known of so many, `fresh` of them not yet."""
        now = time.monotonic()
        if self._told_at == float("-inf"):
            self._told_at = now
        if fresh and now - self._told_at >= PROGRESS_S:
            self._told_at = now
            self._progress(f"catalog {self._name}: {tables - fresh} of {tables} tables probed")
