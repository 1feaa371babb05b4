"""Families of executed maintenance on `/metrics`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.utils import floatToGoString

from limnograph.domain.metrics.maintenance import (
    BREAKER_OPEN,
    DURATION,
    PLANS,
    REWRITTEN,
    SECONDS,
    UNVERIFIED,
    MaintenanceNumbers,
)

_BOUNDS = [*map(floatToGoString, SECONDS), "+Inf"]


class MaintenanceMetrics:
    """`numbers` is called at each scrape; None: the server keeps no plans."""

    def __init__(self, numbers: Callable[[], MaintenanceNumbers | None]) -> None:
        self._numbers = numbers

    def collect(self) -> Iterator[Metric]:
        """All families."""
        found = self._numbers()
        if found is None:
            return
        plans = CounterMetricFamily(PLANS.name, PLANS.help, labels=PLANS.labels)
        for labels, count in found.plans.items():
            plans.add_metric(list(labels), count)
        durations = HistogramMetricFamily(DURATION.name, DURATION.help, labels=DURATION.labels)
        for action, each in found.durations.items():
            buckets = list(zip(_BOUNDS, accumulate(each.counts), strict=True))
            durations.add_metric([action], buckets, each.total_s)
        rewritten = CounterMetricFamily(REWRITTEN.name, REWRITTEN.help, labels=REWRITTEN.labels)
        for action, count in found.rewritten.items():
            rewritten.add_metric([action], count)
        breakers = GaugeMetricFamily(BREAKER_OPEN.name, BREAKER_OPEN.help, labels=BREAKER_OPEN.labels)
        for labels, count in found.breakers.items():
            breakers.add_metric(list(labels), count)
        yield from (
            plans,
            durations,
            rewritten,
            breakers,
            CounterMetricFamily(UNVERIFIED.name, UNVERIFIED.help, value=found.unverified),
        )
