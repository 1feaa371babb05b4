"""Benchmark of effect bounds: laws with a known truth, scores, report (`make bench-effects`)."""
