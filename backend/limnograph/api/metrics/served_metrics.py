"""Labelled families of `/metrics`: reported commits per table, catalogs, recommendations, the server's address."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from limnograph.domain.ids import TableName
from limnograph.domain.metrics.gauges import (
    CATALOG_KNOWN,
    CATALOG_UP,
    PUBLIC_URL,
    RECOMMENDATIONS,
    REFUSED_COMMITS,
    REPORTED_ATTEMPTS,
    REPORTED_COMMITS,
)
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.services.events.reported_commits import CommitAttempts


class ServedMetrics:
    """`reported` and `catalogs` are called at each scrape; `url` is the base of links in alerts. `catalogs` returns
    when each catalog last responded (epoch microseconds; None: never), and whether it responded in the latest round.
    `plans`: number of recommended plans by rule.
    """

    def __init__(
        self,
        reported: Callable[[], Mapping[TableName, CommitAttempts]],
        url: str,
        catalogs: Callable[[], Mapping[str, tuple[int | None, bool]]] = dict,
        plans: Callable[[], Mapping[str, int]] = dict,
    ) -> None:
        self._reported, self._url, self._catalogs, self._plans = reported, url.rstrip("/"), catalogs, plans

    def collect(self) -> Iterator[Metric]:
        """All families."""
        commits = CounterMetricFamily(REPORTED_COMMITS.name, REPORTED_COMMITS.help, labels=REPORTED_COMMITS.labels)
        attempts = CounterMetricFamily(REPORTED_ATTEMPTS.name, REPORTED_ATTEMPTS.help, labels=REPORTED_ATTEMPTS.labels)
        refused = CounterMetricFamily(REFUSED_COMMITS.name, REFUSED_COMMITS.help, labels=REFUSED_COMMITS.labels)
        for name, counted in self._reported().items():
            if counted.commits:
                commits.add_metric(list(name), counted.commits)
                attempts.add_metric(list(name), counted.attempts)
            if counted.refused is not None:
                refused.add_metric(list(name), counted.refused)
        public = GaugeMetricFamily(PUBLIC_URL.name, PUBLIC_URL.help, labels=PUBLIC_URL.labels)
        public.add_metric([self._url], 1.0)
        up = GaugeMetricFamily(CATALOG_UP.name, CATALOG_UP.help, labels=CATALOG_UP.labels)
        known = GaugeMetricFamily(CATALOG_KNOWN.name, CATALOG_KNOWN.help, labels=CATALOG_KNOWN.labels)
        for catalog, (at, answered) in self._catalogs().items():
            up.add_metric([catalog], float(answered))
            if at is not None:
                known.add_metric([catalog], at / MICROS_PER_SECOND)
        plans = GaugeMetricFamily(RECOMMENDATIONS.name, RECOMMENDATIONS.help, labels=RECOMMENDATIONS.labels)
        for rule, count in self._plans().items():
            plans.add_metric([rule], count)
        yield from (commits, attempts, refused, public, up, known, plans)
