"""A few warm child processes shared by all callers. A child that one table damaged is never used for another."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec

from limnograph.adapters.sandbox.child import ParserChild
from limnograph.adapters.sandbox.messages import Question, StorageAccess
from limnograph.adapters.sandbox.starting import ignore_progress
from limnograph.domain.errors import LimnographError, MetadataError

CHILDREN = 4
GROW_S = 0.5
"""How long a request waits for a busy child before another is started, which takes longer than that."""
WARM_BYTES = 320 << 20
"""A child above this size after a response is not kept: the next table must have its 512 MB."""
_OWN = {"parser_crashed", "memory_exceeded"}
"""Failures of a child that an earlier table may have caused."""


class Pool:
    """At most `size` children at a time, for any number of threads. `command`: of the child; empty: the default.

    Children start one at a time, and only if the existing ones stay busy: starting many at once would make each load,
    and at the very first start compile, the same.
    """

    def __init__(self, command: Sequence[str] = (), size: int = CHILDREN) -> None:
        self._command = tuple(command)
        self._free = threading.BoundedSemaphore(size)
        self._changed = threading.Condition()
        self._busy, self._starts, self._started_at = 0, False, float("-inf")
        self._cpu = 0.0
        self.idle: list[ParserChild] = []

    def ask(
        self,
        access: StorageAccess,
        question: Question,
        seconds: float,
        starting: Callable[[str], None] = ignore_progress,
    ) -> list[msgspec.Raw]:
        """The same as `ParserChild.ask`. Time spent waiting for a free child, or for one to start, does not count
        towards the limit. `starting` is called with the phases of a slow start.
        """
        with self._free:
            child = self._taken() or self._new(access, starting)
            fresh = child.served == 0
            try:
                return self._asked(child, access, question, seconds)
            except MetadataError as error:
                left = seconds - child.own_seconds
                if fresh or not child.spent or error.code not in _OWN or left < seconds / 2:
                    raise
                with self._changed:
                    self._changed.wait_for(lambda: not self._starts)
                    self._starts = True
                return self._asked(self._new(access, starting), access, question, left)

    @property
    def cpu_seconds(self) -> float:
        """Total processor time of its children, except busy ones."""
        with self._changed:
            return self._cpu + sum(child.cpu_seconds for child in self.idle)

    def _taken(self) -> ParserChild | None:
        """An idle child; None: the caller starts one, because no other thread does."""
        with self._changed:
            asked = time.monotonic()
            while not self.idle and (
                self._starts or (self._busy and time.monotonic() < max(asked, self._started_at) + GROW_S)
            ):
                self._changed.wait(GROW_S)
            if self.idle:
                self._busy += 1
                return self.idle.pop()
            self._starts = True
            return None

    def _new(self, access: StorageAccess, starting: Callable[[str], None]) -> ParserChild:
        """Start a child that is already counted in `_starts`."""
        try:
            child = ParserChild(self._command, access.cache_dir, starting)
        except BaseException:
            self._ended_start(0)
            raise
        self._ended_start(1)
        return child

    def _ended_start(self, born: int) -> None:
        with self._changed:
            self._starts, self._started_at = False, time.monotonic()
            self._busy += born
            self._changed.notify_all()

    def _asked(
        self, child: ParserChild, access: StorageAccess, question: Question, seconds: float
    ) -> list[msgspec.Raw]:
        try:
            return child.ask(access, question, seconds)
        except LimnographError:
            raise
        except BaseException:
            child.spent = True  # interrupted: its response is still to come
            raise
        finally:
            kept = not child.spent and child.resident_bytes() <= WARM_BYTES
            if not kept:
                child.close()
            with self._changed:
                self._busy -= 1
                if kept:
                    self.idle.append(child)
                else:
                    self._cpu += child.cpu_seconds
                self._changed.notify_all()

    def close(self) -> None:
        """Close the idle children."""
        with self._changed:
            idle, self.idle = self.idle, []
            self._cpu += sum(child.cpu_seconds for child in idle)
        for child in idle:
            child.close()


@lru_cache(maxsize=4)
def _pool(_pid: int, command: tuple[str, ...]) -> Pool:
    return Pool(command)


def shared_pool(command: Sequence[str] = ()) -> Pool:
    """The pool of this process; a forked process gets a separate one."""
    return _pool(os.getpid(), tuple(command))
