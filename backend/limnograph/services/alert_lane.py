"""The lane of alerts: a bar for each episode of the table that touches the range."""

from __future__ import annotations

from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_MS, TimeRange
from limnograph.domain.timeline import Bar, BarsLane
from limnograph.services.alerts import Alerts, Episode

MOST = 500
"""Bars of one answer; the newest ones."""


def draw(alerts: Alerts | None, name: TableName, span: TimeRange) -> BarsLane:
    """`absent` until anybody has told an alert at all."""
    if alerts is None or not alerts.version(None):
        return BarsLane(id="alerts", source="alertmanager", unit="alerts", status="absent", bars=[])
    found = [_bar(episode) for episode in alerts.episodes(name)]
    bars = [bar for bar in found if bar.start < span.end and (bar.end is None or bar.end > span.start)][:MOST]
    return BarsLane(id="alerts", source="alertmanager", unit="alerts", status="ok", bars=bars[::-1])


def _bar(episode: Episode) -> Bar:
    fact, end = episode.fact, episode.ends_at
    return Bar(
        start=fact.starts_at // MICROS_PER_MS,
        end=None if end is None else end // MICROS_PER_MS,
        label=fact.alert_name or fact.fingerprint,
        state="firing" if episode.firing else "resolved",
        detail=(fact.annotations or {}).get("summary"),
    )
