"""Findings: evaluates what is wrong with each table, records every transition, and lists them."""
