"""Rows of the meta tables: the single description from which schemas and docs are generated."""
