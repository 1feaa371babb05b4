"""One incident: an alert episode with its window, the commits of its table in that window, and its links."""

from __future__ import annotations

import asyncio
import contextlib

from limnograph.domain.answers.alerts import AlertWindow, Incident
from limnograph.domain.answers.commits import CommitRow
from limnograph.domain.answers.findings import EarlierEvent
from limnograph.domain.errors import LimnographError, NotFound, SourceError
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.alert_labels import TABLE_LABELS
from limnograph.domain.metrics.promql import Selector
from limnograph.domain.queries import CommitsQuery
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.services.alerts.context import AlertContext
from limnograph.services.alerts.episode import AlertEpisode
from limnograph.services.alerts.intake import HIDDEN
from limnograph.services.alerts.interval import interval_of
from limnograph.services.alerts.links import expression, links
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.alerts.views import nearest, transition, view, window_of
from limnograph.services.notes.targets import TargetKey, target_key
from limnograph.services.sources.metrics import Metrics

LONGEST_PENDING = 7 * 86_400 * MICROS_PER_SECOND
ASK_S = 2.0
COMMITS, BEFORE = 50, 20


class Incidents:
    """`alertmanager`: its public address in the settings. Immutable after construction."""

    def __init__(
        self,
        alerts: AlertRegistry,
        context: AlertContext,
        clock: Clock,
        metrics: Metrics | None,
        alertmanager: str | None,
    ) -> None:
        self._alerts, self._context, self._clock = alerts, context, clock
        self._metrics, self._alertmanager = metrics, alertmanager

    async def of(self, fingerprint: str, starts_at: Micros | None) -> Incident:
        """The episode that fired at `starts_at` (epoch microseconds), else the closest one; without a time the newest.
        Raises NotFound, SourceError.
        """
        found = await self._alerts.of_fingerprint(fingerprint)
        episode = nearest(found, starts_at)
        if episode is None:
            raise NotFound(f"no alert {fingerprint} was received")
        fact = episode.fact
        since = await self._since(fact)
        window = window_of(since or fact.starts_at, fact.starts_at, episode, expression(fact.generator_url))
        annotations = {k: v for k, v in (fact.annotations or {}).items() if k not in HIDDEN.values()}
        return Incident(
            alert=view(episode),
            finding=self._context.finding_of(fact, interval_of(episode)),
            active_at=to_millis(since),
            window=window,
            labels=fact.labels or {},
            annotations=annotations,
            expression=expression(fact.generator_url),
            transitions=[transition(told) for told in _in_order(episode)],
            commits=await self._nearby(fact, window),
            before=[view(one) for one in found if one.fact.starts_at < fact.starts_at][:BEFORE],
            earlier=self._earlier(fact),
            notes=self._context.notes.count(alert_key(fact)),
            links=links(fact, self._alertmanager),
        )

    def _earlier(self, fact: AlertFact) -> list[EarlierEvent]:
        """What happened before on the alert's table; nothing if the table is unknown."""
        if not (fact.catalog and fact.namespace and fact.table):
            return []
        return self._context.earlier(TableName(fact.catalog, fact.namespace, fact.table), fact.starts_at)

    async def _since(self, fact: AlertFact) -> Micros | None:
        """When the expression became true according to Prometheus; None if it does not report it."""
        if self._metrics is None or not fact.alert_name:
            return None
        own = {k: v for k, v in (fact.labels or {}).items() if k == "alertname" or k in TABLE_LABELS}
        with contextlib.suppress(LimnographError, TimeoutError, ValueError):
            async with asyncio.timeout(ASK_S):
                text = str(Selector("ALERTS_FOR_STATE", own))
                found = (await self._metrics.instant(text, to_millis(fact.starts_at))).series
            times = [Micros(round(one.values[-1] * MICROS_PER_SECOND)) for one in found]
            fitting = [at for at in times if fact.starts_at - LONGEST_PENDING < at <= fact.starts_at + 60_000_000]
            return min(max(fitting), fact.starts_at) if fitting else None
        return None

    async def _nearby(self, fact: AlertFact, window: AlertWindow) -> list[CommitRow]:
        """Commits of the alert's table within the window; none if the table is unknown or cannot be read now."""
        if not (fact.catalog and fact.namespace and fact.table):
            return []
        end = min(window.end or to_millis(fact.starts_at) + 1_800_000, to_millis(self._clock.now()) + 1)
        name = TableName(fact.catalog, fact.namespace, fact.table)
        query = CommitsQuery(start=window.start, end=max(end, window.start + 1), table=name, limit=COMMITS)
        try:
            return (await self._context.commits(query)).rows
        except (NotFound, SourceError):
            return []


def alert_key(fact: AlertFact) -> TargetKey:
    """The key of notes on an episode."""
    return target_key("alert", "", fact.fingerprint, fact.starts_at, None)


def _in_order(episode: AlertEpisode) -> list[AlertFact]:
    return [episode.told[status] for status in ("firing", "resolved") if status in episode.told]
