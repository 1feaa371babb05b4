"""Forecasts: which tables will cross a threshold, when, why, and whether maintenance would prevent it."""
