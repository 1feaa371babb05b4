"""The page of a table's reads."""
