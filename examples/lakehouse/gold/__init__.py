"""Aggregates and features, without personal data."""
