"""The checks of `limnograph doctor` for queries of `[[jobs]]`: sends each once, so that a typo does not end up as an
empty lane.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import partial

from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.errors import SourceRejected
from limnograph.domain.metrics.series import RangeQuery
from limnograph.domain.time import to_millis
from limnograph.services.server.doctor import Check, CheckResult
from limnograph.services.sources.metrics import Metrics
from limnograph.settings import JobSettings, Settings
from limnograph.wiring.cold import metrics_sources

QUERIES = ("promql", "median", "load", "cpu", "spill", "executors", "memory", "slot_lag")


def checks(settings: Settings) -> Iterator[Check]:
    """One check for each job with queries of its own, if a Prometheus is configured."""
    for job in settings.jobs:
        queries = {name: promql for name in QUERIES if (promql := getattr(job, name))}
        if queries and settings.prometheus:
            remedy = f"correct the query in [[jobs]] of {job.name}"
            yield Check(f"queries of {job.name}", partial(_told, settings, job, queries), remedy, required=False)


def _told(settings: Settings, job: JobSettings, queries: Mapping[str, str]) -> CheckResult:
    return asyncio.run(_asked(settings, job, queries))


async def _asked(settings: Settings, job: JobSettings, queries: Mapping[str, str]) -> CheckResult:
    """Send the queries of a job. Raises SourceError; if a query is rejected, the error names it."""
    sources, clock = metrics_sources(settings), SystemClock()
    metrics, at_ms, found = Metrics(sources, clock), to_millis(clock.now()), []
    try:
        for name, promql in queries.items():
            try:
                matrix = await metrics.range(RangeQuery(promql, at_ms, at_ms, 60), job.prometheus or None)
            except SourceRejected as error:
                raise SourceRejected(error.source, f"{name}: {error.detail}") from error
            found.append(f"{name} {len(matrix.series) or 'no'} series")
    finally:
        for source in sources:
            await source.aclose()
    return CheckResult(", ".join(found))
