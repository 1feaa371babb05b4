"""Generates histories of jobs around an operation with a known effect: noise, cycles, cluster and table events.

Each scene is one law, with the source that makes it plausible. `draw` generates one history of it. Durations are
log-normal around a level; shared movements (cycle, cluster) affect the job and its controls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.domain.answers.effects import (
    ControlJob,
    EffectCase,
    EffectLoad,
    EffectOperation,
    EffectRuns,
    OtherEvent,
)

Floats = npt.NDArray[np.float64]
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
EPOCH_MS = 1_795_000_000_000


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One law. Amounts are natural logs: 0.2 is about 20 %.

    noise, carry    deviation and correlation of neighbouring runs
    tails           law of the noise
    louder          factor on the noise after the operation
    spikes          share of runs that are slow by chance
    killed          share of runs without a duration
    rounded_s       durations are whole multiples of this, reported as 1, 2, 3 s
    wave            daily cycle of `shape`
    weekend         step of the cycle at weekends
    cluster         step of job and controls, at the operation or in the history (`cluster_at`)
    pulses          temporary steps of the cluster
    wander          of the cluster from run to run
    follow          range of the controls' response
    deviant         controls with an independent step at the operation
    opposed         half of the deviant controls step up and half down
    unrelated       number of controls that follow nothing
    growth          of the load, which the job follows by `load_response`
    bytes_response  response to `read_bytes`
    drift, steps    of the job itself
    fades           the effect decays by a factor e in 12 runs
    """

    source: str
    before: int = 96
    after: int = 24
    per_day: float = 24
    times: Literal["regular", "random", "office"] = "regular"
    noise: float = 0.08
    carry: float = 0.3
    tails: Literal["normal", "student", "exponential"] = "normal"
    louder: float = 1.0
    spikes: float = 0.0
    killed: float = 0.0
    rounded_s: float = 0.0
    wave: float = 0.0
    shape: Literal["sine", "plateau", "night"] = "sine"
    weekend: float = 0.0
    cluster: float = 0.0
    cluster_at: Literal["operation", "history"] = "operation"
    pulses: int = 0
    wander: float = 0.0
    controls: int = 3
    follow: tuple[float, float] = (0.8, 1.2)
    deviant: int = 0
    unrelated: int = 0
    opposed: bool = False
    growth: float = 0.0
    load_response: float = 1.0
    read_bytes: Literal["", "grow", "vary", "saved", "later"] = ""
    bytes_response: float = 0.9
    drift: float = 0.0
    steps: int = 0
    fades: bool = False


class History(NamedTuple):
    """A case and its truth: the mean log effect over the later runs."""

    case: EffectCase
    truth: float


