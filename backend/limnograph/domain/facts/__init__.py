"""Rows of the meta tables: the one description from which schemas and docs are generated."""
