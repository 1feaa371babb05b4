"""Keeps a streaming query alive: starts a new one when it fails, as on a damaged checkpoint or a dead worker."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from limnograph.adapters.spark.failures import first_line

RESTARTS = 20
"""Maximum number of consecutive failures. With their pauses they span over 15 minutes, longer than an overloaded
machine needs to recover.
"""
LONGEST_PAUSE_S = 60.0
LOOK_S = 5.0
"""How often the state of a query is polled: each poll wakes the JVM."""
STEADY_S = 600.0
"""A query that ran this long resets the count of consecutive failures."""
_log = logging.getLogger("limnograph.stream")


class Query(Protocol):
    """A streaming query of PySpark."""

    @property
    def isActive(self) -> bool:  # noqa: N802 - Spark's name
        """Whether it is running."""
        ...

    def exception(self) -> Exception | None:
        """Why it ended."""
        ...


def supervise(
    start: Callable[[], Query],
    end: Callable[[Query], None],
    stop: threading.Event,
    progress: Callable[[str], None],
    pause: Callable[[float], object] | None = None,
) -> None:
    """Run queries one after another until `stop` is set; `end` ends the last one. After more than RESTARTS consecutive
    failures, the last exception propagates.
    """
    falls = 0
    while not stop.is_set():
        began = time.monotonic()
        failure = _one(start, end, stop)
        if failure is None:
            return
        falls = 1 if time.monotonic() - began >= STEADY_S else falls + 1
        if falls > RESTARTS:
            raise failure
        _log.error("the streaming query ended", exc_info=failure)
        reason = first_line(str(failure) or type(failure).__name__)
        progress(f"the streaming query ended, restarting with an empty checkpoint: {reason}")
        (pause or stop.wait)(min(2.0**falls, LONGEST_PAUSE_S))


def _one(start: Callable[[], Query], end: Callable[[Query], None], stop: threading.Event) -> Exception | None:
    """Why the query failed; None if it was stopped."""
    try:
        query = start()
    except Exception as error:  # noqa: BLE001 - Spark may raise anything; a failure that persists ends the loop
        return error
    while query.isActive and not stop.wait(LOOK_S):
        pass
    failure = None if query.isActive else query.exception()
    end(query)
    return failure
