"""A few warm children of one process, handed to whoever asks. Nobody pays for what another table did to a child."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from limnograph.adapters.sandbox.child import Child
from limnograph.adapters.sandbox.messages import Access, Question
from limnograph.domain.errors import LimnographError, MetadataError

CHILDREN = 4
WARM_BYTES = 320 << 20
"""A child that holds more than this after an answer is not kept: the next table shall have its 512 MB."""
_OWN = {"parser_crashed", "memory_exceeded"}
"""Ends of a child that an earlier table may have prepared."""


class Pool:
    """At most `size` children at a time, for any number of threads. `command`: of the child; empty: our own."""

    def __init__(self, command: Sequence[str] = (), size: int = CHILDREN) -> None:
        self._command = tuple(command)
        self._free = threading.BoundedSemaphore(size)
        self.idle: list[Child] = []

    def ask(self, access: Access, question: Question, seconds: float) -> list[msgspec.Raw]:
        """As `Child.ask`. Time spent waiting for a free child, or for one to start, is not the table's."""
        with self._free:
            child = self.idle.pop() if self.idle else Child(self._command, access.cache_dir)
            fresh, started = child.served == 0, time.monotonic()
            try:
                return self._asked(child, access, question, seconds)
            except MetadataError as error:
                left = seconds - (time.monotonic() - started)
                if fresh or not child.spent or error.code not in _OWN or left < seconds / 2:
                    raise
                return self._asked(Child(self._command, access.cache_dir), access, question, left)

    def _asked(self, child: Child, access: Access, question: Question, seconds: float) -> list[msgspec.Raw]:
        try:
            return child.ask(access, question, seconds)
        except LimnographError:
            raise
        except BaseException:
            child.spent = True  # somebody interrupted us: its answer is still to come
            raise
        finally:
            if child.spent or child.resident_bytes() > WARM_BYTES:
                child.close()
            else:
                self.idle.append(child)

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
