"""The third, held-out generator. The author of its laws had not seen how explain decides.

`python -m explain.third --seed 307 --cases 20 --out DIR`. A commit affects the first run that starts after it and the
reader's own delay. Developers of explain use this file's scores, and do not look at its cases.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from explain import third_commits as commits
from explain import third_series as laws
from explain.cases import Labelled, Truth, command
from explain.third_commits import Commit
from explain.third_series import DAY_MINUTES, DAYS, STARTS, Rhythm, Start
from explain.third_world import World

SEED, EACH = 307, 20
"""Seed and cases per scenario of the report."""
SHAPES = ("step", "pulse", "ramp")


def _step(world: World) -> None:
    world.cause(world.pick(), world.ratio())


def _ramp(world: World) -> None:
    """A table degrades run by run after a change of how it is written."""
    world.cause(world.pick(high=0.7), world.ratio(0.3), "ramp", world.some(6, 40))


def _pulse(world: World) -> None:
    world.cause(world.pick(), world.ratio(0.3), "pulse", world.some(6, 25))


def _decay(world: World) -> None:
    """The commit's content is consumed: later runs read less of it."""
    world.cause(world.pick(), world.ratio(0.35), "decay", world.some(10, 40))


def _two(world: World) -> None:
    world.cause(world.pick(0.15, 0.4), world.ratio(0.2))
    world.cause(world.pick(0.55, 0.8), world.ratio(0.2))


def _repairs(world: World) -> None:
    """A repair of the same kind runs four to eight times at any hour; the runs right after it are slow."""
    table, ratio = world.some(0, world.tables), world.ratio(0.3)
    model, count = commits.backfill(world.rng, table, 0.0), world.some(4, 9)
    for low in np.linspace(0.08, 0.88, count):
        minute = float((low + world.rng.uniform(0, 0.04)) * world.span)
        size = np.round(model.size * np.exp(world.rng.normal(0, 0.2, len(model.size))))
        repair = Commit(table, minute, model.operation, size, model.app, model.faults, model.every)
        world.log.append(repair)
        most = max(4, min(11, int(0.06 * len(world.times))))
        world.cause(repair, ratio, "pulse", world.some(3, most))


def _mended(world: World) -> None:
    """Slow until a compaction of the table, which removes most of the slowdown."""
    guilty, ratio = world.pick(high=0.65), world.ratio(0.2)
    first = world.cause(guilty, ratio)
    later = min(first + world.some(15, 70), int(0.92 * len(world.times)))
    mending = commits.compaction(world.rng, guilty.table, float(world.times[later] - world.rng.uniform(0.1, 2)))
    world.log.append(mending)
    world.cause(mending, float(ratio ** -world.rng.uniform(0.75, 1.0)))


def _publish(world: World) -> None:
    """A pipeline publishes all its tables within a minute, every few hours; a single commit is the cause."""
    every, rng = world.rng.uniform(90, 400), world.rng
    guilty_round = int(world.moment() / every)
    tables = range(world.tables, world.tables + world.some(3, 8))
    middle, app = np.exp(rng.uniform(np.log(3), np.log(80), len(tables))), f"app-{rng.integers(1 << 30):08x}"
    guilty = world.some(0, len(tables))
    for number, start in enumerate(np.arange(rng.uniform(1, every), world.span - 1, every)):
        for at, table in enumerate(tables):
            files = np.ceil(middle[at] * np.exp(rng.normal(0, 0.25)))
            size = np.array([files, files * 3e7, files, np.nan, files * 3e5, np.nan, rng.integers(1, 4)])
            minute = float(start + rng.uniform(0, 0.95))
            one = Commit(table, minute, "overwrite", size, app, ("refresh", "small", "sprayed", "schema"), every)
            world.log.append(one)
            if number == guilty_round and at == guilty:
                commits.make_atypical(rng, one)
                world.cause(one, world.ratio())


def _schema(world: World) -> None:
    world.cause(world.pick(kinds=("schema", "spec")), world.ratio(0.2))


def _mostly_null(world: World) -> None:
    """Catalogs that report almost nothing: one or two numbers of each table's commits."""
    for table in range(world.tables):
        known = world.rng.choice([commits.FILES, commits.RECORDS, commits.BYTES], world.some(1, 3), replace=False)
        unknown = np.setdiff1d(np.arange(len(commits.COLUMNS)), known)
        for each in world.log:
            if each.table == table:
                each.size[unknown] = np.nan
    world.cause(world.pick(), world.ratio(0.2))


def _infrastructure(world: World) -> None:
    onset, size, shape = world.moment(), np.log(world.ratio(0.2)), str(world.rng.choice(SHAPES))
    length = float(world.rng.uniform(0.03, 0.2) * world.span)
    world.shared.append(lambda at: laws.shift(at, onset, size, shape, length))


