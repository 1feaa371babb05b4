"""The partitions page of a table."""
