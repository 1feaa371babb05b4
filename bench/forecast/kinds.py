"""Kinds of tables of the first generator: parameters of `laws.py`, drawn widely, and the source that justifies each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

Rng = np.random.Generator
NEVER = 1e9


class TableKind(NamedTuple):
    """`harmless`: warnings on it are false; `hard`: nothing in the past foretells its crossings."""

    source: str
    draw: Callable[[Rng], Mapping[str, float]]
    metrics: tuple[str, ...]
    harmless: bool = False
    hard: bool = False


def log_uniform(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def usual(rng: Rng) -> dict[str, float]:
    """Parameters of any table, before its kind overrides some."""
    rate = log_uniform(rng, 0.3, 40)
    target = float(rng.choice([128, 256, 512])) * 2**20
    files = log_uniform(rng, 1, 8)
    small_bytes = target * log_uniform(rng, 0.002, 0.3)
    bytes_per_commit = files * small_bytes
    first_bytes = bytes_per_commit * rate * 24 * log_uniform(rng, 10, 400)
    return {
        "rate": rate,
        "daily": float(rng.uniform(0, 0.9)),
        "peak_hour": float(rng.integers(24)),
        "weekend": float(rng.choice([1.0, rng.uniform(0.1, 1.0)])),
        "mood_carry": float(rng.uniform(0.8, 0.99)),
        "mood_noise": log_uniform(rng, 0.01, 0.12),
        "burst_hazard": 0.0,
        "burst_hours": 3.0,
        "burst_size": 1.0,
        "regime_hazard": float(rng.choice([0.0, 1 / (24 * 60)])),
        "regime_size": 0.5,
        "regime_drift": 0.0,
        "regime_at": NEVER,
        "regime_factor": 1.0,
        "stop_hazard": 1 / (24 * 900),
        "stop_at": NEVER,
        "growth": float(rng.choice([0.0, rng.normal(0, 0.004)])),
        "batch_every": 0.0,
        "batch_phase": float(rng.integers(24)),
        "batch_commits": 1.0,
        "batch_missed": 0.01,
        "files_per_commit": files,
        "size_noise": log_uniform(rng, 0.05, 0.5),
        "small_share": float(rng.uniform(0.6, 1.0)),
        "small_bytes": small_bytes,
        "bytes_per_commit": bytes_per_commit,
        "record_bytes": log_uniform(rng, 40, 1000),
        "target_file_bytes": target,
        "deletes_per_commit": 0.0,
        "rows_per_delete": log_uniform(rng, 10, 3000),
        "overwrites": 0.0,
        "manifests_per_commit": 1.0,
        "merge_above": float(rng.choice([100, NEVER, 100])) * log_uniform(rng, 1, 3),
        "merge_to": float(rng.uniform(0.02, 0.3)),
        "compact_every": float(rng.choice([12, 24, 24, 24, 48, 72, 168])),
        "compact_jitter": float(rng.choice([0.01, 0.1, 0.3])),
        "compact_fails": float(rng.uniform(0, 0.12)),
        "compact_share": float(rng.uniform(0.7, 1.0)),
        "compact_deletes": float(rng.uniform(0.5, 1.0)),
        "compact_manifests": float(rng.random() < 0.4),
        "compact_above": 0.0,
        "break_hazard": 1 / (24 * 150),
        "break_at": NEVER,
        "repair_hazard": 1 / (24 * log_uniform(rng, 3, 30)),
        "first_wait": float(rng.random()),
        "expire_every": float(rng.choice([24, 24, 6, 168])),
        "expire_phase": float(rng.integers(24)),
        "keep_days": float(rng.choice([1, 3, 5, 5, 7, 10])),
        "unexpire_hazard": 1 / (24 * 400),
        "unexpire_at": NEVER,
        "partitions_per_day": float(rng.choice([0, 1, 1, 24])),
        "schema_bytes": log_uniform(rng, 2_000, 60_000),
        "snapshot_bytes": float(rng.uniform(500, 1200)),
        "skew": log_uniform(rng, 0.2, 6),
        "skew_noise": log_uniform(rng, 0.002, 0.03),
        "skew_growth": 0.0,
        "skew_from": 0.0,
        "first_total_bytes": first_bytes,
        "first_total_data_files": first_bytes / target + 10,
        "first_small_files": float(rng.uniform(0, 1)) * rate * 24 * files * 0.5,
        "first_partitions_total": float(rng.integers(1, 400)),
        "first_manifests": float(rng.integers(2, 80)),
        **_reader(rng, rate * files),
    }


def _reader(rng: Rng, files_per_hour: float) -> dict[str, float]:
    """Costs in seconds; a day's small files cost a noticeable part of the scan of the bytes."""
    per_gib = log_uniform(rng, 0.3, 8)
    return {
        "reader_every": float(rng.choice([1, 1, 2, 4, 6, 12, 24])),
        "reader_phase": float(rng.integers(24)),
        "reader_noise": log_uniform(rng, 0.02, 0.2),
        "reader_spikes": float(rng.uniform(0, 0.05)),
        "load_response": float(rng.uniform(0.5, 1.2)),
        "read_share": log_uniform(rng, 0.02, 1.0),
        "read_noise": log_uniform(rng, 0.01, 0.2),
        "read_cap": 0.0,
        "cost_bytes": per_gib,
        "cost_fixed": log_uniform(rng, 2, 60),
        "cost_small": log_uniform(rng, 0.05, 3) * 20 / (files_per_hour * 24 + 20),
        "cost_deletes": log_uniform(rng, 0.05, 3) * 20 / (files_per_hour * 24 + 20),
        "cost_manifests": log_uniform(rng, 0.002, 0.08),
        "cost_skew": float(rng.choice([0.0, rng.uniform(0.05, 0.4)])),
    }


