"""Benchmark of `limnograph explain`: which table commit made a job slow, scored against known causes."""
