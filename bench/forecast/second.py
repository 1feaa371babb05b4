"""Second generator, with other laws than the first: it only judges, no model and no constant was chosen by it.

Commits arrive in bursts of a renewal process, file sizes are drawn one commit at a time, compaction is triggered by
counts, by a queue or by a job that times out, growth saturates, readers wait for the slower of scan and open, and the
cluster jumps between states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from forecast.fleets import (
    EPOCH_HOUR,
    PATHS,
    READER_METRICS,
    Futures,
    JudgedCase,
    Sight,
    ask,
    observed,
    true_levels,
)
from forecast.laws import COSTS, GIB, STATES, SUMS, Floats, Params

Rng = np.random.Generator
NEVER = 10**9
_KEEP = 24 * 90


class Plant(NamedTuple):
    """One table of the second generator. Rates are per hour; `*_at` are hours of events that happen once.

    compactor  none, count (when files reach `trigger`), cron (every `every` hours, times out the likelier the more
               there is to do), queue (starts `delay` hours after it was due, and the delay grows by `lag` per run)
    expiry     none, age (days), count (snapshots kept)
    """

    source: str
    harmless: bool = False
    hard: bool = False
    metrics: tuple[str, ...] = ("small_files", "reader_seconds_per_gib", "live_snapshots")
    rate: float = 2.0
    clump: float = 1.0
    files: float = 4.0
    tail: float = 2.5
    mean_mb: float = 8.0
    sigma: float = 1.0
    capacity: float = 0.0
    midpoint: float = 0.0
    decay: float = 0.0
    walk: float = 0.0
    month_end: float = 1.0
    night: float = 1.0
    sunday: float = 1.0
    woken_at: int = 0
    changed_at: int = NEVER
    changed_by: float = 1.0
    compactor: str = "cron"
    trigger: float = 500.0
    every: int = 24
    delay: float = 0.0
    lag: float = 0.0
    patience: float = 1e9
    leaves: float = 0.05
    expiry: str = "age"
    keep: float = 5.0
    tag_at: int = NEVER
    merges: bool = True
    updates: float = 0.0
    delete_limit: float = 0.3
    tenants: float = 0.0
    scan_share: float = 0.5
    open_s: float = 0.02
    per_gib: float = 3.0
    overhead_s: float = 10.0
    merge_s: float = 0.0
    job_every: int = 4
    noise: float = 0.1
    load: float = 1.0


def _span(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _any(rng: Rng) -> dict[str, object]:
    return {
        "rate": _span(rng, 0.2, 15),
        "clump": _span(rng, 0.3, 3),
        "files": _span(rng, 1, 12),
        "tail": float(rng.uniform(1.6, 4)),
        "mean_mb": _span(rng, 0.5, 60),
        "night": float(rng.uniform(0.2, 1.0)),
        "sunday": float(rng.choice([1.0, rng.uniform(0.0, 1.0)])),
        "every": int(rng.choice([12, 24, 24, 48, 168])),
        "trigger": _span(rng, 50, 3_000),
        "leaves": float(rng.uniform(0.0, 0.3)),
        "keep": float(rng.choice([2, 3, 5, 7])),
        "merges": bool(rng.random() < 0.6),
        "scan_share": _span(rng, 0.05, 1.0),
        "open_s": _span(rng, 0.002, 0.2),
        "per_gib": _span(rng, 0.5, 10),
        "overhead_s": _span(rng, 1, 60),
        "merge_s": _span(rng, 0.01, 0.5),
        "job_every": int(rng.choice([1, 3, 6, 12, 24])),
        "noise": _span(rng, 0.03, 0.25),
    }


class PlantKind(NamedTuple):
    """A kind of tables: its fixed fields, and those that are drawn."""

    base: Plant
    draw: Callable[[Rng], Mapping[str, object]]


def _kinds() -> dict[str, PlantKind]:
    files = ("small_files", "reader_seconds_per_gib", "reader_seconds", "live_snapshots")
    return {
        "compaction times out": PlantKind(
            Plant("https://github.com/apache/hudi/issues/8567", metrics=files[:3]),
            lambda r: {
                "patience": _span(r, 300, 6_000),
                "walk": 0.01,
                "changed_at": int(r.integers(200, 1500)),
                "changed_by": _span(r, 1.2, 3),
            },
        ),
        "compaction by count": PlantKind(
            Plant("https://github.com/apache/iceberg/issues/2869", harmless=True, compactor="count", metrics=files),
            lambda r: {"trigger": _span(r, 60, 2_000), "tail": 4.0},
        ),
        "compaction in a queue": PlantKind(
            Plant("https://github.com/apache/hudi/issues/9019", compactor="queue", metrics=files),
            lambda r: {"delay": _span(r, 1, 24), "lag": _span(r, 0.2, 8)},
        ),
        "no compaction": PlantKind(
            Plant("https://github.com/apache/iceberg/issues/2404", compactor="none", metrics=(*files, "manifests")),
            lambda _: {"merges": False},
        ),
        "new tenants": PlantKind(
            Plant(
                "https://github.com/apache/hudi/issues/11064",
                metrics=("skew_max_over_median", "reader_seconds_per_gib"),
            ),
            lambda r: {"tenants": _span(r, 0.002, 0.02)},
        ),
        "adoption": PlantKind(
            Plant("https://github.com/risingwavelabs/risingwave/issues/13048", metrics=("reader_seconds", *files[:2])),
            lambda r: {"capacity": _span(r, 3, 20), "midpoint": float(r.integers(24 * 20, 24 * 80))},
        ),
        "changes by key": PlantKind(
            Plant(
                "https://github.com/apache/iceberg-go/issues/1077",
                metrics=("total_delete_files", "delete_ratio", "reader_seconds_per_gib"),
            ),
            lambda r: {
                "updates": _span(r, 0.2, 2),
                "delete_limit": float(r.uniform(0.1, 0.5)),
                "compactor": str(r.choice(["cron", "none"])),
            },
        ),
        "expiry held by a tag": PlantKind(
            Plant("https://github.com/apache/iceberg-python/issues/3162", metrics=("live_snapshots", "metadata_bytes")),
            lambda r: {"tag_at": int(r.integers(100, 1500))},
        ),
        "expiry by count": PlantKind(
            Plant(
                "https://github.com/apache/paimon/pull/4056",
                harmless=True,
                expiry="count",
                metrics=("live_snapshots", "metadata_bytes", "small_files"),
            ),
            lambda r: {"keep": _span(r, 20, 400)},
        ),
        "manifests not merged": PlantKind(
            Plant("https://github.com/trinodb/trino/pull/10105", merges=False, metrics=("manifests", "metadata_bytes")),
            lambda r: {"compactor": "none", "mean_mb": _span(r, 50, 300)},
        ),
        "month end": PlantKind(
            Plant("https://github.com/netdata/netdata/issues/859", harmless=True, metrics=files),
            lambda r: {"month_end": _span(r, 2, 5), "every": 24},
        ),
        "fading out": PlantKind(
            Plant(
                "https://github.com/prometheus/node_exporter/pull/2468",
                harmless=True,
                compactor="none",
                metrics=("small_files", "manifests", "live_snapshots"),
            ),
            lambda r: {"decay": 1 / _span(r, 24 * 2, 24 * 10), "changed_at": NEVER},
        ),
        "woken": PlantKind(
            Plant("https://github.com/netdata/netdata/issues/9802", hard=True, metrics=files),
            lambda r: {
                "changed_at": int(r.integers(24 * 10, 24 * 80)),
                "changed_by": _span(r, 5, 30),
                "rate": _span(r, 0.1, 0.6),
            },
        ),
        "wandering writer": PlantKind(
            Plant("https://github.com/bosun-monitor/bosun/issues/1702", hard=True, metrics=files),
            lambda r: {"walk": _span(r, 0.05, 0.15)},
        ),
        "busy cluster": PlantKind(
            Plant(
                "https://github.com/prometheus/node_exporter/pull/2844",
                harmless=True,
                load=2.0,
                compactor="count",
                metrics=("reader_seconds_per_gib", "reader_seconds"),
            ),
            lambda r: {"trigger": _span(r, 50, 300), "expiry": "count"},
        ),
        "quiet": PlantKind(
            Plant(
                "https://github.com/samber/awesome-prometheus-alerts/issues/467",
                harmless=True,
                compactor="count",
                metrics=("small_files", "live_snapshots", "manifests"),
            ),
            lambda r: {"rate": _span(r, 0.05, 0.4), "trigger": _span(r, 10, 80), "expiry": "count", "keep": 50.0},
        ),
    }


PLANTS = _kinds()


class Cluster:
    """States of the cluster, which it stays in for hours; each has a factor of the readers."""

    def __init__(self, rng: Rng) -> None:
        self.factors = np.concatenate([[0.0], rng.uniform(0.02, 0.5, 3)])
        self.stay = rng.uniform(0.85, 0.99)

    def draw(self, rng: Rng, hours: int, paths: int, state: int = 0) -> tuple[Floats, int]:
        """Logs `[hour, path]`, and the last state of the first path."""
        current = np.full(paths, state)
        found = np.zeros((hours, paths))
        for hour in range(hours):
            jumps = rng.random(paths) > self.stay
            fresh = np.where(rng.random(paths) < 0.7, 0, rng.integers(0, 4, paths))
            current = np.where(jumps, fresh, current)
            found[hour] = self.factors[current]
        return found, int(current[0])


class PlantWorld:
    """One table, many paths; arrays have one value per path."""

    def __init__(self, plant: Plant, start_hour: int, rng: Rng) -> None:
        self.plant = plant
        self.start_hour = start_hour
        self.rng = rng
        self.hour = 0
        first = plant.rate * 24 * plant.files * plant.mean_mb * 2**20 * rng.uniform(5, 120)
        self.s = {name: np.zeros(1) for name in (*STATES, "count", "expired", "log_rate", "wait", "late", "tenants")}
        self.s["total_bytes"] += first
        self.s["total_data_files"] += np.ceil(first / 2.0**28) + 5
        self.s["total_records"] += first / 200
        self.s["partitions_total"] += rng.integers(1, 200)
        self.s["manifests"] += 10
        self.s["wait"] += rng.uniform(0, plant.every)
        self.s["skew_max_over_median"] += rng.uniform(1.2, 6)
        self.counts = [np.zeros(1)]
        self.changed_at = np.full(1, plant.changed_at)
        self.tag_at = np.full(1, plant.tag_at)

    def fork(self, seed: int, paths: int = PATHS) -> PlantWorld:
        """Futures of the table; the first is the outcome. What happens once happens in the others when it may."""
        other = object.__new__(PlantWorld)
        other.plant, other.start_hour, other.hour = self.plant, self.start_hour, self.hour
        other.rng = np.random.default_rng(seed)
        other.s = {name: np.repeat(values, paths) for name, values in self.s.items()}
        other.counts = [np.repeat(values, paths) for values in self.counts]
        for name in ("changed_at", "tag_at"):
            at = np.repeat(getattr(self, name), paths)
            if self.hour < at[0] < NEVER:
                at[1:] = other.rng.integers(self.hour + 1, max(24 * 80, self.hour + 2), paths - 1)
            setattr(other, name, at)
        return other

    def maintain(self) -> None:
        """Rewrite everything once, and keep the snapshots of five days."""
        self._compact(np.ones(self.s["count"].size, bool), 0.0)
        self.s["total_delete_files"] *= 0
        self.s["total_position_deletes"] *= 0
        self.s["manifests"] = np.minimum(self.s["manifests"], 1 + self.s["total_data_files"] / 2_000)
        self.s["expired"] = np.maximum(self.s["expired"], self.counts[max(0, len(self.counts) - 1 - 5 * 24)])
        self._describe()

    def run(self, hours: int, load: Floats) -> Params:
        """Rows `[hour, 1, path]`."""
        paths = self.s["count"].size
        names = (*STATES, *SUMS, "seconds", "read_bytes", *(f"cost_{name}" for name in COSTS))
        rows = {name: np.zeros((hours, 1, paths), np.float32) for name in names}
        for place in range(hours):
            for name, values in self._step().items():
                rows[name][place, 0] = values
            for name in STATES:
                rows[name][place, 0] = self.s[name]
            self._read(rows, place, load[place])
            self.hour += 1
            self.counts.append(self.s["count"].copy())
        return rows

    def _step(self) -> Params:
        p, s, rng = self.plant, self.s, self.rng
        paths = s["count"].size
        commits = self._commits()
        files = np.floor(commits * p.files * (1 + rng.pareto(p.tail, paths)) / (1 + 1 / (p.tail - 1)))
        files = np.maximum(files, commits)
        size = p.mean_mb * 2**20 * np.exp(rng.normal(0, 0.3, paths))
        limit = 0.75 * 128 * 2**20
        small = np.round(files * _normal_share((np.log(limit) - np.log(size)) / p.sigma))
        added = files * size * float(np.exp(p.sigma**2 / 2))
        deletes = rng.poisson(np.minimum(commits * p.updates, 1e5)).astype(float)
        s["total_data_files"] = s["total_data_files"] + files
        s["small_files"] = s["small_files"] + small
        s["total_bytes"] = s["total_bytes"] + added
        s["total_records"] = s["total_records"] + added / 200
        s["total_delete_files"] = s["total_delete_files"] + deletes
        s["total_position_deletes"] = s["total_position_deletes"] + deletes * added / 200 / np.maximum(commits, 1) * 0.3
        s["manifests"] = s["manifests"] + commits
        if p.merges:
            s["manifests"] = np.where(s["manifests"] >= 100, 5 + s["total_data_files"] / 5_000, s["manifests"])
        s["partitions_total"] = s["partitions_total"] + (self.hour % 24 == 0)
        joins = rng.random(paths) < p.tenants
        s["tenants"] = s["tenants"] + joins * rng.lognormal(-1.0, 0.8, paths)
        done = self._due()
        gone = self._compact(done, p.leaves)
        s["count"] = s["count"] + commits + done
        self._expire()
        self._describe()
        return {
            "commits": commits + done,
            "replaces": done * 1.0,
            "added_data_files": files,
            "removed_data_files": gone,
            "added_delete_files": deletes,
            "added_bytes": added,
            "removed_data_files_by_replace": gone,
        }

    def _commits(self) -> Floats:
        p, s, rng = self.plant, self.s, self.rng
        at = self.start_hour + self.hour
        s["log_rate"] = s["log_rate"] + (rng.normal(0, p.walk, s["count"].size) if p.walk else 0.0)
        rate = p.rate * np.exp(np.clip(s["log_rate"], -3, 3))
        if p.capacity:
            rate = rate * (1 + (p.capacity - 1) / (1 + np.exp(-(self.hour - p.midpoint) / 150)))
        if p.decay:
            rate = rate * np.exp(-p.decay * max(0, self.hour - 24 * 8))
        rate = rate * np.where(self.hour >= self.changed_at, p.changed_by, 1.0)
        rate = rate * (p.night if at % 24 < 7 else 1.0) * (p.sunday if (at // 24) % 7 == 3 else 1.0)
        rate = rate * (p.month_end if (at // 24) % 30 >= 28 else 1.0)
        rate = np.minimum(rate, 300)
        return rng.poisson(rate * rng.gamma(1 / p.clump, p.clump, s["count"].size)).astype(float)

    def _due(self) -> np.typing.NDArray[np.bool_]:
        p, s, rng = self.plant, self.s, self.rng
        paths = s["count"].size
        if p.compactor == "none":
            return np.zeros(paths, bool)
        if p.compactor == "count":
            return (s["small_files"] >= p.trigger) & (rng.random(paths) < 0.5)
        s["wait"] = s["wait"] - 1
        due = s["wait"] <= 0
        s["wait"] = np.where(due, p.every + s["late"], s["wait"])
        if p.compactor == "queue":
            s["late"] = np.where(due, s["late"] + p.lag * rng.exponential(1.0, paths), s["late"])
        fails = rng.random(paths) < 1 / (1 + np.exp(-(s["small_files"] - p.patience) / (0.15 * p.patience)))
        return due & ~fails & (s["small_files"] > 3)

    def _compact(self, which: np.typing.NDArray[np.bool_], leaves: float) -> Floats:
        p, s = self.plant, self.s
        taken = np.floor(s["small_files"] * (1 - leaves)) * which
        written = np.ceil(taken * p.mean_mb / 128)
        s["small_files"] = s["small_files"] - taken
        s["total_data_files"] = s["total_data_files"] - taken + np.minimum(written, taken)
        ratio = s["total_position_deletes"] / np.maximum(s["total_records"], 1)
        cleared = which & (ratio > p.delete_limit)
        s["total_delete_files"] = np.where(cleared, 0.0, s["total_delete_files"])
        s["total_position_deletes"] = np.where(cleared, 0.0, s["total_position_deletes"])
        return np.asarray(taken)

    def _expire(self) -> None:
        p, s = self.plant, self.s
        if p.expiry == "none":
            return
        if p.expiry == "count":
            s["expired"] = np.maximum(s["expired"], s["count"] - p.keep)
        elif self.hour % 24 == 3:
            old = self.counts[max(0, len(self.counts) - 1 - int(p.keep * 24))]
            s["expired"] = np.where(self.hour < self.tag_at, np.maximum(s["expired"], old), s["expired"])

    def _describe(self) -> None:
        s = self.s
        s["live_snapshots"] = np.maximum(s["count"] - s["expired"], 1)
        s["metadata_bytes"] = 8_000 + 900 * s["live_snapshots"] + 60 * s["manifests"]
        drift = self.rng.normal(0, 0.004, s["count"].size)
        base = s["skew_max_over_median"] - s.get("shown", 0.0)
        s["shown"] = s["tenants"].copy()
        s["skew_max_over_median"] = np.maximum(1.0, base * np.exp(drift)) + s["shown"]

    def _read(self, rows: Params, place: int, load: Floats) -> None:
        p, s, rng = self.plant, self.s, self.rng
        paths = s["count"].size
        if (self.start_hour + self.hour) % p.job_every:
            rows["seconds"][place] = rows["read_bytes"][place] = np.nan
            due = False
        else:
            due = True
        read = s["total_bytes"] * p.scan_share
        share = p.scan_share
        cost = {
            "total_bytes": p.per_gib * read / GIB,
            "small_files": p.open_s * s["small_files"] * share,
            "total_delete_files": p.merge_s * s["total_delete_files"] * share,
            "manifests": 0.01 * s["manifests"],
            "skew_max_over_median": p.per_gib * read / GIB * 0.05 * (s["skew_max_over_median"] - 1),
        }
        for name, values in cost.items():
            rows[f"cost_{name}"][place, 0] = values
        if due:
            total = p.overhead_s + sum(cost.values())
            shape = 1 / p.noise**2
            rows["seconds"][place, 0] = total * rng.gamma(shape, 1 / shape, paths) * np.exp(p.load * load)
            rows["read_bytes"][place, 0] = read * rng.uniform(0.9, 1.1, paths)


def _normal_share(z: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-1.702 * z)))


def readers_fleet(seed: int, tables: int) -> list[JudgedCase]:
    """Cases that ask about readers alone, to judge drivers: one outcome, and no oracle to speak of."""
    return judged_fleet(seed, tables, paths=2, metrics=READER_METRICS)


def judged_fleet(seed: int, tables: int, paths: int = PATHS, metrics: Sequence[str] = ()) -> list[JudgedCase]:
    """Cases of one fleet with their truth. `metrics`: that are asked about; default: those of the kind."""
    rng = np.random.default_rng(seed)
    names = list(PLANTS)
    days = int(rng.choice([10, 18, 32, 48, 62]))
    horizons = [24, 168, 720] if days >= 45 else [24, 168]
    hours = days * 24 + int(rng.integers(24))
    start = EPOCH_HOUR + 24 * int(rng.integers(0, 300))
    cluster = Cluster(rng)
    before, state = cluster.draw(rng, hours, 1)
    after, _ = cluster.draw(rng, max(horizons), paths, state)
    found = []
    for row, place in enumerate((rng.permutation(tables) % len(names)).tolist()):
        kind = PLANTS[names[place]]
        plant = kind.base._replace(**{**_any(rng), **kind.draw(rng)})
        world = PlantWorld(plant, start, rng)
        past = world.run(hours, before)
        own_seed = seed * 1_000 + row
        future = world.fork(own_seed, paths).run(max(horizons), after)
        cared = world.fork(own_seed, paths)
        cared.maintain()
        kept = cared.run(max(horizons), after)
        skipped = hours - int(rng.integers(30, 24 * 8)) if rng.random() < 0.08 else 0
        case = observed((past, 0), 128.0 * 2**20, Sight(start, hours, skipped, horizons), rng, f"s{seed}-{row}")
        levels, cared_levels = true_levels(past, future, 0, hours), true_levels(past, kept, 0, hours)
        case, truth = ask(case, metrics or plant.metrics, Futures(levels, cared_levels, future, 0), rng)
        found.append(JudgedCase(case, names[place], plant.harmless, plant.hard, truth))
    return found
