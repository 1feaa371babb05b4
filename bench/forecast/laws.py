"""First generator: the hourly law of a table, many tables and many futures at once.

All tables share one set of mechanisms; a kind is a set of parameters (`kinds.py`). State arrays are `[table, path]`:
the past has one path, the futures of the oracle have many. The first future is the outcome, the others are the oracle.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Params = dict[str, Floats]

GIB = float(2**30)
STATES = (
    "total_data_files",
    "total_delete_files",
    "total_records",
    "total_bytes",
    "total_position_deletes",
    "partitions_total",
    "small_files",
    "manifests",
    "live_snapshots",
    "metadata_bytes",
    "skew_max_over_median",
)
SUMS = (
    "commits",
    "replaces",
    "overwrites",
    "added_data_files",
    "removed_data_files",
    "added_delete_files",
    "added_bytes",
    "removed_data_files_by_replace",
)
COSTS = ("total_bytes", "small_files", "total_delete_files", "manifests", "skew_max_over_median")


EVENTS = {"break_at": 1440, "regime_at": 1440, "stop_at": 1080, "unexpire_at": 1440, "skew_from": 1440}
"""Hour until which an event that happens once may happen: the oracle knows that, not when."""


class SharedLoad:
    """Log of a cluster's load: a daily cycle, a slow wander, and incidents of hours to days."""

    def __init__(self, rng: np.random.Generator, start_hour: int) -> None:
        self._start_hour = start_hour
        self.level = float(rng.uniform(0.3, 2))
        self._wave = self.level * rng.uniform(0.02, 0.12)
        self._phase = int(rng.integers(24))
        self._step = self.level * rng.uniform(0.01, 0.04)

    def draw(self, rng: np.random.Generator, first: int, hours: int, paths: int, wander: float = 0.0) -> Floats:
        """`[hour, path]` from hour `first` on."""
        at = self._start_hour + first + np.arange(hours)
        logs = np.repeat((self._wave * np.sin(2 * np.pi * (at - self._phase) / 24))[:, None], paths, axis=1)
        current = np.full(paths, wander)
        for hour in range(hours):
            current = 0.98 * current + rng.normal(0, self._step, paths)
            logs[hour] += current
        for path in range(paths):
            for _ in range(rng.poisson(hours / 24 / 25)):
                begun, length = rng.integers(hours), int(rng.uniform(4, 72))
                logs[begun : begun + length, path] += self.level * rng.uniform(0.1, 0.5)
        return logs

    def ahead(self, rng: np.random.Generator, past: Floats, hours: int, paths: int) -> Floats:
        """Futures after `past`, which continue its wander."""
        at = self._start_hour + len(past) - 1
        wander = float(past[-1, 0] - self._wave * np.sin(2 * np.pi * (at - self._phase) / 24))
        return self.draw(rng, len(past), hours, paths, wander)


def _event_futures(at: Floats, now: int, last: int, paths: int, rng: np.random.Generator) -> Floats:
    """When an event happens in each future: in the first as it does, in the others as the law allows."""
    found = np.repeat(at, paths, axis=1)
    open_ones = (at > now) & (at <= last)
    drawn = np.floor(rng.uniform(now + 1, max(last, now + 2), found.shape))
    drawn[:, 0] = at[:, 0]
    return np.where(open_ones, drawn, found)


