"""Where a program puts the numbers about itself that `domain/metrics/pipeline.py` describes."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.metrics.pipeline import Metric


class Meter(Protocol):
    """Thread-safe; never raises. `labels`: values in the order of the metric's labels."""

    def put(self, metric: Metric, value: float | None, *labels: str) -> None:
        """Set a gauge; None: no longer known."""
        ...

    def add(self, metric: Metric, amount: float, *labels: str) -> None:
        """Raise a counter."""
        ...


class NullMeter:
    """Discards everything."""

    def put(self, metric: Metric, value: float | None, *labels: str) -> None:
        """Nothing."""

    def add(self, metric: Metric, amount: float, *labels: str) -> None:
        """Nothing."""
