"""Queries to Prometheus, Trino and storage: deadlines, breakers and counts."""
