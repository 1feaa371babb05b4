"""Adapters that keep everything in memory; they pass the contract suites of the ports."""
