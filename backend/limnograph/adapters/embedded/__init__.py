"""Cold reads without a query server: PyIceberg plans, polars reads."""
