"""Snapshots rolled up by hour and day."""