def _load(world: World) -> None:
    onset, size, shape = world.moment(), np.log(world.ratio(0.25)), str(world.rng.choice(SHAPES))
    length = float(world.rng.uniform(0.03, 0.2) * world.span)
    world.load.append(lambda at: laws.shift(at, onset, size, shape, length))


def _confounded(world: World) -> None:
    _step(world)
    (_infrastructure if world.rng.random() < 0.5 else _load)(world)


def _moves(world: World) -> None:
    """The rhythm itself changes: an hour or more later, or weaker, from a midnight onward (winter time)."""
    midnight = np.round(world.moment(0.35, 0.65) / DAY_MINUTES) * DAY_MINUTES
    moved = world.rhythm.late(float(world.rng.choice([60, 120, 180])), scale=float(world.rng.uniform(0.7, 1.2)))
    world.job += np.where(world.times >= midnight, moved.at(world.times) - world.rhythm.at(world.times), 0.0)


def _release(world: World) -> None:
    """A new version of the job itself: no table caused it."""
    first = int(world.rng.uniform(0.2, 0.8) * len(world.times))
    world.job += laws.effect(len(world.times), first, float(np.log(world.ratio())), "step", 1)


def _growth(world: World) -> None:
    """The data that the job reads grows, a little with each run."""
    world.job += np.log1p(world.rng.uniform(0.15, 0.6) * world.times / world.span)


def _maintenance(world: World) -> None:
    """A compaction makes the job faster."""
    mending = commits.compaction(world.rng, world.some(0, world.tables), world.moment())
    world.log.append(mending)
    world.cause(mending, 1 / world.ratio())


def _heavy(world: World) -> None:
    """Stragglers only."""
    world.heavy = True


def _nothing(world: World) -> None:
    """No cause at all."""


@dataclass(frozen=True)
class Scenario:
    """What happens, how the job is scheduled (None: any way), what the truth names, the case's size and rhythm."""

    happens: Callable[[World], None]
    start: Start | None = None
    cause: str = "commit"
    tables: tuple[int, int] = (1, 7)
    season: float = 0.2


SCENARIOS: dict[str, Scenario] = {
    "hourly": Scenario(_step, "hourly"),
    "minutes": Scenario(_step, "minutes"),
    "events": Scenario(_step, "events"),
    "several_a_day": Scenario(_step, "several"),
    "ramp": Scenario(_ramp),
    "pulse": Scenario(_pulse),
    "decay": Scenario(_decay),
    "two_causes": Scenario(_two),
    "repairs": Scenario(_repairs),
    "mended": Scenario(_mended),
    "publish": Scenario(_publish, tables=(1, 4)),
    "many_tables": Scenario(_step, tables=(15, 40)),
    "schema": Scenario(_schema),
    "mostly_null": Scenario(_mostly_null),
    "confounded": Scenario(_confounded),
    "innocent_quiet": Scenario(_nothing, cause="none"),
    "innocent_weekends": Scenario(_nothing, cause="none", season=0.7),
    "innocent_rhythm_moves": Scenario(_moves, cause="none", season=0.5),
    "innocent_infrastructure": Scenario(_infrastructure, cause="infrastructure"),
    "innocent_load": Scenario(_load, cause="load"),
    "innocent_release": Scenario(_release, cause="none"),
    "innocent_growth": Scenario(_growth, cause="none"),
    "innocent_maintenance": Scenario(_maintenance, cause="none"),
    "innocent_heavy_tails": Scenario(_heavy, cause="none"),
}


def case(scenario: str, seed: int, index: int) -> Labelled:
    """One case; deterministic in its arguments."""
    law, key = SCENARIOS[scenario], f"{scenario} {seed} {index}"
    name = hashlib.blake2s(key.encode(), digest_size=6).hexdigest()
    rng = np.random.default_rng((3071, seed, list(SCENARIOS).index(scenario), index))
    start = law.start or STARTS[int(rng.integers(len(STARTS)))]
    days, tables = float(rng.uniform(*DAYS[start])), int(rng.integers(law.tables[0], law.tables[1] + 1))
    rhythm = Rhythm.draw(rng, law.season * rng.uniform(0.3, 1))
    world = World(rng, days, laws.runs(rng, start, days), commits.draw(rng, tables, days), rhythm, tables)
    law.happens(world)
    touched = {id(each) for each, *_ in world.effects}
    others = [each for each in world.log if id(each) not in touched and each.operation != "replace"]
    for at in rng.choice(len(others), min(int(rng.integers(2, 9)), len(others)), replace=False):
        commits.make_atypical(rng, others[int(at)])
    made = world.case(name)  # assigns ids to the commits
    return Labelled(made, Truth(name, scenario, law.cause, world.truth()))


def cases(seed: int, each: int, scenarios: tuple[str, ...] = tuple(SCENARIOS)) -> list[Labelled]:
    """`each` cases of each scenario."""
    return [case(scenario, seed, index) for scenario in scenarios for index in range(each)]


if __name__ == "__main__":
    command(__doc__, cases, tuple(SCENARIOS), seed=SEED, each=EACH)
