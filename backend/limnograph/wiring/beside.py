"""What runs beside the routes as long as the server does; a failure is in the log and in the status of its source."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from limnograph.domain.errors import LimnographError, SourceError
from limnograph.ports.clock import Clock
from limnograph.ports.inbox import KEEP, Inbox
from limnograph.services.alert_doubts import AlertDoubts
from limnograph.services.alerts import Alerts
from limnograph.services.cold import WITHIN_S
from limnograph.services.hot import HotStore
from limnograph.services.metrics import Metrics
from limnograph.services.runs import Runs

REFRESH_S = 2.0
ASK_S = 30.0
INBOX_S = 10.0
DOUBT_S = 30.0
_log = logging.getLogger("limnograph.server")


async def refresh(store: HotStore, runs: Runs) -> None:
    """Keep the hot index as new as the meta tables."""
    await asyncio.to_thread(_told, runs.restore)
    while True:
        await asyncio.to_thread(store.refresh)
        await asyncio.sleep(REFRESH_S)


async def first_alerts(alerts: Alerts, begun: Callable[[], None]) -> None:
    """Read the alerts that are known, beside the first read of the hot index. `begun`: it ended, or hangs; then the
    other pages need not wait for it.
    """
    reading = asyncio.ensure_future(asyncio.to_thread(_told, alerts.catch_up))
    await asyncio.wait([reading], timeout=WITHIN_S)
    begun()
    await reading


async def keep_inbox(inbox: Inbox, runs: Runs, alerts: Alerts, clock: Clock, count: Callable[[], None]) -> None:
    """Take in what other servers accepted; delete what was committed an hour ago, also with no pipeline."""
    while True:
        await asyncio.sleep(INBOX_S)
        await asyncio.to_thread(_told, runs.catch_up)
        await asyncio.to_thread(_told, alerts.catch_up)
        await asyncio.to_thread(count)
        await asyncio.to_thread(_told, lambda: inbox.purge(clock.now() - KEEP))


async def keep_doubting(doubts: AlertDoubts) -> None:
    """Look after alerts whose end nobody tells."""
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
