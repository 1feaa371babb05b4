"""What runs beside the routes as long as the server does; a failure is in the log and in the status of its source."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

from limnograph.domain.errors import LimnographError, SourceError
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
ASK_S = 30.0
INBOX_S = 10.0
DOUBT_S = 30.0
FIRST_LOOK_S = 0.2
_log = logging.getLogger("limnograph.server")


async def refresh(store: HotStore, runs: RunRegistry) -> None:
    """Keep the hot index as new as the meta tables."""
    await asyncio.to_thread(_told, runs.restore)
    while True:
        await asyncio.to_thread(store.refresh)
        await asyncio.sleep(REFRESH_S)


async def first_alerts(alerts: AlertRegistry, begun: Callable[[], None]) -> None:
    """Read the alerts that are known, beside the first read of the hot index. `begun`: it ended, or hangs; then the
    other pages need not wait for it.
    """
    reading = asyncio.ensure_future(asyncio.to_thread(_told, alerts.catch_up))
    await asyncio.wait([reading], timeout=WITHIN_S)
    begun()
    await reading


async def tell_first_tables(store: HotStore, watcher_cpu_s: Callable[[], float]) -> None:
    """Log what it cost until there were tables to show: processor time is the same on an idle machine and on a starved
    one.
    """
    while not (tables := len(store.reading.lake.listed)):  # noqa: ASYNC110  # the store has no event
        await asyncio.sleep(FIRST_LOOK_S)
    own, watcher = time.process_time(), watcher_cpu_s()
    _log.info(
        "first tables: %d after %.1f CPU s (server %.1f, watcher and its parsers %.1f)",
        *(tables, own + watcher, own, watcher),
    )


async def keep_inbox(
    inbox: Inbox,
    runs: RunRegistry,
    alerts: AlertRegistry,
    clock: Clock,
    count: Callable[[], None],
    *,
    state: InboxState,
) -> None:
    """Take in what other servers accepted; delete what was committed an hour ago, also with no pipeline; know what
    waits.
    """
    while True:
        await asyncio.to_thread(_told, state.look)
        await asyncio.sleep(INBOX_S)
        await asyncio.to_thread(_told, runs.catch_up)
        await asyncio.to_thread(_told, alerts.catch_up)
        await asyncio.to_thread(count)
        await asyncio.to_thread(_told, lambda: inbox.purge(clock.now() - KEEP))


async def keep_doubting(doubts: AlertStaleness) -> None:
    """Check alerts without a received end."""
    while True:
        await asyncio.sleep(DOUBT_S)
        with contextlib.suppress(LimnographError):
            await doubts.look()


async def keep_asking(metrics: Metrics, clock: Clock) -> None:
    """Ask the metrics source for nothing every half minute, so that status knows whether it answers."""
    while True:
        with contextlib.suppress(SourceError):
            await metrics.instant("vector(1)", clock.now() // 1000)
        await asyncio.sleep(ASK_S)


def _told(act: Callable[[], object]) -> None:
    try:
        act()
    except LimnographError as error:
        _log.warning("%s", error)
