"""Sums over manifest entries, and their cache."""
