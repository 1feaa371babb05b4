"""Scans and queries that engines reported: the newest in memory, older ones from the meta tables."""
