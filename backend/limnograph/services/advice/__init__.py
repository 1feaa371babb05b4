"""Advice: what is read of a table, and what the rules make of it."""
