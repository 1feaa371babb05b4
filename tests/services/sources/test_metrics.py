"""Sources of metrics together: equal questions once, a page's time kept, a source that fails left alone."""

import asyncio

import pytest

from limnograph.domain.errors import SourceRejected, SourceTimeout, SourceUnavailable
from limnograph.domain.metrics.series import Matrix, RangeQuery, Series
from limnograph.services.sources.breaker import Breaker
from limnograph.services.sources.metrics import CoalescedSource, Metrics, page_budget
from serving_kit import FixedClock

QUERY = RangeQuery("up", 0, 60_000, 60)


class Slow:
    """Answers when told to; counts questions, and those that ended before."""

    def __init__(self, name: str = "main", *series: Series) -> None:
        self.name = name
        self.asked = self.ended = 0
        self.go = asyncio.Event()
        self.failure: Exception | None = None
        self._matrix = Matrix(list(series))

    async def range(self, query: RangeQuery) -> Matrix:
        self.asked += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.ended += 1
            raise
        if self.failure:
            raise self.failure
        return self._matrix

    async def aclose(self) -> None:
        pass


def one(name: str) -> Series:
    return Series({"from": name}, [0], [1.0])


def ready(name: str, *series: Series, failure: Exception | None = None) -> Slow:
    source = Slow(name, *series)
    source.failure = failure
    source.go.set()
    return source


def test_fifty_equal_requests_cause_one_query() -> None:
    async def run() -> None:
        source = Slow("main", one("main"))
        metrics = Metrics(source, FixedClock())
        asking = [asyncio.create_task(metrics.range(QUERY)) for _ in range(50)]
        await asyncio.sleep(0.01)
        source.go.set()
        answers = await asyncio.gather(*asking)
        assert source.asked == 1
        assert {len(answer.series) for answer in answers} == {1}

    asyncio.run(run())


def test_a_query_is_cancelled_only_when_the_last_caller_leaves() -> None:
    async def run() -> None:
        source = Slow("main", one("main"))
        metrics = Metrics(source, FixedClock())
        first, second = (asyncio.create_task(metrics.range(QUERY)) for _ in range(2))
        await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.sleep(0.01)
        assert source.ended == 0
        second.cancel()
        await asyncio.sleep(0.01)
        assert (source.asked, source.ended) == (1, 1)
        assert metrics.sources[0].breaker.state == "closed"
        source.go.set()
        assert (await metrics.range(QUERY)).series

    asyncio.run(run())


def test_all_queries_of_a_page_share_its_deadline() -> None:
    async def run() -> None:
        source = Slow()
        metrics = Metrics(source, FixedClock())
        with page_budget(0.05):
            for _ in range(3):
                with pytest.raises(SourceTimeout, match="page's deadline"):
                    await metrics.range(QUERY)
        await asyncio.sleep(0)
        assert (source.asked, source.ended) == (1, 1)

    asyncio.run(run())


def test_the_first_server_with_the_series_is_used_and_discovery_queries_all() -> None:
    async def run() -> None:
        empty, first, second = ready("a"), ready("b", one("b")), ready("c", one("c"))
        metrics = Metrics([empty, first, second], FixedClock())
        assert (await metrics.range(QUERY)).series == [one("b")]
        assert (await metrics.range(QUERY, "c")).series == [one("c")]
        assert (await metrics.everywhere(QUERY)).series == [one("b"), one("c")]

    asyncio.run(run())


def test_a_failing_server_hides_no_series_of_another_and_does_not_prove_their_absence() -> None:
    async def run() -> None:
        broken = ready("a", failure=SourceUnavailable("a", "away"))
        assert (await Metrics([broken, ready("b", one("b"))], FixedClock()).range(QUERY)).series == [one("b")]
        with pytest.raises(SourceUnavailable, match="a: away"):
            await Metrics([broken, ready("b")], FixedClock()).range(QUERY)
        assert (await Metrics([broken, ready("b")], FixedClock()).everywhere(QUERY)).series == []
        with pytest.raises(SourceUnavailable):
            await Metrics([broken], FixedClock()).everywhere(QUERY)

    asyncio.run(run())


def test_a_failing_source_is_skipped_then_probed_by_one_query_and_recovers() -> None:
    async def run() -> None:
        now = [0.0]
        source = ready("main", one("main"), failure=SourceUnavailable("main", "away"))
        measured = CoalescedSource(source, FixedClock(), Breaker("main", failures=3, open_s=10, now=lambda: now[0]))
        for _ in range(5):
            with pytest.raises(SourceUnavailable, match="away"):
                await measured.range(QUERY)
        assert (source.asked, measured.breaker.state) == (3, "open")
        now[0] = 13
        assert measured.breaker.state == "half-open"
        with pytest.raises(SourceUnavailable):
            await measured.range(QUERY)
        assert (source.asked, measured.breaker.state) == (4, "open")
        now[0], source.failure = 26, None
        assert (await measured.range(QUERY)).series
        assert measured.breaker.state == "closed"

    asyncio.run(run())


def test_a_refusal_does_not_open_the_breaker() -> None:
    async def run() -> None:
        source = ready("main", failure=SourceRejected("main", "parse error"))
        measured = CoalescedSource(source, FixedClock(), Breaker("main", failures=2))
        for _ in range(5):
            with pytest.raises(SourceRejected):
                await measured.range(QUERY)
        assert source.asked == 5

    asyncio.run(run())


def test_while_one_query_probes_a_source_others_do_not() -> None:
    now = [0.0]
    breaker = Breaker("main", failures=1, open_s=10, now=lambda: now[0])
    breaker.failed(SourceTimeout("main", "late"))
    now[0] = 20
    breaker.admit()
    with pytest.raises(SourceUnavailable, match="retry now"):
        breaker.admit()
    breaker.gave_up()
    breaker.admit()
