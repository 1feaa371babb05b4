"""The lane of alerts: a bar for each episode of the table that overlaps the range, and one for its pending time."""

from __future__ import annotations

import asyncio

from limnograph.domain.answers.lane_specs import head_of
from limnograph.domain.answers.timeline import Bar, BarsLane
from limnograph.domain.ids import TableName
from limnograph.domain.time import Millis, TimeRange, to_millis
from limnograph.services.alerts.episode import AlertEpisode
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.sources.metrics import Metrics
from limnograph.services.sources.page_metrics import PageMetrics
from limnograph.services.timeline.pending import waits

MOST = 500
"""Most bars of one response; the newest ones."""


async def draw(
    alerts: AlertRegistry | None,
    metrics: Metrics | None,
    name: TableName,
    span: TimeRange,
    now_ms: Millis,
    *,
    page: asyncio.Task[PageMetrics | None] | None = None,
) -> BarsLane:
    """`absent` until an alert was received or is pending. `page`: the queries of other lanes."""
    episodes = alerts.episodes(name) if alerts else []
    waiting = await waits(metrics, name, span, now_ms, [episode.fact for episode in episodes], page=page)
    known = waiting or (alerts is not None and alerts.version(None))
    bars = [_bar(episode) for episode in episodes]
    bars = [bar for bar in bars if bar.begins < span.end and (bar.end is None or bar.end > span.start)]
    bars = sorted([*bars, *waiting], key=lambda bar: bar.begins)[-MOST:]
    return BarsLane(**head_of("alerts"), status="ok" if known else "absent", bars=bars)


def _bar(episode: AlertEpisode) -> Bar:
    fact = episode.fact
    end = episode.known_to
    return Bar(
        start=to_millis(fact.starts_at),
        end=to_millis(end),
        label=fact.alert_name or fact.fingerprint,
        state=episode.state,
        detail=(fact.annotations or {}).get("summary"),
        severity=fact.severity,
    )
