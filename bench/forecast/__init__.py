"""Benchmark of forecasts: two generators of fleets, an oracle, baselines, goals."""
