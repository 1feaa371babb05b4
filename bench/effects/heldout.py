"""Laws that the estimator was not designed with: a generator of its own, with other noise, schedules and causes.

Three of them (both shorter periods, a deploy that changes the trend) showed bounds that were too narrow; since that was
corrected they are scenes as any other. The controls follow whatever the job shares with the cluster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from effects.laws import DAY_MS, EPOCH_MS, HOUR_MS, Floats, History
from limnograph.domain.answers.effects import ControlJob, EffectCase, EffectOperation, EffectRuns, OtherEvent

BEFORE, AFTER = 96, 24
LEVEL_S = 100.0
_Shared = Callable[[Floats], Floats]
_DEPLOY_AT = (30, 80)


class HeldOutLaw(NamedTuple):
    """A law, and the source that makes it plausible. `history`: by the natural log of the effect."""

    source: str
    history: Callable[[float, np.random.Generator], History]


def _stragglers(effect: float, rng: np.random.Generator) -> History:
    """Three runs in a hundred take ten times as long."""
    at, wave = _hourly(rng), _daily(rng, 0.1)
    slow = math.log(10) * (rng.random(at.size) < 0.03)
    return _history(at, wave(at) + _autoregressive(at.size, rng) + slow, effect, rng, wave)


def _alternating(effect: float, rng: np.random.Generator) -> History:
    """Every other run does a different amount of work."""
    at = _hourly(rng)
    regime = (np.arange(at.size) + rng.integers(0, 2)) % 2
    return _history(at, 0.5 * regime + _autoregressive(at.size, rng), effect, rng)


def _every_sixth(effect: float, rng: np.random.Generator) -> History:
    """Every sixth run is a full refresh."""
    at = _hourly(rng)
    full = (np.arange(at.size) + rng.integers(0, 6)) % 6 == 0
    return _history(at, 0.7 * full + _autoregressive(at.size, rng), effect, rng)


def _shorter_period(effect: float, rng: np.random.Generator, last_slow: int = 60, minutes: int = 20) -> History:
    """An hourly job runs more often from one of its runs on; the noise is correlated in time, not from run to run."""
    gaps = np.where(np.arange(BEFORE + AFTER) < last_slow, 60, minutes) / 60 * HOUR_MS
    at, wave = _begin(rng) + np.cumsum(gaps * rng.uniform(0.95, 1.05, gaps.size)), _daily(rng, 0.15)
    return _history(at, wave(at) + _correlated_in_time(at, 0.08, 2, rng), effect, rng, wave)


def _shorter_period_after(effect: float, rng: np.random.Generator) -> History:
    """The same at the operation itself."""
    return _shorter_period(effect, rng, BEFORE + 1, 15)


def _deploy_with_trend(effect: float, rng: np.random.Generator) -> History:
    """The job drifts, and a new version has another level and drifts faster."""
    at, deploy = _hourly(rng), int(rng.integers(*_DEPLOY_AT))
    index = np.arange(at.size)
    drift = (0.25 * index + 0.2 * np.maximum(0, index - deploy)) / at.size
    step = rng.choice([-0.2, 0.2]) * (index >= deploy)
    known = [OtherEvent(at=int(at[deploy] - HOUR_MS / 2), kind="deploy")]
    return _history(at, drift + step + _autoregressive(at.size, rng), effect, rng, others=known)


def _two_states(effect: float, rng: np.random.Generator) -> History:
    """The job changes between two levels and stays for eight runs on average."""
    at = _hourly(rng)
    state = np.cumsum(rng.random(at.size) < 1 / 8) % 2
    return _history(at, 0.2 * state + _autoregressive(at.size, rng, 0.06, 0.2), effect, rng)


def _long_memory(effect: float, rng: np.random.Generator) -> History:
    """Fractional noise: correlations fall as a power of the distance."""
    at, order = _hourly(rng), 0.35
    lags = np.arange(1, at.size + 400)
    weights = np.concatenate([[1.0], np.cumprod((lags - 1 + order) / lags)])
    noise = np.convolve(rng.normal(0, 0.08, weights.size), weights)[400 : 400 + at.size]
    return _history(at, noise, effect, rng)


def _clustered_noise(effect: float, rng: np.random.Generator) -> History:
    """The size of the noise depends on that of the last run (GARCH)."""
    at = _hourly(rng)
    noise, variance = np.empty(at.size), 0.0064
    for k in range(at.size):
        noise[k] = rng.normal(0, math.sqrt(variance))
        variance = 0.0006 + 0.3 * noise[k] ** 2 + 0.6 * variance
    return _history(at, noise, effect, rng)


def _any_response(effect: float, rng: np.random.Generator) -> History:
    """The cluster gets faster at the operation, and the job follows by a third to one and a half times."""
    at, follows = _hourly(rng), rng.uniform(0.3, 1.5)

    def step(times: Floats) -> Floats:
        return -0.2 * (times >= at[BEFORE])

    return _history(at, follows * step(at) + _autoregressive(at.size, rng), effect, rng, step)


def _late_response(effect: float, rng: np.random.Generator) -> History:
    """The cluster wanders, and the job follows three hours later."""
    at = _hourly(rng)
    grid = np.linspace(at[0] - 6 * HOUR_MS, at[-1] + 2 * HOUR_MS, 800)
    walk = np.cumsum(rng.normal(0, 0.03 * math.sqrt(0.15), grid.size))

    def moves(times: Floats) -> Floats:
        return np.interp(times, grid, walk)

    return _history(at, moves(at - 3 * HOUR_MS) + _autoregressive(at.size, rng), effect, rng, moves)


def _timeouts(effect: float, rng: np.random.Generator) -> History:
    """Runs above a limit are killed."""
    at = _hourly(rng)
    noise = _autoregressive(at.size, rng, 0.15)
    killed = noise + effect * (np.arange(at.size) >= BEFORE) > 0.25
    return _history(at, noise, effect, rng, killed=killed)


def _outage(effect: float, rng: np.random.Generator) -> History:
    """No runs for thirty hours, shortly before the operation."""
    at, wave = _hourly(rng), _daily(rng, 0.2)
    at = np.where(np.arange(at.size) >= rng.integers(60, BEFORE), at + 30 * HOUR_MS, at)
    return _history(at, wave(at) + _correlated_in_time(at, 0.1, 3, rng), effect, rng, wave)


def _bursts_of_runs(effect: float, rng: np.random.Generator) -> History:
    """One to five runs five minutes apart, then hours of pause."""
    times: list[float] = []
    last = float(_begin(rng))
    while len(times) < BEFORE + AFTER:
        last += rng.exponential(6 * HOUR_MS)
        times += [last + number * HOUR_MS / 12 for number in range(int(rng.integers(1, 6)))]
    at, wave = np.sort(np.array(times[: BEFORE + AFTER])), _daily(rng, 0.15)
    noise = _correlated_in_time(at, 0.1, 2, rng) + rng.normal(0, 0.04, at.size)
    return _history(at, wave(at) + noise, effect, rng, wave)


def _small_files_return(effect: float, rng: np.random.Generator) -> History:
    """The job slows down for thirty runs and is back at once, again and again, by events that no source reports."""
    at = _hourly(rng)
    saw = 0.3 * ((np.arange(at.size) + rng.integers(0, 30)) % 30) / 30
    return _history(at, saw + _autoregressive(at.size, rng, 0.06, 0.2), effect, rng)


def _slowly_growing(effect: float, rng: np.random.Generator) -> History:
    """A nightly job of five weeks whose durations grow by 15 %, too little to show in that many runs."""
    before, after = 30, 8
    at = _begin(rng) + (np.arange(before + after) + rng.uniform(0, 0.1 / 24, before + after)) * DAY_MS
    drift = 0.15 * np.arange(at.size) / at.size
    return _history(at, drift + _autoregressive(at.size, rng, 0.1), effect, rng, before=before)


_MANTRI = "Ananthanarayanan et al. 2010 (Mantri): outliers of ten times"
HELDOUT = {
    "stragglers of ten times": HeldOutLaw(_MANTRI, _stragglers),
    "two kinds of run in turn": HeldOutLaw("incremental loads with a merge every other hour", _alternating),
    "every sixth run is full": HeldOutLaw("dbt: periodic full refresh", _every_sixth),
    "shorter period in the history": HeldOutLaw("a changed schedule", _shorter_period),
    "shorter period at the operation": HeldOutLaw("a changed schedule", _shorter_period_after),
    "deploy that changes the trend": HeldOutLaw("a new version keeps more state", _deploy_with_trend),
    "two states": HeldOutLaw("cache warm or cold", _two_states),
    "long memory": HeldOutLaw("Leland et al. 1994: self-similar traffic", _long_memory),
    "clustered noise": HeldOutLaw("Engle 1982, Bollerslev 1986: conditional variance", _clustered_noise),
    "any response to the cluster": HeldOutLaw("a job bound by something else than its neighbours", _any_response),
    "late response to the cluster": HeldOutLaw("queues drain after hours", _late_response),
    "killed at a limit": HeldOutLaw("execution_timeout of Airflow", _timeouts),
    "outage in the history": HeldOutLaw("a paused schedule", _outage),
    "bursts of runs": HeldOutLaw("catch-up runs of a scheduler", _bursts_of_runs),
    "slowly growing nightly job": HeldOutLaw("most warehouse jobs", _slowly_growing),
    "slows down and recovers": HeldOutLaw("compactions of upstream tables that are not observed", _small_files_return),
}


def _begin(rng: np.random.Generator) -> int:
    return EPOCH_MS + int(rng.integers(0, 14 * 24)) * HOUR_MS


def _hourly(rng: np.random.Generator) -> Floats:
    count = BEFORE + AFTER
    return np.asarray(_begin(rng) + (np.arange(count) + rng.uniform(0, 0.1, count)) * HOUR_MS)


def _daily(rng: np.random.Generator, size: float) -> _Shared:
    phase = rng.uniform(0, 1)
    return lambda times: size * np.sin(2 * np.pi * (times / DAY_MS + phase))


def _autoregressive(count: int, rng: np.random.Generator, deviation: float = 0.08, carry: float = 0.3) -> Floats:
    noise = rng.normal(0, deviation, count)
    noise[0] /= math.sqrt(1 - carry**2)
    for k in range(1, count):
        noise[k] += carry * noise[k - 1]
    return np.asarray(noise)


def _correlated_in_time(at: Floats, deviation: float, hours: float, rng: np.random.Generator) -> Floats:
    """Ornstein-Uhlenbeck noise: correlated over `hours`, however many runs these have."""
    noise = rng.normal(0, deviation, at.size)
    for k in range(1, at.size):
        carry = math.exp(-(at[k] - at[k - 1]) / HOUR_MS / hours)
        noise[k] = carry * noise[k - 1] + math.sqrt(1 - carry**2) * noise[k]
    return np.asarray(noise)


def _history(
    at: Floats,
    logs: Floats,
    effect: float,
    rng: np.random.Generator,
    shared: _Shared = np.zeros_like,
    *,
    others: Sequence[OtherEvent] = (),
    killed: Floats | None = None,
    before: int = BEFORE,
) -> History:
    cut = (at[before - 1] + at[before]) / 2
    seconds = LEVEL_S * np.exp(logs + effect * (np.arange(at.size) >= before))
    lost = np.zeros(at.size) if killed is None else killed
    durations = [None if gone else float(each) for gone, each in zip(lost, seconds, strict=True)]
    case = EffectCase(
        id="",
        runs=EffectRuns(times=[int(each) for each in at], duration_seconds=durations),
        operation=EffectOperation(started_at=int(cut) - 1_000, committed_at=int(cut)),
        controls=[_control(f"control-{number}", at, shared, rng) for number in range(3)],
        others=others,
    )
    return History(case, effect)


def _control(name: str, at: Floats, shared: _Shared, rng: np.random.Generator) -> ControlJob:
    times = np.sort(rng.uniform(at[0] - HOUR_MS, at[-1] + HOUR_MS, at.size))
    logs = rng.normal(4, 1) + rng.uniform(0.8, 1.2) * shared(times) + _autoregressive(at.size, rng)
    return ControlJob(
        job=name, times=[int(each) for each in times], duration_seconds=[float(each) for each in np.exp(logs)]
    )