def _never_compacted(rng: Rng) -> dict[str, float]:
    return {"compact_every": 0.0, "rate": log_uniform(rng, 1, 60), "merge_above": NEVER}


def _sawtooth(rng: Rng) -> dict[str, float]:
    return {"compact_fails": float(rng.uniform(0, 0.03)), "break_hazard": 0.0, "unexpire_hazard": 0.0, "growth": 0.0}


def _breaks(rng: Rng) -> dict[str, float]:
    return {"break_at": float(rng.integers(24 * 8, 24 * 60)), "repair_hazard": 1 / (24 * log_uniform(rng, 8, 120))}


def _merge_on_read(rng: Rng) -> dict[str, float]:
    return {
        "deletes_per_commit": log_uniform(rng, 0.3, 4),
        "compact_every": float(rng.choice([0, 24, 72, 168])),
        "break_hazard": 1 / (24 * 40),
        "cost_deletes": log_uniform(rng, 0.01, 0.3),
    }


def _unexpired(rng: Rng) -> dict[str, float]:
    return {"unexpire_at": float(rng.integers(0, 24 * 60)), "rate": log_uniform(rng, 1, 60)}


def _manifests(rng: Rng) -> dict[str, float]:
    return {
        "merge_above": NEVER,
        "compact_manifests": 0.0,
        "manifests_per_commit": float(rng.choice([1, 2])),
        "cost_manifests": log_uniform(rng, 0.02, 0.3),
    }


def _refreshed(rng: Rng) -> dict[str, float]:
    return {
        "overwrites": 1.0,
        "batch_every": float(rng.choice([6, 12, 24])),
        "rate": 1.0,
        "daily": 0.0,
        "weekend": 1.0,
        "mood_noise": log_uniform(rng, 0.005, 0.04),
        "bytes_per_commit": log_uniform(rng, 1e8, 1e11),
        "files_per_commit": log_uniform(rng, 5, 800),
        "compact_every": 0.0,
        "unexpire_hazard": 0.0,
        "regime_hazard": 0.0,
        "growth": 0.0,
    }


def _backfills(rng: Rng) -> dict[str, float]:
    return {
        "burst_hazard": 1 / (24 * log_uniform(rng, 5, 30)),
        "burst_hours": log_uniform(rng, 2, 24),
        "burst_size": log_uniform(rng, 4, 20),
    }


def _harmless_bursts(rng: Rng) -> dict[str, float]:
    return {
        "burst_hazard": 1 / (24 * log_uniform(rng, 2, 8)),
        "burst_hours": log_uniform(rng, 1, 5),
        "burst_size": log_uniform(rng, 2, 5),
        "compact_above": 0.0,
        "compact_every": float(rng.choice([6, 12, 24])),
        "compact_fails": 0.01,
        "break_hazard": 0.0,
        "unexpire_hazard": 0.0,
    }