DESIGN = {
    "calm": Scene(source="the estimator's design"),
    "carry .6": Scene(source="Bertrand, Duflo, Mullainathan 2004: correlated outcomes", carry=0.6),
    "daily cycle 20 %": Scene(source="the estimator's design", wave=0.2),
    "daily cycle, 10 runs after": Scene(source="the estimator's design", wave=0.2, after=10),
    "cluster -20 % at the operation": Scene(source="the estimator's design", cluster=-0.2),
    "the same, one control": Scene(source="Conley, Taber 2011: few controls", cluster=-0.2, controls=1),
    "load grows 30 %": Scene(source="the estimator's design", growth=0.3),
    "5 % spikes": Scene(source="Dean, Barroso 2013: the tail at scale", spikes=0.05),
}
"""Scenes of the design with controls."""
_CLOUD = "Maricq et al. 2018: performance of cloud machines"
OWN = {
    "irregular times": Scene(source="triggers by events (Airflow datasets)", times="random", wave=0.15),
    "office hours": Scene(source="business reports run in office hours", times="office", wave=0.15, weekend=0.2),
    "weekend": Scene(source="Shahrad et al. 2020: weekly cycles of functions", weekend=0.25, before=240, after=60),
    "plateau by day": Scene(source="Shahrad et al. 2020", wave=0.3, shape="plateau"),
    "slow at night": Scene(source="nightly maintenance windows", wave=0.5, shape="night"),
    "cluster wanders": Scene(source="Uta et al. 2020: shared networks drift", wander=0.03),
    "cluster pulses": Scene(source="Uta et al. 2020: token buckets run empty", pulses=4),
    "earlier cluster step": Scene(source=_CLOUD, cluster=-0.25, cluster_at="history"),
    "one control deviates": Scene(source="a control is deployed at that time", deviant=1, controls=5),
    "unrelated controls": Scene(source="controls of another cluster", unrelated=3),
    "heavy tails": Scene(source=_CLOUD, tails="student"),
    "skewed noise": Scene(source="queues: Harchol-Balter 2013", tails="exponential"),
    "noisier after": Scene(source=_CLOUD, louder=2.0),
    "whole seconds": Scene(source="OpenLineage producers round", rounded_s=20),
    "killed runs": Scene(source="Verma et al. 2015 (Borg): evictions", killed=0.15),
    "own drift": Scene(source="the job's own data grow", drift=0.3),
    "own step before": Scene(source="releases of the job", steps=1),
    "effect fades": Scene(source="small files come back after a compaction", fades=True),
    "bytes vary": Scene(source="incremental jobs read what arrived", read_bytes="vary"),
    "bytes grow": Scene(source="the table grows", read_bytes="grow", bytes_response=0.9),
    "bytes saved": Scene(source="the action makes the job read less", read_bytes="saved"),
    "bytes grow later": Scene(source="a backfill follows", read_bytes="later"),
    "strong carry": Scene(source="Bertrand, Duflo, Mullainathan 2004", carry=0.8),
    "nightly job": Scene(source="most warehouse jobs", per_day=1, before=40, after=12, weekend=0.2),
    "12 before, 8 after": Scene(source="a new job", before=12, after=8),
    "8 before, 5 after": Scene(source="the least that is judged", before=8, after=5),
    "500 before, 200 after": Scene(source="a job every ten minutes", before=500, after=200, per_day=144, wave=0.1),
}
"""Additional scenes with controls."""
ABSTAIN = {
    "no controls, one shift of the cluster": Scene(
        source="the estimator's design", controls=0, cluster=-0.2, cluster_at="history"
    ),
    "no controls, pulses": Scene(source="Uta et al. 2020", controls=0, pulses=4),
    "no controls, cluster wanders": Scene(source="Uta et al. 2020", controls=0, wander=0.04),
    "controls disagree": Scene(source="two clusters, one with an incident", controls=4, opposed=True),
}
"""Scenes that do not support a claim."""
ALONE = {
    "no controls, calm": Scene(source="a lake with one job", controls=0),
    "no controls, daily cycle": Scene(source="a lake with one job", controls=0, wave=0.2),
    "no controls, load known": Scene(source="a lake with one job", controls=0, growth=0.3),
}
"""Scenes without controls that may support a claim."""
POWER = replace(DESIGN["calm"], wave=0.1)
"""Law for the table of statistical power."""


def draw(scene: Scene, effect: float, rng: np.random.Generator) -> History:
    """One history of a scene with an effect."""
    count = scene.before + scene.after
    at = _times(scene, count, rng)
    cut = (at[scene.before - 1] + at[scene.before]) / 2
    after = np.arange(count) >= scene.before
    share = np.arange(count) / count
    fading = np.exp(-np.maximum(0, np.arange(count) - scene.before) / 12) if scene.fades else 1.0
    effects = effect * after * fading
    shared = _Shared(scene, at, cut, rng)
    logs = math.log(100) + shared(at) + _noise(scene, count, rng) * np.where(after, scene.louder, 1.0) + effects
    logs += scene.growth * scene.load_response * share + scene.drift * share
    logs += (rng.random(count) < scene.spikes) * rng.exponential(0.8, count)
    for _ in range(scene.steps):
        logs += rng.choice([-1, 1]) * rng.uniform(0.15, 0.3) * (np.arange(count) >= rng.integers(10, scene.before - 10))
    read, moved = _bytes(scene, count, rng)
    seconds = np.exp(logs + moved)
    if scene.rounded_s:
        seconds = np.maximum(1, np.round(seconds / scene.rounded_s))
    case = EffectCase(
        id="",
        runs=EffectRuns(
            times=_instants(at),
            duration_seconds=[None if rng.random() < scene.killed else float(each) for each in seconds],
            read_bytes=read,
        ),
        operation=EffectOperation(started_at=int(cut) - 1_000, committed_at=int(cut)),
        controls=[_control(scene, number, shared, (at, cut), rng) for number in range(scene.controls)],
        load=_load(scene, at) if scene.growth else None,
        others=[OtherEvent(at=int(cut) - 5 * HOUR_MS, kind="append", files=3)],
    )
    return History(case, float(effects[after].mean()))


