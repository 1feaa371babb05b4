"""The shipped model on plain tables: order of probabilities, what maintenance changes, and odd input."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from forecast_cases import AS_OF, HOUR_MS, case, rising, runs, sawtooth
from limnograph.analysis.forecast import Forecasted, load_model
from limnograph.domain.forecasts.cases import FactColumns, ForecastCase, ReaderRuns


def forecast(given: ForecastCase) -> Forecasted:
    return load_model().forecast([given])[0]


def p_cross(found: Forecasted, target: int = 0) -> list[float]:
    return [each.p_cross or 0.0 for each in found.answer.targets[target].horizons]


def test_a_level_that_rises_into_its_threshold_is_at_risk_and_maintenance_prevents_it() -> None:
    found = forecast(case(rising(20), [("small_files", 2_300)]))
    target = found.answer.targets[0]
    assert p_cross(found)[1] > 0.7
    assert found.answer.alert
    assert target.crosses_at is not None
    assert AS_OF < target.crosses_at < AS_OF + 168 * HOUR_MS
    cared = [each.p_cross_if_maintained for each in target.horizons]
    assert cared[1] is not None
    assert cared[1] < 0.3
    start, end = found.signals[0].crosses_from, found.signals[0].crosses_to
    assert start is not None
    assert end is not None
    assert start <= target.crosses_at <= end


def test_a_saw_tooth_far_below_its_threshold_is_not_at_risk() -> None:
    found = forecast(case(sawtooth(28), [("small_files", 200)]))
    assert p_cross(found)[1] < 0.1
    assert not found.answer.alert
    assert found.answer.targets[0].crosses_at is None
    assert found.signals[0].usual_drop_hours == 24


def test_probabilities_never_fall_with_hours_and_quantiles_are_in_order() -> None:
    given = case(rising(50), [("small_files", 6_000)], horizons_hours=[24, 168, 720])
    found = forecast(given)
    assert p_cross(found) == sorted(p_cross(found))
    for each in found.answer.targets[0].horizons:
        assert each.p10 is not None
        assert each.p50 is not None
        assert each.p90 is not None
        assert each.p10 <= each.p50 <= each.p90
        assert each.p_cross_if_maintained is not None
        assert each.p_cross_if_maintained <= (each.p_cross or 0)


def test_a_red_target_has_quantiles_and_no_crossing() -> None:
    found = forecast(case(rising(20), [("small_files", 500)]))
    target = found.answer.targets[0]
    assert target.crosses_at is None
    assert target.horizons[0].p50 is not None
    assert [each.p for each in found.answer.risk] == [0.0, 0.0]
    assert not found.answer.alert


def test_a_table_alone_is_answered_as_among_others() -> None:
    given = [case(rising(20), [("small_files", 3_000)]), case(sawtooth(20), [("small_files", 150)], id="b")]
    alone = [load_model().forecast([each])[0] for each in given]
    assert load_model().forecast(given) == alone


def test_nothing_from_the_cut_off_on_is_used() -> None:
    given = case(rising(20), [("small_files", 3_000), ("reader_seconds", 150)], runs=runs(20))
    facts, past = given.facts, given.runs
    assert past is not None
    columns = {name: getattr(facts, name) for name in facts.__struct_fields__ if getattr(facts, name) is not None}
    later = {name: [*values, values[-1] * 9] for name, values in columns.items()}
    later["at"], later["span_hours"] = [*facts.at, AS_OF], [*facts.span_hours, 1]
    leaking = msgspec.structs.replace(
        given,
        facts=FactColumns(**later),
        runs=ReaderRuns(
            job="j",
            times=[*past.times, AS_OF + 1],
            duration_seconds=[*past.duration_seconds, 9e9],
            read_bytes=[*past.read_bytes, 1.0],
        ),
    )
    assert forecast(leaking).answer == forecast(given).answer


def test_bytes_are_forecast_without_a_target() -> None:
    found = forecast(case(rising(20)))
    assert [each.hours for each in found.bytes] == [24, 168]
    low, middle, high = found.bytes[1][1:]
    assert low <= middle <= high
    assert middle == pytest.approx(1e9 + 1e7 * 24 * 27, rel=0.2)


def test_a_new_table_abstains() -> None:
    found = forecast(case(rising(1), [("small_files", 3_000)]))
    assert found.answer.targets[0].abstained == "short_history"


def test_a_reader_that_stopped_is_stale() -> None:
    past = runs(20)
    old = msgspec.structs.replace(past, times=[at - 96 * HOUR_MS for at in past.times])
    found = forecast(case(rising(20), [("reader_seconds", 200)], runs=old))
    assert found.answer.targets[0].abstained == "stale"


@pytest.mark.parametrize(
    "changes",
    [
        {"facts": FactColumns(at=[], span_hours=[])},
        {"facts": FactColumns(at=[AS_OF - HOUR_MS], span_hours=[1], small_files=[5.0])},
        {"facts": FactColumns(at=[AS_OF - HOUR_MS], span_hours=[1], small_files=[None])},
        {"facts": FactColumns(at=[AS_OF - 48 * HOUR_MS], span_hours=[24], small_files=[0.0])},
        {"facts": FactColumns(at=[AS_OF + HOUR_MS], span_hours=[1], small_files=[5.0])},
        {"runs": ReaderRuns(job="j", times=[], duration_seconds=[], read_bytes=[])},
        {"runs": ReaderRuns(job="j", times=[AS_OF - 1], duration_seconds=[None], read_bytes=[None])},
        {"runs": ReaderRuns(job="j", times=[AS_OF - 1], duration_seconds=[3.0], read_bytes=[0.0])},
        {"horizons_hours": []},
        {"horizons_hours": [1, 30]},
        {"first_seen": AS_OF + HOUR_MS},
        {"target_file_bytes": 0.0},
        {"targets": []},
    ],
)
def test_odd_input_is_answered_with_finite_numbers(changes: dict[str, Any]) -> None:
    given = case(rising(3), [("small_files", 900), ("reader_seconds_per_gib", 3.0), ("delete_ratio", 0.2)])
    found = forecast(msgspec.structs.replace(given, **changes))
    text = msgspec.json.encode(found.answer)
    assert len(found.answer.targets) == len(changes.get("targets", given.targets))
    assert all(math.isfinite(each.p) for each in found.answer.risk)
    assert b"NaN" not in text
