"""Forecasts of levels: when a table will cross a threshold. Entry: `load_model().forecast(cases)`."""

from limnograph.analysis.forecast.forecaster import Forecaster, load_model, read_model
from limnograph.analysis.forecast.learning import FleetPasts
from limnograph.analysis.forecast.load import NO_LOAD, FleetLoad, common_load
from limnograph.analysis.forecast.model import Model, better_than, parse_model
from limnograph.analysis.forecast.results import BytesQuantiles, Forecasted, TargetSignals
from limnograph.analysis.forecast.series import crossed_at, level_of

__all__ = [
    "NO_LOAD",
    "BytesQuantiles",
    "FleetLoad",
    "FleetPasts",
    "Forecasted",
    "Forecaster",
    "Model",
    "TargetSignals",
    "better_than",
    "common_load",
    "crossed_at",
    "level_of",
    "load_model",
    "parse_model",
    "read_model",
]