class _Shared:
    """Movements shared by job and controls, at any instant."""

    def __init__(self, scene: Scene, at: Floats, cut: float, rng: np.random.Generator) -> None:
        self._scene = scene
        self._phase = rng.uniform(0, 24)
        span = at[-1] - at[0]
        self._grid = np.linspace(at[0] - 0.02 * span, at[-1] + 0.02 * span, 6 * at.size)
        self._moves = np.zeros(self._grid.size)
        if scene.cluster:
            gap = float(np.median(np.diff(at)))
            history = at[int(rng.integers(scene.before // 5, scene.before - scene.before // 8))]
            where = cut + rng.uniform(-2, 2) * gap if scene.cluster_at == "operation" else history
            self._moves += scene.cluster * (self._grid >= where)
        if scene.wander:
            self._moves += np.cumsum(rng.normal(0, scene.wander / math.sqrt(6), self._grid.size))
        for _ in range(scene.pulses):
            start, width = rng.integers(0, self._grid.size), rng.integers(60, 150)
            self._moves[start : start + width] += rng.uniform(0.2, 0.4)

    def __call__(self, at: Floats) -> Floats:
        hour = (at / HOUR_MS + self._phase) % 24
        shapes = {"sine": np.sin(2 * np.pi * hour / 24), "plateau": (hour > 8) & (hour < 17), "night": hour < 2}
        wave = self._scene.wave * shapes[self._scene.shape]
        weekend = self._scene.weekend * ((at // DAY_MS + 3) % 7 >= 5)
        return np.asarray(np.interp(at, self._grid, self._moves) + wave + weekend)


def _times(scene: Scene, count: int, rng: np.random.Generator) -> Floats:
    begin = EPOCH_MS + int(rng.integers(0, 14 * 24)) * HOUR_MS
    gap = DAY_MS / scene.per_day
    if scene.times == "random":
        return np.asarray(begin + np.cumsum(rng.exponential(gap, count)))
    if scene.times == "office":
        hours = begin // HOUR_MS + np.arange(8 * count)
        open_ = (hours % 24 >= 7) & (hours % 24 < 19) & ((hours // 24 + 3) % 7 < 5)
        return np.asarray((hours[open_][:count] + rng.uniform(0, 0.1, count)) * HOUR_MS)
    return np.asarray(begin + (np.arange(count) + rng.uniform(0, 0.1, count)) * gap)


def _noise(scene: Scene, count: int, rng: np.random.Generator) -> Floats:
    if scene.tails == "student":
        return np.asarray(rng.standard_t(3, count) * scene.noise / 1.3)
    if scene.tails == "exponential":
        return np.asarray((rng.exponential(1, count) - 1) * scene.noise)
    steps = rng.normal(0, scene.noise, count)
    steps[0] /= math.sqrt(1 - scene.carry**2)
    for place in range(1, count):
        steps[place] += scene.carry * steps[place - 1]
    return np.asarray(steps)


def _control(
    scene: Scene, number: int, shared: _Shared, around: tuple[Floats, float], rng: np.random.Generator
) -> ControlJob:
    at, cut = around
    times = np.sort(rng.uniform(at[0] - HOUR_MS, at[-1] + HOUR_MS, at.size))
    logs = rng.normal(4, 1) + _noise(replace(scene, tails="normal"), at.size, rng)
    if number >= scene.unrelated:
        logs += rng.uniform(*scene.follow) * shared(times)
    if number < scene.deviant:
        logs += rng.choice([-0.25, 0.25]) * (times >= cut)
    if scene.opposed:
        logs += (0.25 if number % 2 else -0.25) * (times >= cut)
    seconds = np.exp(logs)
    return ControlJob(
        job=f"control-{number}", times=_instants(times), duration_seconds=[float(each) for each in seconds]
    )


def _load(scene: Scene, at: Floats) -> EffectLoad:
    times = np.linspace(at[0] - HOUR_MS, at[-1] + HOUR_MS, at.size)
    value = 1_000 * np.exp(scene.growth * np.linspace(0, 1, at.size))
    return EffectLoad(times=_instants(times), value=[float(each) for each in value])


def _bytes(scene: Scene, count: int, rng: np.random.Generator) -> tuple[list[float] | None, Floats | float]:
    """Bytes read per run, and their contribution to the log duration. Bytes that the operation saves contribute nothing
    in addition: they are a part of its effect.
    """
    index = np.arange(count)
    laws: dict[str, Floats] = {
        "grow": 0.5 * index / count,
        "vary": rng.normal(0, 0.2, count),
        "saved": -0.3 * (index >= scene.before),
        "later": 0.3 * (index >= scene.before + scene.after // 3),
    }
    if not scene.read_bytes:
        return None, 0.0
    logs = laws[scene.read_bytes]
    read = [float(each) for each in 1e9 * np.exp(logs + rng.normal(0, 0.005, count))]
    return read, 0.0 if scene.read_bytes == "saved" else scene.bytes_response * logs


def _instants(at: Floats) -> list[int]:
    return [int(each) for each in at]
