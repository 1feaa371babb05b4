"""Pages of alerts: the list. Incidents and the resolution of links have their own modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from limnograph.domain import cursors
from limnograph.domain.answers.alerts import AlertsPage, AlertTarget, AlertWeek, Incident, State
from limnograph.domain.errors import NotFound
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros, to_millis
from limnograph.ports.active_alerts import ActiveAlerts
from limnograph.ports.clock import Clock
from limnograph.services.alerts.context import AlertContext
from limnograph.services.alerts.episode import AlertEpisode
from limnograph.services.alerts.incidents import Incidents
from limnograph.services.alerts.intake import parse_webhook
from limnograph.services.alerts.interval import interval_of
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.alerts.targets import AlertQuestion, AlertTargets
from limnograph.services.alerts.views import place, row, week
from limnograph.services.events.bodies import apart
from limnograph.services.events.received import Acknowledgement
from limnograph.services.notes.targets import NoteTarget
from limnograph.services.sources.metrics import Metrics


class AlertsQuery(NamedTuple):
    """A page of alerts. `table`: `catalog.namespace.table` or a part of it; `text`: a part of the name or labels."""

    state: State | None = None
    text: str = ""
    namespace: str = ""
    cursor: str | None = None
    limit: int = 100


class AlertPages:
    """Immutable after construction."""

    def __init__(
        self,
        alerts: AlertRegistry,
        context: AlertContext,
        clock: Clock,
        *,
        metrics: Metrics | None = None,
        active: ActiveAlerts | None = None,
        alertmanager: str | None = None,
    ) -> None:
        self._alerts, self._context, self._clock = alerts, context, clock
        self._incidents = Incidents(alerts, context, clock, metrics, alertmanager)
        self._targets = AlertTargets(alerts, context, clock, metrics, active)

    async def take(self, body: bytes) -> Acknowledgement:
        """Accept the alerts of a webhook; durable on return. Raises InvalidInput, SourceError."""
        told = await apart(
            len(body), parse_webhook, body, self._context.tables, self._clock.now(), self._alerts.open_since
        )
        facts = {(fact.fingerprint, fact.starts_at, fact.status): fact for fact in reversed(told)}
        new = await self._alerts.accept(list(facts.values())) if facts else 0
        return Acknowledgement(new, len(told) - new)

    def firing(self) -> int:
        """The number of alerts that fire."""
        return sum(episode.state == "firing" for episode in self._alerts.episodes())

    def page(self, query: AlertsQuery) -> AlertsPage:
        """Firing alerts first, then the newest. Raises InvalidInput (cursor)."""
        every = self._alerts.episodes()
        found = [episode for episode in every if _asked_for(episode.fact, query)]
        counts = Counter(episode.state for episode in found)
        chosen = [episode for episode in found if query.state in {None, episode.state}]
        chosen.sort(key=place)
        asked = cursors.CursorQuery(of="alerts", state=query.state, q=query.text or None, ns=query.namespace or None)
        if query.cursor:
            at = tuple(cursors.decode(asked, query.cursor, (int, int, str)))
            chosen = [episode for episode in chosen if place(episode) > at]
        rows, rest = chosen[: query.limit], chosen[query.limit :]
        cursor = cursors.encode(asked, list(place(rows[-1]))) if rest else None
        return AlertsPage(
            rows=[row(each, self._context.finding_of(each.fact, interval_of(each))) for each in rows],
            weeks=self._weeks(every, rows),
            firing=counts["firing"],
            resolved=counts["resolved"],
            unknown=counts["unknown"],
            next_cursor=cursor,
        )

    def _weeks(self, every: Sequence[AlertEpisode], rows: Sequence[AlertEpisode]) -> list[AlertWeek]:
        by_fingerprint: dict[str, list[AlertEpisode]] = {episode.fact.fingerprint: [] for episode in rows}
        for episode in every:
            if episode.fact.fingerprint in by_fingerprint:
                by_fingerprint[episode.fact.fingerprint].append(episode)
        return [week(fingerprint, episodes, self._clock.now()) for fingerprint, episodes in by_fingerprint.items()]

    async def incident(self, fingerprint: str, starts_at: Micros | None) -> Incident:
        """The episode that fired at `starts_at` (epoch microseconds), else the closest one; without a time the newest.
        Raises NotFound, SourceError.
        """
        return await self._incidents.of(fingerprint, starts_at)

    async def note_target(self, fingerprint: str, starts_at: Micros | None) -> NoteTarget:
        """An episode as the target of a note: the one that started in a millisecond, else the newest. Raises NotFound,
        SourceError.
        """
        found = await self._alerts.of_fingerprint(fingerprint)
        wanted = to_millis(starts_at)
        for episode in found:
            fact = episode.fact
            if wanted is None or to_millis(fact.starts_at) == wanted:
                name = TableName(fact.catalog or "", fact.namespace or "", fact.table) if fact.table else None
                return NoteTarget("alert", fingerprint, name=name, start=fact.starts_at)
        raise NotFound(
            f"no alert {fingerprint} was received" + ("" if wanted is None else f" that started at {wanted}")
        )

    async def target(self, question: AlertQuestion) -> AlertTarget:
        """The target of an alert link: our own record, else Prometheus, else Alertmanager, else the link itself."""
        return await self._targets.of(question)


def _asked_for(fact: AlertFact, query: AlertsQuery) -> bool:
    name = TableName(fact.catalog or "", fact.namespace or "", fact.table or "").plain
    where = f"{name.catalog}.{name.namespace}"
    if query.namespace and query.namespace not in {where, name.namespace}:
        return False
    text = " ".join([fact.alert_name or "", f"{where}.{name.table}", *(fact.labels or {}).values()])
    return query.text.lower() in text.lower()
