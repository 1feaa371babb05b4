"""Alerts whose end was never received: if Alertmanager and Prometheus no longer have an alert, or no notification
arrives for a day, its state is unknown since it was last seen. Its record stays as received; one more notification
makes it fire again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.metrics.promql import Selector
from limnograph.domain.metrics.series import Matrix, RangeQuery
from limnograph.domain.time import EPOCH, MICROS_PER_SECOND, Micros, to_millis
from limnograph.ports.active_alerts import ActiveAlert, ActiveAlerts
from limnograph.ports.clock import Clock
from limnograph.services.alerts.registry import AlertRegistry, Key
from limnograph.services.sources.metrics import Metrics, page_budget

GRACE = 5 * 60 * MICROS_PER_SECOND
"""How long the sources must lack an alert before it counts: after a restart Prometheus has to evaluate its rules again,
and a webhook may arrive before the evaluation is written.
"""
QUIET = 25 * 3_600 * MICROS_PER_SECOND
"""For alerts without a source to query: Alertmanager repeats firing alerts every four hours, and few installations set
more than a day.
"""
WITHIN_S = 5.0


class _Sources(NamedTuple):
    """Alerts that the sources have now. None: a source was not queried or did not respond completely."""

    alertmanager: Sequence[ActiveAlert] | None
    prometheus: Sequence[Mapping[str, str]] | None
    all_answered: bool

    def have(self, fact: AlertFact) -> bool | None:
        """Whether the alert is active; None if unknown. Neither source knows Grafana's own rules."""
        if fact.source == "grafana":
            return None
        told = fact.labels or {}
        if any(one.fingerprint == fact.fingerprint for one in self.alertmanager or ()):
            return True
        if any(all(told.get(name) == value for name, value in one.items()) for one in self.prometheus or ()):
            return True
        return False if self.all_answered else None


class AlertStaleness:
    """Marks open episodes as stale. `check` is called periodically. Used on the event loop only.

    `metrics`, `active`: the configured sources to query
    `asks`: whether Alertmanager is queried at all
    `error`, `last_success`, `latency_s`: result of querying Alertmanager (epoch microseconds; seconds of the last
    successful query)
    """

    def __init__(
        self, alerts: AlertRegistry, clock: Clock, metrics: Metrics | None, active: ActiveAlerts | None
    ) -> None:
        self._alerts, self._clock, self._metrics, self._active = alerts, clock, metrics, active
        self._begun = clock.now()
        self.asks = active is not None
        self.error: LimnographError | None = None
        self.last_success: Micros | None = None
        self.latency_s: float | None = None
        self._seen: dict[Key, Micros] = {}

    async def check(self) -> None:
        """Compare open episodes with the alerts that the sources have. Costs nothing while none is open."""
        open_episodes = self._alerts.open_episodes()
        if not open_episodes:
            return
        found, now = await self._ask(), self._clock.now()
        doubts: dict[Key, Micros] = {}
        for key, fact, heard in open_episodes:
            there = found.have(fact)
            if there:
                self._seen[key] = now
            last = max(heard, self._seen.get(key, EPOCH))
            # Nothing could be received before this process started.
            silent = now - max(last, self._begun)
            if not there and silent > (QUIET if there is None else GRACE):
                doubts[key] = last
        self._seen = {key: at for key, at in self._seen.items() if any(key == one.key for one in open_episodes)}
        muted = {one.fingerprint: one.muted for one in found.alertmanager or () if one.muted}
        self._alerts.mark_stale(doubts, None if found.alertmanager is None else muted)

    async def _ask(self) -> _Sources:
        told, measured = await asyncio.gather(self._in_alertmanager(), self._in_prometheus())
        asked = [one for one, source in ((told, self._active), (measured, self._metrics)) if source is not None]
        return _Sources(told, measured, bool(asked) and all(one is not None for one in asked))

    async def _in_alertmanager(self) -> Sequence[ActiveAlert] | None:
        if self._active is None:
            return None
        started_s = time.perf_counter()
        try:
            found = await asyncio.to_thread(self._active.matching, {})
        except LimnographError as error:
            self.error = error
            return None
        self.error, self.last_success = None, self._clock.now()
        self.latency_s = time.perf_counter() - started_s
        return found

    async def _in_prometheus(self) -> Sequence[Mapping[str, str]] | None:
        """Labels of the firing alerts; None unless every source returned all of them."""
        if self._metrics is None:
            return None
        now = to_millis(self._clock.now())
        query = RangeQuery(str(Selector("ALERTS", {"alertstate": "firing"})), now, now, 60)
        with page_budget(WITHIN_S):
            answers = list((await self._metrics.each(query)).values())
        whole = [answer for answer in answers if isinstance(answer, Matrix) and not answer.truncated]
        if len(whole) < len(answers):
            return None
        named = [one.labels for answer in whole for one in answer.series]
        return [{k: v for k, v in labels.items() if k not in {"__name__", "alertstate"}} for labels in named]
