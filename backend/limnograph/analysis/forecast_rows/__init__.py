"""Rows of roll-ups in, rows of `forecasts` out: cases of tables, their answers as facts, and what came of them."""
