"""Receives the metrics of a program that `domain/metrics/pipeline.py` describes."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.metrics.pipeline import Metric


class Meter(Protocol):
    """Thread-safe; never raises. `labels`: values in the order of the metric's labels."""

    def put(self, metric: Metric, value: float | None, *labels: str) -> None:
        """Set a gauge; None: unknown from now on."""
        ...

    def add(self, metric: Metric, amount: float, *labels: str) -> None:
        """Increase a counter."""
        ...


class NullMeter:
    """Discards everything."""

    def put(self, metric: Metric, value: float | None, *labels: str) -> None:
        """Does nothing."""

    def add(self, metric: Metric, amount: float, *labels: str) -> None:
        """Does nothing."""
