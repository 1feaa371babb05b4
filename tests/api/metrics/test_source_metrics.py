"""`/metrics` tells how each source was asked, how that went, and whether it is left alone."""

import asyncio
from functools import partial

from prometheus_client.parser import text_string_to_metric_families

from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.api.metrics.exposition import Exposition
from limnograph.api.metrics.source_metrics import SourceMetrics
from limnograph.domain.errors import SourceRejected, SourceTimeout, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import RangeQuery
from limnograph.domain.metrics.sources import ASKED, BREAKER, OUTCOMES
from limnograph.domain.time import TimeRange
from limnograph.services.sources.cold_reads import ColdEngine
from limnograph.wiring.server_metrics import queried_sources
from serving_kit import HOUR, NOW, FixedClock, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")
DAY = 24 * HOUR
_LABELS = ("le", "kind", "source", "outcome", "state")


class Patient(MemoryMetrics):
    """Waits until nobody does any more; `asked` once somebody has asked."""

    asked: asyncio.Event

    async def range(self, query: RangeQuery):
        self.asked.set()
        await asyncio.Event().wait()


def told(made) -> dict[tuple[str, ...], float]:
    """Samples of a page by name and label values."""
    page = Exposition(
        lambda: (1, []), lambda: None, collectors=[SourceMetrics(partial(queried_sources, made))]
    )().decode()
    return {
        (sample.name, *(sample.labels[label] for label in _LABELS if label in sample.labels)): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name.startswith("limnograph_source_")
    }


def page(made, hours: int) -> None:
    span = TimeRange.parse((NOW - hours * HOUR) // 1000, NOW // 1000, 3_600)
    asyncio.run(made.backend.timelines.answer(NAME, span, ("job_duration", "data_files"), None, None))


def engine() -> MemoryEngine:
    return lake([row(1, NOW - 5 * DAY, 7), row(2, NOW - HOUR, 8)], [moved(1, NOW - 5 * DAY), moved(2, NOW - HOUR)])


def test_queries_are_counted_by_source_and_outcome() -> None:
    source = MemoryMetrics("main", {})
    made = parts(engine(), source)
    assert not [key for key in told(made) if key[0].startswith(ASKED)]
    page(made, 6)
    found = told(made)
    assert found[f"{ASKED}_count", "prometheus", "main", "ok"] == 1
    assert (f"{ASKED}_count", "meta", "meta", "ok") not in found
    source.failure = SourceTimeout("main", "late")
    page(made, 6 * 24)
    source.failure = SourceRejected("main", "parse error")
    page(made, 6)
    found = told(made)
    assert found[f"{ASKED}_count", "prometheus", "main", "timeout"] == 1
    assert found[f"{ASKED}_count", "prometheus", "main", "rejected"] > 0
    assert found[f"{ASKED}_count", "meta", "meta", "ok"] == found[f"{ASKED}_bucket", "+Inf", "meta", "meta", "ok"] > 0
    assert {key[3] for key in found if key[0] == f"{ASKED}_count"} == {"ok", "timeout", "rejected"} < set(OUTCOMES)


def test_a_source_with_an_open_breaker_is_not_queried_and_the_breaker_is_exposed() -> None:
    source, first, second = MemoryMetrics("main", {}), engine(), engine()
    source.failure = first.failure = SourceUnavailable("any", "away")
    made = parts(second, source, cold=ColdEngine(first, second, FixedClock()))
    for _ in range(9):
        page(made, 6 * 24)
    found = told(made)
    assert found[BREAKER, "prometheus", "main", "open"] == found[BREAKER, "trino", first.name, "open"] == 1
    assert found[BREAKER, "prometheus", "main", "closed"] == 0
    assert found[f"{ASKED}_count", "prometheus", "main", "unavailable"] == 5
    assert found[f"{ASKED}_count", "trino", first.name, "unavailable"] == 3


def test_a_query_without_waiting_callers_is_cancelled_and_not_a_failure() -> None:
    async def run() -> None:
        source = Patient("main", {})
        source.asked = asyncio.Event()
        made = parts(engine(), source)
        asking = asyncio.create_task(made.jobs.of_table(NAME, NOW // 1000))
        await source.asked.wait()
        asking.cancel()
        await asyncio.wait({asking})
        for _ in range(100):  # turns of the loop: the question itself ends after who asked
            await asyncio.sleep(0)
        found = told(made)
        assert found[f"{ASKED}_count", "prometheus", "main", "cancelled"] == 1
        assert found[BREAKER, "prometheus", "main", "closed"] == 1

    asyncio.run(run())