@dataclass
class World:
    """States of tables now. `params` do not change; what changes at random in time is in `state`."""

    params: Params
    start_hour: int
    rng: np.random.Generator
    hour: int = 0
    state: Params = field(default_factory=dict)
    ended: list[Floats] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.state:
            self.state = _first_state(self.params)
            self.ended = [np.zeros_like(self.state["count"])]

    def fork(self, paths: int, seed: int) -> World:
        """The same tables with `paths` futures each."""
        state = {name: np.repeat(values, paths, axis=1) for name, values in self.state.items()}
        ended = [np.repeat(values, paths, axis=1) for values in self.ended]
        rng = np.random.default_rng(seed)
        params = dict(self.params)
        for name, last in EVENTS.items():
            params[name] = _event_futures(self.params[name], self.hour, last, paths, rng)
        return World(params, self.start_hour, rng, self.hour, state, ended)

    def run(self, hours: int, load: Floats) -> Params:
        """Rows of the next hours: `[hour, table, path]` for each state, sum, and `seconds` and `read_bytes` of runs
        (NaN where none started). `load`: `[hour, path]`.
        """
        shape = (hours, *self.state["count"].shape)
        names = (*STATES, *SUMS, "seconds", "read_bytes", *(f"cost_{name}" for name in COSTS))
        rows = {name: np.zeros(shape, np.float32) for name in names}
        for place in range(hours):
            sums = self._step()
            for name, values in sums.items():
                rows[name][place] = values
            for name in STATES:
                rows[name][place] = self.state[name]
            self._read(rows, place, load[place])
            self.hour += 1
            if self.hour % 24 == 0:
                self.ended.append(self.state["count"].copy())
        return rows

    def maintain(self) -> None:
        """What `p_cross_if_maintained` supposes: everything rewritten once, snapshots expired to 5 days."""
        whole = np.ones_like(self.state["count"], bool)
        _compact(self.params, self.state, whole, 1.0, 1.0)
        self.state["manifests"] = np.minimum(self.state["manifests"], 1 + self.state["total_data_files"] / 2_000)
        self._expire(whole, np.full_like(self.state["count"][:, :1], 5.0))
        _describe(self.params, self.state)

    def _step(self) -> Params:
        p, s, rng = self.params, self.state, self.rng
        shape = s["count"].shape
        at = self.start_hour + self.hour
        rate = self._rate(at)
        commits = np.where(p["batch_every"] > 0, self._batch(at, rate), rng.poisson(np.minimum(rate, 400.0)))
        active = commits > 0
        busy = np.where(p["batch_every"] > 0, rate, 1.0)
        size = np.exp(rng.normal(0, p["size_noise"], shape)) * active * busy
        files = rng.poisson(np.minimum(commits * p["files_per_commit"] * size, 1e6)).astype(float)
        files = np.maximum(files, np.where(active, 1.0, 0.0) * commits)
        added_bytes = commits * p["bytes_per_commit"] * size
        small = files * np.clip(p["small_share"] + rng.normal(0, 0.02, shape), 0, 1)
        deletes = rng.poisson(np.minimum(commits * p["deletes_per_commit"] * size, 1e6)).astype(float)
        overwrite = active & (p["overwrites"] > 0)
        for name in ("total_data_files", "small_files", "total_bytes", "total_records"):
            s[name] = np.where(overwrite, 0.0, s[name])
        removed = np.where(overwrite, s["total_data_files"], 0.0)
        s["total_data_files"] = s["total_data_files"] + files
        s["small_files"] = s["small_files"] + small
        s["total_bytes"] = s["total_bytes"] + added_bytes
        s["total_records"] = s["total_records"] + added_bytes / p["record_bytes"]
        s["total_delete_files"] = s["total_delete_files"] + deletes
        s["total_position_deletes"] = s["total_position_deletes"] + deletes * p["rows_per_delete"] * size
        s["manifests"] = np.where(overwrite, 1.0, s["manifests"]) + commits * p["manifests_per_commit"]
        merged = (s["manifests"] > p["merge_above"]) & active
        s["manifests"] = np.where(merged, np.maximum(1, s["manifests"] * p["merge_to"]), s["manifests"])
        s["count"] = s["count"] + commits
        replaced, gone = self._maintenance(at)
        s["count"] = s["count"] + replaced
        self._other(at)
        _describe(p, s)
        return {
            "commits": commits + replaced,
            "replaces": replaced,
            "overwrites": overwrite * commits,
            "added_data_files": files,
            "removed_data_files": removed + gone,
            "added_delete_files": deletes,
            "added_bytes": added_bytes,
            "removed_data_files_by_replace": gone,
        }

    def _rate(self, at: int) -> Floats:
        p, s, rng = self.params, self.state, self.rng
        shape = s["count"].shape
        day = 1 + p["daily"] * np.cos(2 * np.pi * (at - p["peak_hour"]) / 24)
        week = np.where((at // 24) % 7 >= 5, p["weekend"], 1.0)
        s["mood"] = s["mood"] * p["mood_carry"] + rng.normal(0, p["mood_noise"], shape)
        starts = rng.random(shape) < p["burst_hazard"]
        s["burst_left"] = np.where(starts, rng.exponential(p["burst_hours"], shape), s["burst_left"] - 1)
        s["burst_size"] = np.where(starts, p["burst_size"] * rng.lognormal(0, 0.7, shape), s["burst_size"])
        burst = np.where(s["burst_left"] > 0, s["burst_size"], 1.0)
        changes = rng.random(shape) < p["regime_hazard"]
        change = np.exp(rng.normal(p["regime_drift"], p["regime_size"], shape))
        s["regime"] = np.where(changes, s["regime"] * change, s["regime"])
        s["regime"] = np.where(self.hour == p["regime_at"], s["regime"] * p["regime_factor"], s["regime"])
        s["stopped"] = np.where(rng.random(shape) < p["stop_hazard"], 1.0, s["stopped"])
        s["stopped"] = np.where(self.hour >= p["stop_at"], 1.0, s["stopped"])
        growth = np.exp(p["growth"] * self.hour / 24)
        rate = p["rate"] * day * week * growth * np.exp(s["mood"]) * burst * s["regime"] * (1 - s["stopped"])
        return np.asarray(rate)

    def _batch(self, at: int, rate: Floats) -> Floats:
        p = self.params
        every = np.maximum(p["batch_every"], 1)
        due = ((at - p["batch_phase"]) % every == 0) & (rate > 0.05)
        missed = self.rng.random(rate.shape) < p["batch_missed"]
        return np.where(due & ~missed, p["batch_commits"], 0.0) * np.ones(rate.shape)

    def _maintenance(self, at: int) -> tuple[Floats, Floats]:
        p, s, rng = self.params, self.state, self.rng
        shape = s["count"].shape
        s["broken"] = np.where(rng.random(shape) < p["break_hazard"], 1.0, s["broken"])
        s["broken"] = np.where(rng.random(shape) < p["repair_hazard"], 0.0, s["broken"])
        s["broken"] = np.where(self.hour == p["break_at"], 1.0, s["broken"])
        every = np.maximum(p["compact_every"], 1)
        s["wait"] = s["wait"] - 1
        due = (p["compact_every"] > 0) & (s["wait"] <= 0)
        due |= (p["compact_above"] > 0) & (s["small_files"] > p["compact_above"]) & (rng.random(shape) < 0.3)
        s["wait"] = np.where(due, every * np.exp(rng.normal(0, p["compact_jitter"], shape)), s["wait"])
        done = due & (s["broken"] < 0.5) & (rng.random(shape) >= p["compact_fails"]) & (s["small_files"] > 2)
        gone = _compact(p, s, done, p["compact_share"], p["compact_deletes"])
        s["manifests"] = np.where(done & (p["compact_manifests"] > 0), s["manifests"] * 0.2 + 1, s["manifests"])
        expire = (p["expire_every"] > 0) & ((at - p["expire_phase"]) % np.maximum(p["expire_every"], 1) == 0)
        s["unexpired"] = np.where(rng.random(shape) < p["unexpire_hazard"], 1.0, s["unexpired"])
        s["unexpired"] = np.where(self.hour == p["unexpire_at"], 1.0, s["unexpired"])
        self._expire(expire & (s["unexpired"] < 0.5), p["keep_days"])
        return done * 1.0, gone

    def _expire(self, which: npt.NDArray[np.bool_], keep_days: Floats) -> None:
        days = np.maximum(len(self.ended) - 1 - keep_days[:, 0].astype(int), 0)
        reached = np.stack([self.ended[day][row] for row, day in enumerate(days.tolist())])
        expired = np.maximum(self.state["expired"], reached)
        self.state["expired"] = np.where(which, expired, self.state["expired"])

    def _other(self, at: int) -> None:
        p, s, rng = self.params, self.state, self.rng
        new = (at % 24 == 0) & (p["partitions_per_day"] > 0) & (s["stopped"] < 0.5)
        s["partitions_total"] = s["partitions_total"] + np.where(new, p["partitions_per_day"], 0.0)
        s["skew_log"] = 0.995 * s["skew_log"] + rng.normal(0, p["skew_noise"], s["count"].shape)
        s["skew_ramp"] = s["skew_ramp"] + p["skew_growth"] / 24 * (self.hour >= p["skew_from"]) * (1 - s["stopped"])

    def _read(self, rows: Params, place: int, load: Floats) -> None:
        p, s, rng = self.params, self.state, self.rng
        at = self.start_hour + self.hour
        due = (p["reader_every"] > 0) & ((at - p["reader_phase"]) % np.maximum(p["reader_every"], 1) == 0)
        read = np.maximum(s["total_bytes"] * p["read_share"], 1e6) * rng.lognormal(0, p["read_noise"], s["count"].shape)
        read = np.where(p["read_cap"] > 0, np.minimum(read, p["read_cap"]), read)
        share = read / np.maximum(s["total_bytes"], 1e6)
        gib = read / GIB
        cost = {
            "total_bytes": p["cost_bytes"] * gib,
            "small_files": p["cost_small"] * s["small_files"] * np.sqrt(share),
            "total_delete_files": p["cost_deletes"] * s["total_delete_files"] * np.sqrt(share),
            "manifests": p["cost_manifests"] * s["manifests"],
        }
        base = sum(cost.values()) + p["cost_fixed"]
        skewed = base * p["cost_skew"] * np.log(np.maximum(s["skew_max_over_median"], 1.0))
        noise = np.exp(rng.normal(0, p["reader_noise"], base.shape) + p["load_response"] * load)
        noise *= np.where(rng.random(base.shape) < p["reader_spikes"], rng.lognormal(0.5, 0.4, base.shape), 1.0)
        rows["seconds"][place] = np.where(due, (base + skewed) * noise, np.nan)
        rows["read_bytes"][place] = np.where(due, read, np.nan)
        for name, values in {**cost, "skew_max_over_median": skewed}.items():
            rows[f"cost_{name}"][place] = values


def _compact(
    p: Params, s: Params, which: npt.NDArray[np.bool_], share: Floats | float, deletes: Floats | float
) -> Floats:
    taken = s["small_files"] * share * which
    outputs = np.where(which, np.ceil(taken * p["small_bytes"] / p["target_file_bytes"]), 0.0)
    outputs = np.minimum(outputs, taken)
    s["small_files"] = s["small_files"] - taken
    s["total_data_files"] = np.maximum(s["total_data_files"] - taken + outputs, 0)
    s["total_delete_files"] = np.round(s["total_delete_files"] * (1 - deletes * which))
    s["total_position_deletes"] = s["total_position_deletes"] * (1 - deletes * which)
    return np.asarray(taken)


def _describe(p: Params, s: Params) -> None:
    s["small_files"] = np.minimum(np.round(s["small_files"]), s["total_data_files"])
    s["live_snapshots"] = np.maximum(s["count"] - s["expired"], 1)
    s["metadata_bytes"] = (
        p["schema_bytes"] + p["snapshot_bytes"] * s["live_snapshots"] + 40 * s["manifests"] + 20 * s["partitions_total"]
    )
    s["skew_max_over_median"] = 1 + p["skew"] * np.exp(np.clip(s["skew_log"] + s["skew_ramp"], -4, 5))


def _first_state(p: Params) -> Params:
    shape = p["rate"].shape
    zeros = {
        name: np.zeros(shape)
        for name in (
            *STATES,
            *(
                "count",
                "expired",
                "mood",
                "burst_left",
                "broken",
                "unexpired",
                "stopped",
                "skew_log",
                "skew_ramp",
                "wait",
            ),
        )
    }
    first = {"burst_size": np.ones(shape), "regime": np.ones(shape)}
    for name in ("total_data_files", "total_bytes", "partitions_total", "manifests", "small_files"):
        first[name] = p[f"first_{name}"].copy()
    first["total_records"] = first["total_bytes"] / p["record_bytes"]
    first["wait"] = p["compact_every"] * p["first_wait"]
    return {**zeros, **first}
