"""Schemas as trees of fields, and their differences. Pure."""
