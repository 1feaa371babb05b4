"""Counters of tables between two lives of the server."""
