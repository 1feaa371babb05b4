"""Benchmark of `limnograph explain`: which table commit made a job slow, scored against causes that are known."""
