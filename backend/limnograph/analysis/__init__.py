"""Calculations over columns: numpy and polars only, no I/O, no clock."""
