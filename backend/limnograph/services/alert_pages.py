"""Pages of alerts: the list, one incident with what stands around it, and where a link with labels leads."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, NamedTuple
from urllib.parse import quote, urlencode

from limnograph.domain.alert_labels import CATALOG, NAMESPACE, TABLE, fingerprint, named, tables
from limnograph.domain.alerts import (
    AlertsPage,
    AlertTable,
    AlertTarget,
    AlertTransition,
    AlertView,
    AlertWindow,
    Incident,
    State,
)
from limnograph.domain.answers import CommitRow, CommitsPage
from limnograph.domain.asked import CommitsQuery
from limnograph.domain.errors import LimnographError, NotFound, SourceError
from limnograph.domain.events import AlertFact
from limnograph.domain.ids import TableName
from limnograph.domain.promql import Selector
from limnograph.domain.time import MICROS_PER_MS, MICROS_PER_SECOND
from limnograph.ports.active_alerts import ActiveAlerts
from limnograph.ports.clock import Clock
from limnograph.services import cursors
from limnograph.services.alert_intake import HIDDEN, told_by_webhook
from limnograph.services.alert_links import expression, links, longest_range_s
from limnograph.services.alerts import Alerts, Episode
from limnograph.services.metrics import Metrics
from limnograph.services.told import Taken

LEAST_BEFORE = 3_600 * MICROS_PER_SECOND
"""The window begins at least so long before the expression became true."""
AFTER = 30 * 60 * MICROS_PER_SECOND
LONGEST_PENDING = 7 * 86_400 * MICROS_PER_SECOND
ASK_S = 2.0
COMMITS, BEFORE = 50, 20
_ALIASES = {*CATALOG, *NAMESPACE, *TABLE}
Commits = Callable[[CommitsQuery], Awaitable[CommitsPage]]


class AlertsQuery(NamedTuple):
    """A page of alerts. `table`: `catalog.namespace.table` or a part of it, `text`: part of name or labels."""

    state: State | None = None
    text: str = ""
    namespace: str = ""
    cursor: str | None = None
    limit: int = 100


class AlertQuestion(NamedTuple):
    """A link: its labels, and what it says beside them. `starts_at` epoch microseconds."""

    labels: Mapping[str, str]
    fingerprint: str | None = None
    starts_at: int | None = None


class _Active(NamedTuple):
    source: Literal["prometheus", "alertmanager"]
    state: Literal["pending", "firing"]
    fingerprint: str
    labels: Mapping[str, str]
    since: int | None


class AlertPages:
    """`known`: names of the tables that are known now; `commits`: the lists of commits."""

    def __init__(
        self,
        alerts: Alerts,
        known: Callable[[], Sequence[TableName]],
        commits: Commits,
        clock: Clock,
        *,
        metrics: Metrics | None = None,
        active: ActiveAlerts | None = None,
        alertmanager: str | None = None,
    ) -> None:
        self._alerts, self._known, self._commits, self._clock = alerts, known, commits, clock
        self._metrics, self._active, self._alertmanager = metrics, active, alertmanager

    async def take(self, body: bytes) -> Taken:
        """Alerts of a webhook, durable when it returns. Raises InvalidInput, SourceError."""
        told = told_by_webhook(body, self._known, self._clock.now(), self._alerts.open_since)
        facts = {(fact.fingerprint, fact.starts_at, fact.status): fact for fact in reversed(told)}
        new = await self._alerts.accept(list(facts.values())) if facts else 0
        return Taken(new, len(told) - new)

    def page(self, query: AlertsQuery) -> AlertsPage:
        """Firing ones first, then newest first. Raises InvalidInput (cursor)."""
        found = [episode for episode in self._alerts.episodes() if _asked_for(episode.fact, query)]
        firing = sum(episode.firing for episode in found)
        chosen = [e for e in found if query.state is None or e.firing == (query.state == "firing")]
        chosen.sort(key=_place)
        question = ("alerts", query.state, query.text, query.namespace)
        if query.cursor:
            at = tuple(cursors.decode(question, query.cursor, (int, int, str)))
            chosen = [episode for episode in chosen if _place(episode) > at]
        rows, rest = chosen[: query.limit], chosen[query.limit :]
        cursor = cursors.encode(question, list(_place(rows[-1]))) if rest else None
        return AlertsPage(
            rows=[view(episode) for episode in rows], firing=firing, resolved=len(found) - firing, next_cursor=cursor
        )

    async def incident(self, mark: str, starts_at: int | None) -> Incident:
        """`starts_at` epoch microseconds; the newest episode without it. Raises NotFound, SourceError."""
        found = await self._alerts.of_fingerprint(mark)
        episode = _nearest(found, starts_at)
        if episode is None:
            raise NotFound(f"no alert {mark} was told here")
        fact = episode.fact
        since = await self._since(fact)
        window = _window(since or fact.starts_at, fact.starts_at, episode, expression(fact.generator_url))
        annotations = {k: v for k, v in (fact.annotations or {}).items() if k not in HIDDEN.values()}
        return Incident(
            alert=view(episode),
            active_at=None if since is None else since // MICROS_PER_MS,
            window=window,
            labels=fact.labels or {},
            annotations=annotations,
            expression=expression(fact.generator_url),
            transitions=[_transition(told) for told in _in_order(episode)],
            commits=await self._nearby(fact, window),
            before=[view(one) for one in found if one.fact.starts_at < fact.starts_at][:BEFORE],
            links=links(fact, self._alertmanager),
        )

    async def target(self, question: AlertQuestion) -> AlertTarget:
        """Our own record, else Prometheus, else Alertmanager, else what the link itself says."""
        meant = tables(question.labels, self._known())
        told = self._of_record(question, self._alerts.episodes(), meant)
        if not told:
            with contextlib.suppress(SourceError):
                told = self._of_record(question, await self._alerts.older(), meant)
        if told:
            return self._from_record(question, told)
        active = await self._asked(question)
        if active is not None:
            meant = tables(active.labels, self._known()) or meant
        return self._from_link(question, active, meant)

    def _of_record(
        self, question: AlertQuestion, episodes: Sequence[Episode], meant: Sequence[TableName]
    ) -> list[Episode]:
        """Episodes that fit the link, newest first."""
        if question.fingerprint:
            return [one for one in episodes if one.fact.fingerprint == question.fingerprint]
        if not question.labels:
            return []
        return [one for one in episodes if _fits(one.fact, question.labels, meant)]

    def _from_record(self, question: AlertQuestion, told: Sequence[Episode]) -> AlertTarget:
        about = {(one.fact.catalog, one.fact.namespace, one.fact.table) for one in told}
        one = _nearest(sorted(told, key=_place), question.starts_at)
        if one is None or len(about) > 1:
            now = self._clock.now()
            refs = [AlertTable(catalog=c, table_namespace=n, table=t) for c, n, t in sorted(about, key=str)]
            return _target(question, "record", refs, window=_open(now))
        fact = one.fact
        path = f"/alerts/{quote(fact.fingerprint, safe='')}?starts_at={fact.starts_at // MICROS_PER_MS}"
        return AlertTarget(
            path=path,
            source="record",
            state="firing" if one.firing else "resolved",
            fingerprint=fact.fingerprint,
            active_at=None,
            window=_window(fact.starts_at, fact.starts_at, one, expression(fact.generator_url)),
            labels=fact.labels or {},
            tables=_refs(fact),
        )

    def _from_link(self, question: AlertQuestion, active: _Active | None, meant: Sequence[TableName]) -> AlertTarget:
        """No record: the table's page at that time when there is one table, else somebody has to choose."""
        since = (active.since if active else None) or question.starts_at
        window = _open(since if since is not None else self._clock.now(), live=since is not None)
        refs = [AlertTable(catalog=n.catalog, table_namespace=n.namespace, table=n.table) for n in meant]
        found = _target(question, active.source if active else "url", refs, window=window)
        known = set(self._known())
        path = None
        if len(meant) == 1 and meant[0] in known:
            segments = (meant[0].catalog, meant[0].namespace, meant[0].table)
            path = "/t/" + "/".join(quote(part.replace("/", "~s"), safe="") for part in segments)
            span = {"from": window.start, **({} if window.end is None else {"to": window.end})}
            path += "?" + urlencode(span)
        return AlertTarget(
            path=path,
            source=found.source,
            state=active.state if active else "unknown",
            fingerprint=active.fingerprint if active else None,
            active_at=None if active is None or active.since is None else active.since // MICROS_PER_MS,
            window=window,
            labels=dict(active.labels) if active else dict(question.labels),
            tables=refs,
        )

    async def _asked(self, question: AlertQuestion) -> _Active | None:
        """Whether Prometheus, else Alertmanager, has an alert with these labels now; one that fails says nothing."""
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
        now = self._clock.now() // MICROS_PER_MS
        found = (await self._metrics.instant(str(Selector("ALERTS", labels)), now)).series
        if not found:
            return None
        series = min(found, key=lambda one: one.labels.get("alertstate") != "firing")
        own = {k: v for k, v in series.labels.items() if k not in {"__name__", "alertstate"}}
        since = (await self._metrics.instant(str(Selector("ALERTS_FOR_STATE", own)), now)).series
        at = round(since[0].values[-1] * MICROS_PER_SECOND) if since else None
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

    async def _since(self, fact: AlertFact) -> int | None:
        """When the expression became true, as Prometheus has it; None where it does not say."""
        if self._metrics is None or not fact.alert_name:
            return None
        own = {k: v for k, v in (fact.labels or {}).items() if k == "alertname" or k in _ALIASES}
        with contextlib.suppress(LimnographError, TimeoutError, ValueError):
            async with asyncio.timeout(ASK_S):
                text = str(Selector("ALERTS_FOR_STATE", own))
                found = (await self._metrics.instant(text, fact.starts_at // MICROS_PER_MS)).series
            times = [round(one.values[-1] * MICROS_PER_SECOND) for one in found]
            fitting = [at for at in times if fact.starts_at - LONGEST_PENDING < at <= fact.starts_at + 60_000_000]
            return min(max(fitting), fact.starts_at) if fitting else None
        return None

    async def _nearby(self, fact: AlertFact, window: AlertWindow) -> list[CommitRow]:
        """Commits of the alert's table within the window; none where that is not known, or cannot be read now."""
        if not (fact.catalog and fact.namespace and fact.table):
            return []
        end = min(window.end or fact.starts_at // MICROS_PER_MS + 1_800_000, self._clock.now() // MICROS_PER_MS + 1)
        name = TableName(fact.catalog, fact.namespace, fact.table)
        query = CommitsQuery(start=window.start, end=max(end, window.start + 1), table=name, limit=COMMITS)
        try:
            return (await self._commits(query)).rows
        except (NotFound, SourceError):
            return []


def view(episode: Episode) -> AlertView:
    """An episode on the wire."""
    fact, end = episode.fact, episode.ends_at
    told = fact.annotations or {}
    return AlertView(
        fingerprint=fact.fingerprint,
        starts_at=fact.starts_at // MICROS_PER_MS,
        ends_at=None if end is None else end // MICROS_PER_MS,
        state="firing" if episode.firing else "resolved",
        alert_name=fact.alert_name,
        severity=fact.severity,
        table=next(iter(_refs(fact)), None),
        job_name=fact.job_name,
        summary=told.get("summary") or told.get("message") or told.get("description"),
        source=fact.source,
    )


def _refs(fact: AlertFact) -> list[AlertTable]:
    if fact.table is None:
        return []
    return [AlertTable(catalog=fact.catalog, table_namespace=fact.namespace, table=fact.table)]


def _place(episode: Episode) -> tuple[int, int, str]:
    return int(not episode.firing), -episode.fact.starts_at, episode.fact.fingerprint


def _asked_for(fact: AlertFact, query: AlertsQuery) -> bool:
    where = f"{fact.catalog or ''}.{fact.namespace or ''}"
    if query.namespace and query.namespace not in {where, fact.namespace}:
        return False
    text = " ".join([fact.alert_name or "", f"{where}.{fact.table or ''}", *(fact.labels or {}).values()])
    return query.text.lower() in text.lower()


def _nearest(newest_first: Sequence[Episode], starts_at: int | None) -> Episode | None:
    """The episode that begins at an instant, else the last one that began before it, else the first."""
    if starts_at is not None:
        begun = [one for one in newest_first if one.fact.starts_at <= starts_at + MICROS_PER_SECOND]
        return max(begun or newest_first, key=lambda one: one.fact.starts_at, default=None)
    return newest_first[0] if newest_first else None


def _fits(fact: AlertFact, labels: Mapping[str, str], meant: Sequence[TableName]) -> bool:
    own = fact.labels or {}
    if any(own.get(name) != value for name, value in labels.items() if name not in _ALIASES):
        return False
    if meant:
        return (fact.catalog, fact.namespace, fact.table) in {tuple(name) for name in meant}
    said = named(labels)
    return said.table is None or (said.table == fact.table and said.namespace in {None, fact.namespace})


def _window(since: int, fired: int, episode: Episode, asked: str | None) -> AlertWindow:
    before = max(LEAST_BEFORE, 4 * (fired - since), round(longest_range_s(asked) * MICROS_PER_SECOND))
    end = episode.ends_at
    return AlertWindow(
        start=max(0, since - before) // MICROS_PER_MS, end=None if end is None else (end + AFTER) // MICROS_PER_MS
    )


def _open(since: int, *, live: bool = True) -> AlertWindow:
    end = None if live else since // MICROS_PER_MS
    return AlertWindow(start=max(0, since - LEAST_BEFORE) // MICROS_PER_MS, end=end)


def _in_order(episode: Episode) -> list[AlertFact]:
    return [episode.told[status] for status in ("firing", "resolved") if status in episode.told]


def _transition(fact: AlertFact) -> AlertTransition:
    at = fact.starts_at if fact.status == "firing" else fact.ends_at
    seen = fact.observed_at
    return AlertTransition(
        status="firing" if fact.status == "firing" else "resolved",
        at=None if at is None else at // MICROS_PER_MS,
        observed_at=None if seen is None else seen // MICROS_PER_MS,
    )


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
    )
