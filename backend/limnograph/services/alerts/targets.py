"""Resolves an alert link: our own record, else Prometheus, else Alertmanager, else the link itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple
from urllib.parse import quote, urlencode

from limnograph.domain.answers.alerts import AlertTable, AlertTarget, AlertWindow
from limnograph.domain.answers.findings import Finding
from limnograph.domain.errors import LimnographError, SourceError
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.alert_labels import TABLE_LABELS, fingerprint, named, tables
from limnograph.domain.metrics.promql import Selector
from limnograph.domain.page_paths import table_path
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis
from limnograph.ports.active_alerts import ActiveAlerts
from limnograph.ports.clock import Clock
from limnograph.services.alerts.context import AlertContext
from limnograph.services.alerts.episode import AlertEpisode
from limnograph.services.alerts.interval import interval_at
from limnograph.services.alerts.links import expression
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.alerts.views import fires_at, nearest, open_window, place, refs, table_of, window_of
from limnograph.services.sources.metrics import Metrics

ASK_S = 2.0


class AlertQuestion(NamedTuple):
    """A link: its labels and its other parameters. `starts_at` epoch microseconds."""

    labels: Mapping[str, str]
    fingerprint: str | None = None
    starts_at: Micros | None = None


class _Active(NamedTuple):
    source: Literal["prometheus", "alertmanager"]
    state: Literal["pending", "firing"]
    fingerprint: str
    labels: Mapping[str, str]
    since: Micros | None


class AlertTargets:
    """`metrics`, `active`: the sources to query without a record. Immutable after construction."""

    def __init__(
        self,
        alerts: AlertRegistry,
        context: AlertContext,
        clock: Clock,
        metrics: Metrics | None,
        active: ActiveAlerts | None,
    ) -> None:
        self._alerts, self._context, self._clock = alerts, context, clock
        self._metrics, self._active = metrics, active

    async def of(self, question: AlertQuestion) -> AlertTarget:
        """Our own record, else Prometheus, else Alertmanager, else the link itself."""
        meant = tables(question.labels, self._context.tables())
        told = self._of_record(question, self._alerts.episodes(), meant)
        if not told:
            with contextlib.suppress(SourceError):
                told = self._of_record(question, await self._alerts.older(), meant)
        if told:
            return self._from_record(question, told)
        active = await self._asked(question)
        if active is not None:
            meant = tables(active.labels, self._context.tables()) or meant
        return self._from_link(question, active, meant)

    def _of_record(
        self, question: AlertQuestion, episodes: Sequence[AlertEpisode], meant: Sequence[TableName]
    ) -> list[AlertEpisode]:
        """Episodes that match the link, newest first."""
        if question.fingerprint:
            return [one for one in episodes if one.fact.fingerprint == question.fingerprint]
        if not question.labels:
            return []
        return [one for one in episodes if _fits(one.fact, question.labels, meant)]

    def _from_record(self, question: AlertQuestion, told: Sequence[AlertEpisode]) -> AlertTarget:
        about = {(one.fact.catalog, one.fact.namespace, one.fact.table) for one in told}
        one = nearest(sorted(told, key=place), question.starts_at)
        if one is None or len(about) > 1:
            now = self._clock.now()
            about_tables = [table_of(*one) for one in sorted(about, key=str)]
            return _target(question, "record", about_tables, window=open_window(now))
        fact = one.fact
        at = question.starts_at
        # A time at which the alert did not fire stays in the path, so that the page says so.
        shown = fact.starts_at if at is None or fires_at(one, at) else at
        path = f"/alerts/{quote(fact.fingerprint, safe='')}?starts_at={to_millis(shown)}"
        return AlertTarget(
            path=path,
            source="record",
            state=one.state,
            fingerprint=fact.fingerprint,
            active_at=None,
            window=window_of(fact.starts_at, fact.starts_at, one, expression(fact.generator_url)),
            labels=fact.labels or {},
            tables=refs(fact),
            finding=None,
        )

    def _from_link(self, question: AlertQuestion, active: _Active | None, meant: Sequence[TableName]) -> AlertTarget:
        """Without a record: the table's page at that time if the link names one table, else the user chooses."""
        since = (active.since if active else None) or question.starts_at
        window = open_window(since if since is not None else self._clock.now(), live=since is not None)
        about_tables = [table_of(*name) for name in meant]
        found = _target(question, active.source if active else "url", about_tables, window=window)
        known = set(self._context.tables())
        path = None
        if len(meant) == 1 and meant[0] in known:
            span = {"from": window.start, **({} if window.end is None else {"to": window.end})}
            path = f"{table_path(meant[0])}?{urlencode(span)}"
        return AlertTarget(
            path=path,
            source=found.source,
            state=active.state if active else "unknown",
            fingerprint=active.fingerprint if active else None,
            active_at=None if active is None or active.since is None else to_millis(active.since),
            window=window,
            labels=dict(active.labels) if active else dict(question.labels),
            tables=about_tables,
            finding=self._finding(active, question, meant[0]) if len(meant) == 1 else None,
        )

    def _finding(self, active: _Active | None, question: AlertQuestion, table: TableName) -> Finding | None:
        labels = dict(active.labels if active else question.labels)
        onset = (active.since if active else None) or question.starts_at or self._clock.now()
        fact = AlertFact(
            fingerprint=active.fingerprint if active else "",
            starts_at=onset,
            status="firing",
            **table._asdict(),
            alert_name=labels.get("alertname"),
            job_name=labels.get("job_name"),
            labels=labels,
        )
        return self._context.finding_of(fact, interval_at(onset))

    async def _asked(self, question: AlertQuestion) -> _Active | None:
        """The alert with these labels in Prometheus, else in Alertmanager; a source that fails counts as no answer."""
        if "alertname" not in question.labels:
            return None
        for ask in (self._in_prometheus, self._in_alertmanager):
            with contextlib.suppress(LimnographError, TimeoutError, ValueError):
                async with asyncio.timeout(ASK_S):
                    found = await ask(question.labels)
                    if found is not None:
                        return found
        return None

    async def _in_prometheus(self, labels: Mapping[str, str]) -> _Active | None:
        if self._metrics is None:
            return None
        now = to_millis(self._clock.now())
        found = (await self._metrics.instant(str(Selector("ALERTS", labels)), now)).series
        if not found:
            return None
        series = min(found, key=lambda one: one.labels.get("alertstate") != "firing")
        own = {k: v for k, v in series.labels.items() if k not in {"__name__", "alertstate"}}
        since = (await self._metrics.instant(str(Selector("ALERTS_FOR_STATE", own)), now)).series
        at = Micros(round(since[0].values[-1] * MICROS_PER_SECOND)) if since else None
        state: Literal["pending", "firing"] = "pending" if series.labels.get("alertstate") == "pending" else "firing"
        return _Active("prometheus", state, fingerprint(own), own, at)

    async def _in_alertmanager(self, labels: Mapping[str, str]) -> _Active | None:
        if self._active is None:
            return None
        found = await asyncio.to_thread(self._active.matching, labels)
        if not found:
            return None
        one = max(found, key=lambda alert: alert.starts_at or 0)
        return _Active("alertmanager", "firing", one.fingerprint, one.labels, one.starts_at)


def _fits(fact: AlertFact, labels: Mapping[str, str], meant: Sequence[TableName]) -> bool:
    own = fact.labels or {}
    if any(own.get(name) != value for name, value in labels.items() if name not in TABLE_LABELS):
        return False
    if meant:
        return (fact.catalog, fact.namespace, fact.table) in {tuple(name) for name in meant}
    said = named(labels)
    return said.table is None or (said.table == fact.table and said.namespace in {None, fact.namespace})


def _target(
    question: AlertQuestion,
    source: Literal["record", "prometheus", "alertmanager", "url"],
    refs: list[AlertTable],
    *,
    window: AlertWindow,
) -> AlertTarget:
    return AlertTarget(
        path=None,
        source=source,
        state="unknown",
        fingerprint=None,
        active_at=None,
        window=window,
        labels=dict(question.labels),
        tables=refs,
        finding=None,
    )
