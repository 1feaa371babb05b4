"""A few warm children of one process, shared by its callers. No table pays for what another did to a child."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec

from limnograph.adapters.sandbox.child import ParserChild
from limnograph.adapters.sandbox.messages import Question, StorageAccess
from limnograph.adapters.sandbox.starting import nobody
from limnograph.domain.errors import LimnographError, MetadataError

CHILDREN = 4
GROW_S = 0.5
"""A question waits so long for a child that is busy before another one is started: a start costs more than that."""
WARM_BYTES = 320 << 20
"""A child that holds more than this after an answer is not kept: the next table shall have its 512 MB."""
_OWN = {"parser_crashed", "memory_exceeded"}
"""Ends of a child that an earlier table may have prepared."""


class Pool:
    """At most `size` children at a time, for any number of threads. `command`: of the child; empty: our own.

    One child starts at a time, and another one only when those that are there stay busy: many that start at once would
    each load, and at the very first start each compile, the same.
    """

    def __init__(self, command: Sequence[str] = (), size: int = CHILDREN) -> None:
        self._command = tuple(command)
        self._free = threading.BoundedSemaphore(size)
        self._changed = threading.Condition()
        self._busy, self._starts, self._started_at = 0, False, float("-inf")
        self._cpu = 0.0
        self.idle: list[ParserChild] = []

    def ask(
        self, access: StorageAccess, question: Question, seconds: float, starting: Callable[[str], None] = nobody
    ) -> list[msgspec.Raw]:
        """As `Child.ask`. Time spent waiting for a free child, or for one to start, is not the table's. `starting` is
        called with the phases of a slow start.
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
        """Processor time of its children so far, but for those that are busy."""
        with self._changed:
            return self._cpu + sum(child.cpu_seconds for child in self.idle)

    def _taken(self) -> ParserChild | None:
        """An idle child; None: start one, because no other thread does."""
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
        """A child that was announced in `_starts`."""
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
            child.spent = True  # somebody interrupted us: its answer is still to come
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
        """End the idle children."""
        while self.idle:
            self.idle.pop().close()


@lru_cache(maxsize=4)
def _pool(_pid: int, command: tuple[str, ...]) -> Pool:
    return Pool(command)


def shared_pool(command: Sequence[str] = ()) -> Pool:
    """The pool of this process; a forked process has its own."""
    return _pool(os.getpid(), tuple(command))
