"""Wire format of alert episodes: rows, their order, and the time window."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from limnograph.domain.answers.alerts import (
    AlertRow,
    AlertSpan,
    AlertTable,
    AlertTransition,
    AlertView,
    AlertWeek,
    AlertWindow,
)
from limnograph.domain.answers.findings import Finding
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, MICROS_PER_SECOND, Micros, to_millis
from limnograph.services.alerts.episode import AlertEpisode
from limnograph.services.alerts.interval import LEAST_BEFORE
from limnograph.services.alerts.links import longest_range_s

AFTER = 30 * 60 * MICROS_PER_SECOND
WEEK = 7 * 86_400 * MICROS_PER_SECOND
MOST_SPANS = 100


def view(episode: AlertEpisode) -> AlertView:
    """An episode in the wire format."""
    fact, end = episode.fact, episode.ends_at
    told = fact.annotations or {}
    return AlertView(
        fingerprint=fact.fingerprint,
        starts_at=to_millis(fact.starts_at),
        ends_at=to_millis(end),
        state=episode.state,
        heard_at=None if episode.state != "unknown" else to_millis(episode.doubted_at or EPOCH),
        muted=episode.muted,
        alert_name=fact.alert_name,
        severity=fact.severity,
        table=next(iter(refs(fact)), None),
        job_name=fact.job_name,
        summary=told.get("summary") or told.get("message") or told.get("description"),
        source=fact.source,
    )


def row(episode: AlertEpisode, finding: Finding | None) -> AlertRow:
    """An episode in the list."""
    return AlertRow(**msgspec.structs.asdict(view(episode)), finding=finding)


def week(fingerprint: str, episodes: Sequence[AlertEpisode], now: Micros) -> AlertWeek:
    """The episodes of one alert that overlap the last seven days."""
    spans = []
    for episode in sorted(episodes, key=lambda one: one.fact.starts_at):
        end = episode.known_to
        if end is None or end > now - WEEK:
            to = to_millis(end)
            spans.append(AlertSpan(start=to_millis(episode.fact.starts_at), end=to))
    return AlertWeek(fingerprint=fingerprint, spans=spans[-MOST_SPANS:])


def refs(fact: AlertFact) -> list[AlertTable]:
    """The table of an alert, as far as it is known."""
    if fact.table is None:
        return []
    return [table_of(fact.catalog, fact.namespace, fact.table)]


def table_of(catalog: str | None, namespace: str | None, table: str | None) -> AlertTable:
    """A table in the wire format, as far as it is known. A recorded name is escaped like a known name."""
    plain = TableName(catalog or "", namespace or "", table or "").plain
    return AlertTable(catalog=catalog, table_namespace=namespace and plain.namespace, table=table and plain.table)


def place(episode: AlertEpisode) -> tuple[int, int, str]:
    """The sort key of the list: firing episodes first, then the newest."""
    return int(not episode.firing), -episode.fact.starts_at, episode.fact.fingerprint


def nearest(newest_first: Sequence[AlertEpisode], at: Micros | None) -> AlertEpisode | None:
    """The episode that begins or fires at an instant, else the one closest to it; without an instant the newest."""
    if at is None:
        return newest_first[0] if newest_first else None
    return min(newest_first, key=lambda one: (_distance(one, at), abs(at - one.fact.starts_at)), default=None)


def fires_at(episode: AlertEpisode, at: Micros) -> bool:
    """Whether the alert fired at an instant, as far as known. Senders round its start to seconds."""
    return _distance(episode, at) <= MICROS_PER_SECOND


def _distance(episode: AlertEpisode, at: Micros) -> int:
    """Microseconds from an instant to the interval in which the alert fired; 0 inside."""
    start, end = episode.fact.starts_at, episode.known_to
    return max(start - at, 0, 0 if end is None else at - end)


def window_of(since: Micros, fired: Micros, episode: AlertEpisode, asked: str | None) -> AlertWindow:
    """The window of an episode whose expression `asked` became true at `since`."""
    before = max(LEAST_BEFORE, 4 * (fired - since), round(longest_range_s(asked) * MICROS_PER_SECOND))
    end = episode.ends_at
    return AlertWindow(start=to_millis(max(EPOCH, since - before)), end=None if end is None else to_millis(end + AFTER))


def open_window(since: Micros, *, live: bool = True) -> AlertWindow:
    """From an hour before an instant until the instant, or until now."""
    end = None if live else to_millis(since)
    return AlertWindow(start=to_millis(max(EPOCH, since - LEAST_BEFORE)), end=end)


def transition(fact: AlertFact) -> AlertTransition:
    """One received transition of an episode."""
    at = fact.starts_at if fact.status == "firing" else fact.ends_at
    seen = fact.observed_at
    return AlertTransition(
        status="firing" if fact.status == "firing" else "resolved",
        at=to_millis(at),
        observed_at=to_millis(seen),
    )
