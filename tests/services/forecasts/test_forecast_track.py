"""What came of warnings: an uninterrupted one counts once, and one that was acted upon is no false alarm."""

from __future__ import annotations

from limnograph.services.forecasts.track import TrackedForecast, TrackedWarnings

HOUR = 3_600_000_000
DAY = 24 * HOUR


def told(
    uuid: str,
    day: int,
    *,
    warned: int | None = None,
    crossed: bool | None = None,
    at: float | None = None,
    maintained: bool | None = None,
) -> TrackedForecast:
    return TrackedForecast(
        uuid,
        "small_files",
        day * DAY,
        warned is not None,
        None if warned is None else warned * DAY,
        crossed,
        None if at is None else round(at * DAY),
        maintained,
    )


def test_outcomes_are_counted_by_warning_and_crossings_without_one_apart() -> None:
    track = TrackedWarnings(
        [
            told("true", 1, warned=1, crossed=True, at=3.5, maintained=False),
            told("true", 2, warned=1, crossed=True, at=3.5, maintained=False),
            told("late", 5, warned=5, crossed=True, at=6, maintained=True),  # in spite of maintenance
            told("false", 1, warned=1, crossed=False, maintained=False),
            told("false", 2, warned=1, crossed=False, maintained=False),
            told("acted", 1, warned=1, crossed=False, maintained=True),
            told("open", 9, warned=9),
            told("surprise", 1, crossed=True, at=2),
            told("surprise", 0, crossed=True, at=2),
        ],
        since=DAY,
    )
    record = track.record()
    assert (record.warnings, record.came_true, record.did_not) == (5, 2, 1)
    assert (record.acted_upon, record.pending, record.not_foreseen) == (1, 1, 1)
    assert record.median_notice_hours == 42.0  # of 60 and 24 hours
    assert record.since == DAY // 1000
    assert track.record("surprise").not_foreseen == 1
    assert track.record("false").warnings == 1


def test_a_crossing_that_one_of_several_forecasts_announced_was_foreseen() -> None:
    track = TrackedWarnings(
        [told("a", 1, crossed=True, at=4), told("a", 2, warned=2, crossed=True, at=4, maintained=False)]
    )
    assert (track.record().came_true, track.record().not_foreseen) == (1, 0)


def test_without_warnings_nothing_is_claimed() -> None:
    record = TrackedWarnings(()).record()
    assert (record.warnings, record.median_notice_hours, record.since) == (0, None, None)
