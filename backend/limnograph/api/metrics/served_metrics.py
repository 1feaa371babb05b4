"""Families of `/metrics` with labels: reported commits of each table, and where browsers find the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from limnograph.domain.gauges import PUBLIC_URL, REPORTED_ATTEMPTS, REPORTED_COMMITS
from limnograph.domain.ids import TableName
from limnograph.services.reported_commits import Attempted


class ServedMetrics:
    """`reported` is asked when it is scraped; `url` is what links in alerts begin with."""

    def __init__(self, reported: Callable[[], Mapping[TableName, Attempted]], url: str) -> None:
        self._reported, self._url = reported, url.rstrip("/")

    def collect(self) -> Iterator[Metric]:
        """All families."""
        commits = CounterMetricFamily(REPORTED_COMMITS.name, REPORTED_COMMITS.help, labels=REPORTED_COMMITS.labels)
        attempts = CounterMetricFamily(REPORTED_ATTEMPTS.name, REPORTED_ATTEMPTS.help, labels=REPORTED_ATTEMPTS.labels)
        for name, counted in self._reported().items():
            commits.add_metric(list(name), counted.commits)
            attempts.add_metric(list(name), counted.attempts)
        public = GaugeMetricFamily(PUBLIC_URL.name, PUBLIC_URL.help, labels=PUBLIC_URL.labels)
        public.add_metric([self._url], 1.0)
        yield from (commits, attempts, public)
