"""Spark: the session, the distributed extraction and the compare-and-set appends."""
