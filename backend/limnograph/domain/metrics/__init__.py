"""Metrics as values: names Limnograph exposes, PromQL, series."""
