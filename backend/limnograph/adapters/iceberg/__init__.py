"""Iceberg without Spark: catalogs and storage through PyIceberg, metadata through Limnograph's own lenient reader."""
