"""One question for all job lanes of a page; what a server refuses or cuts is asked one by one."""

import asyncio

import pytest

from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.domain.errors import SourceRejected, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Matrix, RangeQuery, Series
from limnograph.domain.time import STEPS, TimeRange, choose_step
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.services.sources import page_metrics, templates
from serving_kit import HOUR, NOW, lake, parts, row

NAME = TableName("lake", "sales", "orders")
SPAN = TimeRange.parse((NOW - 6 * HOUR) // 1000, NOW // 1000, 60)
TABLE = templates.table_matchers(NAME)
READER = {**TABLE, "job_name": "churn", "role": "reads", "application_id": "a"}
PAGE = page_metrics.question(TABLE, SPAN, SPAN.end, 15).promql
CHURN = ConfiguredJob(name="churn", reads=("lake.sales.*",))


def drawn(value: float, *, stat: str | None = None, name: str = templates.DURATION) -> Series:
    """A series of one value at every point of the range."""
    times = list(range(SPAN.start, SPAN.end + 1, 60_000))
    labels = {**READER, "__name__": name} if stat is None else {**READER, templates.STAT: stat}
    return Series(labels, times, [value] * len(times))


def known() -> Series:
    """One run of the reader in the last day."""
    return Series({"job_name": "churn", "role": "reads", templates.STAT: "runs"}, [SPAN.end], [7.0])


class Asked(MemoryMetrics):
    """Keeps the questions; refuses or cuts the joined one when told to."""

    def __init__(self, name: str, answers: dict[str, list[Series]], *, refuses: bool = False, cuts: bool = False):
        super().__init__(name, answers)
        self.asked: list[str] = []
        self._refuses, self._cuts = refuses, cuts

    async def range(self, query: RangeQuery) -> Matrix:
        self.asked.append(query.promql)
        if query.promql == PAGE and self._refuses:
            raise SourceRejected(self.name, "answered 422: the query would load too many samples")
        found = await super().range(query)
        return Matrix(found.series, truncated=True) if query.promql == PAGE and self._cuts else found


def one_by_one() -> dict[str, list[Series]]:
    return {
        templates.duration_band({**TABLE, "role": "reads", "job_name": "churn"}, 60): [
            Series({"job_name": "churn", templates.STAT: stat}, drawn(9).times, drawn(9).values)
            for stat in ("min", "last", "max")
        ]
    }


def duration(sources, *configured: ConfiguredJob):
    made = parts(lake([row(1, NOW - 8 * HOUR)]), sources, configured=configured)
    answer = asyncio.run(made.backend.timelines.answer(NAME, SPAN, ("job_duration", "job_runs"), None, None))
    return answer.lanes


@pytest.mark.parametrize("fault", ["refuses", "cuts"])
def test_a_refused_or_truncated_query_is_sent_lane_by_lane(fault) -> None:
    source = Asked("main", {PAGE: [drawn(1)], **one_by_one()}, **{fault: True})
    band, runs = duration(source, CHURN)
    assert (band.status, set(band.mid), runs.status) == ("ok", {9.0}, "ok")
    assert len(source.asked) == 4


def test_a_page_queries_each_server_once_and_takes_each_lane_from_the_server_with_its_series() -> None:
    empty = Asked("a", {})
    lasts = Asked("b", {PAGE: [drawn(52), known()]})
    ends = [drawn(NOW / 1e6 - 60, name=templates.FINISHED), drawn(30)]
    later = Asked("c", {PAGE: ends})
    band, runs = duration([empty, lasts, later])
    assert [len(source.asked) for source in (empty, lasts, later)] == [1, 1, 1]
    assert (band.label, set(band.mid)) == ("churn", {52.0})
    assert runs.bars == []  # of the first server that has series of the job
    band, runs = duration([lasts, later], ConfiguredJob(name="churn", reads=("lake.sales.*",), prometheus="c"))
    assert set(band.mid) == {30.0}
    assert [bar.end for bar in runs.bars] == [NOW // 1000 - 60_000]


def test_a_failing_server_hides_no_series_of_another() -> None:
    broken, other = Asked("a", {}), Asked("b", {PAGE: [drawn(52), known()]})
    broken.failure = SourceUnavailable("a", "away")
    assert set(duration([broken, other])[0].mid) == {52.0}
    other.failure = SourceUnavailable("b", "away")
    with pytest.raises(SourceUnavailable, match="a: away"):
        duration([broken, other], CHURN)


def test_extremes_between_two_points_belong_to_the_point_before() -> None:
    last, spike = drawn(52), SPAN.start + 10 * 60_000 + 15_000
    source = Asked("main", {PAGE: [last, Series({**READER, templates.STAT: "max"}, [spike], [900.0])]})
    band, _ = duration(source, CHURN)
    assert [i for i, value in enumerate(band.hi) if value == 900] == [10]
    assert set(band.mid) == set(band.lo) == {52.0}


def test_every_step_of_the_automatic_choice_has_a_finer_one_that_divides_it() -> None:
    for hours in (1, 3, 6, 12, 24, 48, 7 * 24, 30 * 24, 90 * 24, 400 * 24):
        step = choose_step(hours * 3_600_000)
        span = TimeRange.parse((NOW - hours * HOUR) // 1000, NOW // 1000, step)
        fine = page_metrics.finer(span)
        assert fine is not None
        assert step % fine == 0
        assert (span.end - span.start) // (fine * 1000) <= 2 * page_metrics.RUN_POINTS
        assert step in STEPS


def test_a_step_without_a_finer_one_is_queried_lane_by_lane() -> None:
    assert page_metrics.finer(TimeRange.parse(0, 61_000 * 60, 61)) is None
