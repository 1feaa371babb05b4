"""The median run beside a job's line: of the runs around it that ended well, and never a guess."""

from __future__ import annotations

from limnograph.domain.answers.timeline import BandLane, Bar, BarsLane
from limnograph.domain.time import TimeRange
from limnograph.services.jobs.median import RUNS, beside

MINUTE = 60_000
SPAN = TimeRange.parse(0, 60 * MINUTE, 60)


def band(mid: list[float | None] | None = None, **more: object) -> BandLane:
    values = mid or [50.0] * len(SPAN.instants())
    base = {"id": "job_duration", "source": "prometheus", "unit": "seconds", "status": "ok"}
    return BandLane(**{**base, "lo": values, "mid": values, "hi": values, **more})


def runs(*seconds: float, every: int = 3, state: str = "ok") -> BarsLane:
    """Runs that end every so many minutes."""
    ends = [(i + 1) * every * MINUTE for i in range(len(seconds))]
    bars = [
        Bar(start=end - int(lasted * 1000), end=end, label="churn", state=state)
        for end, lasted in zip(ends, seconds, strict=True)
    ]
    return BarsLane(id="job_runs", source="runs", unit="runs", status="ok", bars=bars)


def test_it_is_the_median_of_the_runs_before_and_after_once_one_has_ended() -> None:
    found = beside(band(), runs(50, 52, 900, 54), SPAN).median
    assert found is not None
    assert (found[2], found[3], found[-1]) == (None, 53, 53)


def test_it_steps_with_the_first_run_of_another_level_and_not_later() -> None:
    found = beside(band(), runs(*[50] * RUNS, *[160] * RUNS, *[50] * RUNS, every=1), SPAN).median
    assert found is not None
    assert (found[RUNS], found[RUNS + 1]) == (50, 160)
    assert (found[2 * RUNS], found[2 * RUNS + 1]) == (160, 50)


def test_all_runs_of_a_wide_step_count() -> None:
    wide = TimeRange.parse(0, 120 * MINUTE, 3600)
    lane = band([None, 50.0])
    found = beside(lane, runs(*[10] * 30, *[90] * 25, every=1), wide).median
    assert found == [None, 10], "the newest nine alone would tell 90"


def test_a_gap_in_the_line_is_a_gap_in_the_median() -> None:
    values: list[float | None] = [50.0] * len(SPAN.instants())
    values[20] = None
    found = beside(band(values), runs(*[50] * 5), SPAN).median
    assert found is not None
    assert (found[19], found[20], found[21]) == (50, None, 50)


def test_too_few_runs_failed_runs_and_a_failed_lane_have_no_median() -> None:
    assert beside(band(), runs(50, 52), SPAN).median is None
    assert beside(band(), runs(50, 52, 54, 56, state="failed"), SPAN).median is None
    assert beside(band(status="error"), runs(50, 52, 54, 56), SPAN).median is None


def test_the_median_of_the_settings_query_takes_precedence() -> None:
    own = [7.0] * len(SPAN.instants())
    assert beside(band(median=own), runs(50, 52, 54, 56), SPAN).median == own
