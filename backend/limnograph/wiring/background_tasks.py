"""Tasks that run as long as the server does; a failure is in the log and in the status of its source."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

from limnograph.domain.errors import LimnographError, SourceError
from limnograph.domain.time import to_millis
from limnograph.ports.clock import Clock
from limnograph.ports.inbox import KEEP, Inbox
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.alerts.staleness import AlertStaleness
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.lake.store import HotStore
from limnograph.services.pipeline.pass_marks import InboxState
from limnograph.services.sources.cold_reads import WITHIN_S
from limnograph.services.sources.metrics import Metrics

REFRESH_S = 2.0
PROBE_SOURCES_S = 30.0
INBOX_S = 10.0
CHECK_ALERTS_S = 30.0
FIRST_TABLES_S = 0.2
"""How often the log task looks for the first tables."""
_log = logging.getLogger("limnograph.server")


async def keep_refreshing(store: HotStore, runs: RunRegistry) -> None:
    """Keep the hot index as new as the meta tables."""
    await asyncio.to_thread(_log_failure, runs.restore)
    while True:
        await asyncio.to_thread(store.refresh)
        await asyncio.sleep(REFRESH_S)


async def read_first_alerts(alerts: AlertRegistry, ended: Callable[[], None]) -> None:
    """Read the known alerts during the first read of the hot index. `ended` is called when the read ended, or hangs;
    then the other pages need not wait for it.
    """
    reading = asyncio.ensure_future(asyncio.to_thread(_log_failure, alerts.catch_up))
    await asyncio.wait([reading], timeout=WITHIN_S)
    ended()
    await reading


async def log_first_tables(store: HotStore, watcher_cpu_s: Callable[[], float]) -> None:
    """Log what it cost until there were tables to show: processor time is the same on an idle machine and on a starved
    one.
    """
    while not (tables := len(store.reading.lake.listed)):  # noqa: ASYNC110  # the store has no event
        await asyncio.sleep(FIRST_TABLES_S)
    own, watcher = time.process_time(), watcher_cpu_s()
    _log.info(
        "first tables: %d after %.1f CPU s (server %.1f, watcher and its parsers %.1f)",
        *(tables, own + watcher, own, watcher),
    )


async def keep_reading_inbox(
    inbox: Inbox,
    runs: RunRegistry,
    alerts: AlertRegistry,
    clock: Clock,
    count_commits: Callable[[], None],
    *,
    state: InboxState,
) -> None:
    """Read what other servers accepted; delete what was committed an hour ago, also with no pipeline; know what
    waits.
    """
    while True:
        await asyncio.to_thread(_log_failure, state.look)
        await asyncio.sleep(INBOX_S)
        await asyncio.to_thread(_log_failure, runs.catch_up)
        await asyncio.to_thread(_log_failure, alerts.catch_up)
        await asyncio.to_thread(count_commits)
        await asyncio.to_thread(_log_failure, lambda: inbox.purge(clock.now() - KEEP))


async def keep_checking_alerts(staleness: AlertStaleness) -> None:
    """Compare open alerts with their sources: an alert may end without a message."""
    while True:
        await asyncio.sleep(CHECK_ALERTS_S)
        with contextlib.suppress(LimnographError):
            await staleness.check()


async def keep_probing_sources(metrics: Metrics, clock: Clock) -> None:
    """Send every source of metrics a trivial query, so that the status knows whether it answers."""
    while True:
        with contextlib.suppress(SourceError):
            await metrics.instant("vector(1)", to_millis(clock.now()))
        await asyncio.sleep(PROBE_SOURCES_S)


def _log_failure(act: Callable[[], object]) -> None:
    try:
        act()
    except LimnographError as error:
        _log.warning("%s", error)
