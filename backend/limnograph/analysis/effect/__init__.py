"""What an operation did to the duration of a job, with bounds that cover. Entry: `measure_effect` (docs/effects.md)."""

from limnograph.analysis.effect.measure import measure_effect

__all__ = ["measure_effect"]
