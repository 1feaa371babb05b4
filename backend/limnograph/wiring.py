"""Composition root: the only file that names both services and adapters."""
