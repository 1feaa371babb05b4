"""Iceberg catalogs through PyIceberg: names, pointers, errors."""
