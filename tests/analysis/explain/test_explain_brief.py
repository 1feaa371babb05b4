"""A few slow runs, slow wandering, and commits that did one change: what they say, and what they do not say."""

from __future__ import annotations

import msgspec
import numpy as np

from explain_cases import GUILTY, MINUTE, START, answered, burst, case, ordinary, posterior, runs, slowed
from limnograph.analysis.explain.noise import Noise, noise
from limnograph.analysis.explain.onset import resisted, step_onset
from limnograph.analysis.explain.wander import Wander, sobered

HOURLY, AT = 60, 200


def _hourly(last: int | None) -> dict[str, object]:
    job = slowed(runs(count=400, gap_minutes=HOURLY), AT, 1.8, last)
    return case(job, [*ordinary(count=200, every=119), burst(AT * HOURLY - 25)])


def test_three_slow_runs_in_a_row_name_a_commit_less_surely_than_a_slowdown_that_lasts() -> None:
    retried, lasting = answered(_hourly(AT + 3)), answered(_hourly(None))
    assert lasting.blamed == [GUILTY]
    sure = {each.commit_id: each.posterior for each in lasting.hypotheses}
    less = {each.commit_id: each.posterior for each in retried.hypotheses}
    assert less[GUILTY] < sure[GUILTY]


def test_three_slow_runs_after_an_ordinary_commit_name_no_commit() -> None:
    job = slowed(runs(count=400, gap_minutes=HOURLY), AT, 1.8, AT + 3)
    found = answered(case(job, ordinary(count=200, every=119)))
    assert not found.blamed
    assert found.hypotheses[0].kind == "none"


def test_retries_elsewhere_foretell_no_lasting_slowdown() -> None:
    job = slowed(runs(count=400, gap_minutes=HOURLY), AT, 1.3)
    commits = [*ordinary(count=200, every=119), burst(AT * HOURLY - 200)]
    calm = answered(case(job, commits))
    for first in (60, 110, 330):
        job = slowed(job, first, 2.2, first + 3)
    troubled = answered(case(job, commits))
    assert len(troubled.changes) > len(calm.changes)
    assert posterior(troubled) > 0.8 * posterior(calm)


def test_wandering_lowers_the_probability_of_a_step_and_keeps_its_onset() -> None:
    values = np.random.default_rng(3).normal(0, 0.05, 200)
    values[120:] += 0.2
    onset = step_onset(values, 0, 200, Noise(0.0, 0.05))
    assert onset is not None
    restless = Wander(np.array([2.0, 64.0]), np.array([0.05, 0.05]))
    found = sobered(onset, restless, 0, 200)
    assert 0 < found.supported < onset.supported
    np.testing.assert_allclose(found.weight(), onset.weight())


def test_a_commit_that_caused_one_change_is_hardly_a_suspect_of_the_next() -> None:
    """The second step has no commit of its own: nobody did it, rather than the first one's once more."""
    job = slowed(slowed(runs(), 300, 1.6), 330, 1.5)
    found = answered(case(job, [*ordinary(), burst(300 * 5 - 4)]))
    assert found.blamed == [GUILTY]
    again = [each.posterior for each in found.hypotheses if each.commit_id == GUILTY and each.change == 1]
    assert len(found.changes) == 2
    assert sum(again) < 0.2


def test_a_rise_that_reaches_into_the_selection_is_reported_though_it_began_before() -> None:
    job = runs()
    seconds = np.array(job["duration_seconds"])
    height = np.clip((np.arange(len(seconds)) - 300) / 96, 0, 1)
    told = case({**job, "duration_seconds": (seconds * 1.8**height).tolist()}, [*ordinary(), burst(300 * 5 - 4)])
    window = {"from": START + 340 * 5 * MINUTE, "to": START + 500 * 5 * MINUTE}
    found = answered({**told, "selection": window})
    assert [each.kind for each in found.changes] == ["ramp"]
    before = {"from": START, "to": START + 200 * 5 * MINUTE}
    assert not answered({**told, "selection": before}).changes
    assert msgspec.json.encode(found)


def test_slow_runs_beside_a_step_do_not_move_its_onset_where_the_noise_has_heavy_tails() -> None:
    rng = np.random.default_rng(3)
    values = 0.04 * rng.standard_t(2.5, 800) + 0.12 * (np.arange(800) >= 400)
    values[392:395] += 0.3
    around = noise(values - 0.12 * (np.arange(800) >= 400), 2)
    onset = step_onset(values, 0, 800, around)
    assert onset is not None
    assert onset.best == 392
    assert abs(resisted(onset, values, 0, 800, around).best - 400) <= 2


def test_where_the_noise_is_normal_an_onset_is_left_as_it_is() -> None:
    values = 0.05 * np.random.default_rng(5).standard_normal(800) + 0.1 * (np.arange(800) >= 400)
    around = noise(values - 0.1 * (np.arange(800) >= 400), 2)
    onset = step_onset(values, 0, 800, around)
    assert onset is not None
    assert around.tail == 0
    assert resisted(onset, values, 0, 800, around) is onset