def _grows(rng: Rng) -> dict[str, float]:
    rate = log_uniform(rng, 1, 10)
    per_commit = log_uniform(rng, 1e8, 4e9)
    return {
        "rate": rate,
        "bytes_per_commit": per_commit,
        "small_share": float(rng.uniform(0.0, 0.3)),
        "first_total_bytes": per_commit * rate * 24 * log_uniform(rng, 5, 60),
        "read_share": float(rng.uniform(0.5, 1.0)),
        "growth": float(rng.uniform(0.0, 0.02)),
        "cost_small": 0.0,
        "cost_manifests": 0.001,
        "break_hazard": 0.0,
        "unexpire_hazard": 0.0,
    }


def _hot(rng: Rng) -> dict[str, float]:
    return {
        "skew_growth": log_uniform(rng, 0.02, 0.25),
        "skew_from": float(rng.integers(0, 24 * 60)),
        "skew": log_uniform(rng, 0.5, 4),
        "cost_skew": float(rng.uniform(0.2, 0.8)),
    }


def _retired(rng: Rng) -> dict[str, float]:
    return {**_never_compacted(rng), "stop_at": float(rng.integers(24 * 10, 24 * 45)), "regime_hazard": 0.0}


def _flat(rng: Rng) -> dict[str, float]:
    return {
        "rate": log_uniform(rng, 0.1, 2),
        "compact_every": 0.0,
        "compact_above": log_uniform(rng, 30, 300),
        "mood_noise": 0.1,
        "growth": 0.0,
        "break_hazard": 0.0,
        "unexpire_hazard": 0.0,
        "regime_hazard": 0.0,
        "stop_hazard": 0.0,
    }


def _regime(rng: Rng) -> dict[str, float]:
    return {
        "regime_at": float(rng.integers(24 * 12, 24 * 60)),
        "regime_factor": log_uniform(rng, 2, 12),
        "compact_every": float(rng.choice([24, 72, 168])),
    }


def _erratic(rng: Rng) -> dict[str, float]:
    return {
        "regime_hazard": 1 / (24 * log_uniform(rng, 1, 6)),
        "regime_size": float(rng.uniform(0.6, 1.4)),
        "regime_drift": -0.1,
        "mood_noise": 0.3,
        "compact_every": float(rng.choice([0, 24, 168])),
        "compact_jitter": 0.8,
        "compact_fails": 0.4,
    }


def _slow_fill(rng: Rng) -> dict[str, float]:
    return {"rate": log_uniform(rng, 0.05, 0.6), "compact_every": 0.0, "daily": 0.3, "mood_noise": 0.02}


def _workdays(rng: Rng) -> dict[str, float]:
    return {
        "weekend": float(rng.uniform(0.0, 0.15)),
        "daily": 0.9,
        "compact_every": float(rng.choice([24, 168])),
        "compact_fails": 0.03,
    }


def _falls_behind(rng: Rng) -> dict[str, float]:
    return {
        "compact_share": float(rng.uniform(0.1, 0.6)),
        "compact_deletes": float(rng.uniform(0.1, 0.5)),
        "growth": float(rng.uniform(0.0, 0.03)),
    }


def _daily_batch(rng: Rng) -> dict[str, float]:
    return {
        "batch_every": float(rng.choice([4, 12, 24, 24])),
        "rate": 1.0,
        "daily": 0.0,
        "mood_noise": log_uniform(rng, 0.02, 0.1),
        "batch_commits": float(rng.choice([1, 1, 4])),
        "files_per_commit": log_uniform(rng, 2, 120),
        "compact_every": float(rng.choice([0, 72, 168])),
    }


def _loaded(rng: Rng) -> dict[str, float]:
    return {**_sawtooth(rng), "load_response": float(rng.uniform(1.2, 2.0)), "cost_small": 0.0, "regime_hazard": 0.0}


