"""Keeps a streaming query alive: what ends one, a damaged checkpoint or a worker that died, begins the next."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from limnograph.adapters.spark.failures import first_line

RESTARTS = 20
"""Queries that may fail one after another, over 15 minutes (a starved machine): what lasts longer is no accident."""
LONGEST_PAUSE_S = 60.0
LOOK_S = 5.0
"""How often the state of a query is polled: each poll wakes the JVM."""
STEADY_S = 600.0
"""A query that lived so long, seconds, failed for a reason of its own."""
_log = logging.getLogger("limnograph.stream")


class Query(Protocol):
    """A streaming query, as PySpark has them."""

    @property
    def isActive(self) -> bool:  # noqa: N802 - Spark's name
        """Whether it runs."""
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
    """Queries one after another until `stop` is set; the last one is ended by `end`. Raises what a query failed with
    when RESTARTS of them in a row did.
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
    except Exception as error:  # noqa: BLE001 - Spark raises what it likes; the next start tells whether it lasts
        return error
    while query.isActive and not stop.wait(LOOK_S):
        pass
    failure = None if query.isActive else query.exception()
    end(query)
    return failure
