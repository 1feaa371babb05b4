"""The effect of an operation on a job's duration, with calibrated bounds. Entry: `measure_effect` (docs/effects.md)."""

from limnograph.analysis.effect.measure import measure_effect

__all__ = ["measure_effect"]
