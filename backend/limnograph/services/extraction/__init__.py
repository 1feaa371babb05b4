"""Extraction of one table: new snapshots as facts, and `inspect`."""
