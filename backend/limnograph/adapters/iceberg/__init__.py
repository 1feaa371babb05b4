"""Iceberg without Spark: catalogs and storage through PyIceberg, metadata by our own lenient reader."""
