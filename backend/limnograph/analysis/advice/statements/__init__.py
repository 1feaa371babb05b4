"""Maintenance statements for Spark, Trino and Python. The interface is `iceberg.py` and `delta.py`."""
