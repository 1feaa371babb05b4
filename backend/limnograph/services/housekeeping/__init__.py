"""Housekeeping of the meta tables: schedule, steps, retention, journal."""
