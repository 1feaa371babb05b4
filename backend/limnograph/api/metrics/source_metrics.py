"""Metrics of queries to the sources and of their circuit breakers: a collector that reads them at each scrape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric

from limnograph.domain.metrics.gauges import SECONDS
from limnograph.domain.metrics.sources import ASKED, ASKED_HELP, ASKED_LABELS, BREAKER, BREAKER_HELP, BREAKER_LABELS
from limnograph.services.sources.breaker import STATES
from limnograph.services.sources.query_counts import CountedSource


class SourceMetrics:
    """`sources` returns the current sources."""

    def __init__(self, sources: Callable[[], Iterable[CountedSource]]) -> None:
        self._sources = sources

    def collect(self) -> Iterator[Metric]:
        """The histogram of queries, then the breakers."""
        asked = HistogramMetricFamily(ASKED, ASKED_HELP, labels=ASKED_LABELS)
        breakers = GaugeMetricFamily(BREAKER, BREAKER_HELP, labels=BREAKER_LABELS)
        for source in self._sources():
            for outcome, counted in source.counts.told().items():
                edges = [*map(str, SECONDS), "+Inf"]
                buckets = list(zip(edges, map(float, accumulate(counted.buckets)), strict=True))
                asked.add_metric([source.kind, source.name, outcome], buckets, counted.seconds)
            if source.breaker is not None:
                now = source.breaker.state
                for state in STATES:
                    breakers.add_metric([source.kind, source.name, state], float(state == now))
        yield asked
        yield breakers
