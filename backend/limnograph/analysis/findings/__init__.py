"""Findings: what is wrong with a table, since when, and whether it ended. Pure."""
