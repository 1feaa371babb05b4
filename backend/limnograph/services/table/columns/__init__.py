"""The page of a table's columns."""
