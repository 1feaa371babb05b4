"""Small cases for tests of forecasts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from limnograph.domain.forecasts.cases import FactColumns, ForecastCase, ForecastTarget, ReaderRuns

HOUR_MS = 3_600_000
AS_OF = 500_000 * HOUR_MS


def case(small_files: Sequence[float], targets: Sequence[tuple[str, float]] = (), **changes: Any) -> ForecastCase:
    """A table with one commit per hour until the cut-off, and these small files after each."""
    count = len(small_files)
    at = [AS_OF - (count - place) * HOUR_MS for place in range(count)]
    fields: dict[str, Any] = {
        "id": "a",
        "fleet": "f",
        "table": "lake.s.t",
        "as_of": AS_OF,
        "first_seen": at[0] if at else AS_OF,
        "horizons_hours": [24, 168],
        "target_file_bytes": 2.0**27,
        "facts": FactColumns(
            at=at,
            span_hours=[1] * count,
            commits=[1.0] * count,
            replaces=[0.0] * count,
            added_data_files=[4.0] * count,
            added_bytes=[1e7] * count,
            small_files=list(small_files),
            total_bytes=[1e9 + 1e7 * place for place in range(count)],
            total_data_files=[1e3 + 4.0 * place for place in range(count)],
        ),
        "targets": [ForecastTarget(metric=metric, threshold=limit) for metric, limit in targets],  # type: ignore[arg-type]
        "runs": None,
    }
    return ForecastCase(**{**fields, **changes})


def rising(days: int, per_hour: float = 4.0, start: float = 100.0) -> list[float]:
    """Small files that rise evenly."""
    return [start + per_hour * hour for hour in range(24 * days)]


def sawtooth(days: int, per_hour: float = 4.0, every: int = 24) -> list[float]:
    """Small files that are compacted every `every` hours."""
    return [10 + per_hour * (hour % every) for hour in range(24 * days)]


def runs(days: int, seconds: Sequence[float] | None = None, read: float | None = 2.0**30) -> ReaderRuns:
    """A run every hour."""
    count = 24 * days
    rng = np.random.default_rng(1)
    drawn = list(seconds) if seconds is not None else (100 + rng.normal(0, 2, count)).tolist()
    return ReaderRuns(
        job="j",
        times=[AS_OF - (count - place) * HOUR_MS + 60_000 for place in range(count)],
        duration_seconds=drawn,
        read_bytes=[read] * count,
    )