_FILES = ("small_files", "reader_seconds_per_gib", "reader_seconds", "manifests")
KINDS: dict[str, TableKind] = {
    "never compacted": TableKind("https://github.com/apache/iceberg/issues/2404", _never_compacted, _FILES),
    "compacted by schedule": TableKind(
        "https://github.com/alphagov/prometheus-aws-configuration-beta/pull/153",
        _sawtooth,
        ("small_files", "reader_seconds_per_gib", "live_snapshots"),
        harmless=True,
    ),
    "compaction breaks": TableKind(
        "https://github.com/apache/iceberg/issues/4996",
        _breaks,
        ("small_files", "reader_seconds_per_gib", "reader_seconds"),
    ),
    "merge on read": TableKind(
        "https://github.com/apache/iceberg-go/issues/1077",
        _merge_on_read,
        ("total_delete_files", "delete_ratio", "reader_seconds_per_gib"),
    ),
    "snapshots not expired": TableKind(
        "https://github.com/apache/iceberg-python/issues/3162", _unexpired, ("live_snapshots", "metadata_bytes")
    ),
    "manifests pile up": TableKind(
        "https://github.com/apache/iceberg/pull/200",
        _manifests,
        ("manifests", "metadata_bytes", "reader_seconds_per_gib"),
    ),
    "full refresh": TableKind(
        "https://github.com/netdata/netdata/issues/859",
        _refreshed,
        ("small_files", "live_snapshots", "reader_seconds"),
        harmless=True,
    ),
    "backfills": TableKind(
        "https://github.com/apache/hudi/issues/6056",
        _backfills,
        ("small_files", "live_snapshots", "reader_seconds"),
        hard=True,
    ),
    "harmless bursts": TableKind(
        "https://github.com/netdata/netdata/issues/9802",
        _harmless_bursts,
        ("small_files", "live_snapshots", "reader_seconds_per_gib"),
        harmless=True,
    ),
    "data grows": TableKind(
        "https://github.com/risingwavelabs/risingwave/issues/13048",
        _grows,
        ("reader_seconds", "reader_seconds_per_gib", "small_files"),
    ),
    "hot partition": TableKind(
        "https://github.com/apache/hudi/issues/11064", _hot, ("skew_max_over_median", "reader_seconds_per_gib")
    ),
    "retired": TableKind(
        "https://github.com/prometheus/node_exporter/pull/2468",
        _retired,
        ("small_files", "manifests", "reader_seconds_per_gib"),
        harmless=True,
    ),
    "flat noise": TableKind(
        "https://github.com/samber/awesome-prometheus-alerts/issues/467",
        _flat,
        ("small_files", "live_snapshots", "skew_max_over_median"),
        harmless=True,
    ),
    "writer redeployed": TableKind(
        "https://github.com/apache/iceberg/issues/7568",
        _regime,
        ("small_files", "live_snapshots", "manifests", "reader_seconds_per_gib"),
    ),
    "erratic writer": TableKind(
        "https://github.com/bosun-monitor/bosun/issues/1702",
        _erratic,
        ("small_files", "live_snapshots", "reader_seconds"),
        hard=True,
    ),
    "slow fill": TableKind(
        "https://github.com/mayflower/nixexprs/pull/68", _slow_fill, ("small_files", "manifests", "metadata_bytes")
    ),
    "office hours": TableKind(
        "https://github.com/prometheus/node_exporter/pull/2844",
        _workdays,
        ("small_files", "live_snapshots", "reader_seconds_per_gib"),
    ),
    "compaction falls behind": TableKind(
        "https://github.com/apache/iceberg/pull/2867",
        _falls_behind,
        ("small_files", "total_delete_files", "reader_seconds_per_gib"),
    ),
    "batch": TableKind(
        "https://github.com/apache/hudi/issues/8567", _daily_batch, ("small_files", "manifests", "reader_seconds")
    ),
    "loaded cluster": TableKind(
        "https://github.com/operate-first/sre/pull/10",
        _loaded,
        ("reader_seconds_per_gib", "reader_seconds"),
        harmless=True,
    ),
}


def draw_params(rng: Rng, kinds: list[str]) -> dict[str, Any]:
    """Parameters `[table, 1]` of tables of these kinds."""
    drawn = []
    for kind in kinds:
        base = usual(rng)
        drawn.append({**base, **KINDS[kind].draw(rng)})
    return {name: np.array([[each[name]] for each in drawn], np.float64) for name in drawn[0]}
