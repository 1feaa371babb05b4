"""Threads for tests: works side by side, with an interpreter that switches between them as often as it can."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Work = Callable[[], object]


@contextmanager
def switching_often() -> Iterator[None]:
    """Threads are switched every microsecond instead of every five milliseconds."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def running(*works: Work, seconds: float = 0.0, rest: float = 0.0) -> Iterator[list[str]]:
    """Each again and again in a thread of its own, until the end of the block and for `seconds` at least; tracebacks of
    those that failed. `rest`: seconds between two turns of one.
    """
    ended, failed, least = threading.Event(), list[str](), time.monotonic() + seconds

    def work(one: Work) -> None:
        try:
            while not ended.is_set():
                one()
                time.sleep(rest)
        except BaseException:  # noqa: BLE001 - whatever it is, the test shows it
            failed.append(traceback.format_exc())

    threads = [threading.Thread(target=work, args=(one,), daemon=True) for one in works]
    for thread in threads:
        thread.start()
    try:
        yield failed
    finally:
        while time.monotonic() < least and not failed:
            time.sleep(0.02)
        ended.set()
        for thread in threads:
            thread.join(60)


@contextmanager
def at_once(*works: Work) -> Iterator[None]:
    """Each once in a thread of its own; all have ended after the block."""
    threads = [threading.Thread(target=one, daemon=True) for one in works]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(60)
